import type { FinalAnswer } from 'postchain';

export function AnswerView({ answer }: { readonly answer: FinalAnswer }) {
  const { answerText, confidence, sources, status, metadata } = answer;
  return (
    <section aria-labelledby="answer-title" className="answer">
      <h2 id="answer-title">Answer</h2>
      <p className="text">{answerText}</p>
      <p>
        <label>
          Confidence <meter min={0} max={1} value={confidence} />
        </label>{' '}
        {Math.round(confidence * 100)} %, {status}
      </p>
      {metadata.degraded && <p className="hint">{metadata.explanation}</p>}
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
