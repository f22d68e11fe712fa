import type { RunView } from 'postchain/react';

export function AnswerView({ answer }: { readonly answer: NonNullable<RunView['answer']> }) {
  const { answerText, confidence, reasons, sources, status } = answer;
  return (
    <section aria-labelledby="answer-title" className="answer">
      <h2 id="answer-title">Answer</h2>
      {reasons.map(({ code, message }) => (
        <p key={code + message} className="hint">
          {message}
        </p>
      ))}
      <p className="text">{answerText}</p>
      <p>
        {confidence !== undefined && (
          <label>
            Confidence <meter min={0} max={1} value={confidence} /> {Math.round(confidence * 100)} %,{' '}
          </label>
        )}
        {status}
      </p>
      {sources.length > 0 && <h3>Sources</h3>}
      <ol className="list">
        {sources.map(({ messageId, path, startLine, endLine, quote }) => (
          <li key={messageId}>
            <cite>
              {path}
              {startLine !== undefined && `:${startLine === endLine ? startLine : `${startLine}-${endLine}`}`}
            </cite>
            <blockquote>{quote}</blockquote>
          </li>
        ))}
      </ol>
    </section>
  );
}
