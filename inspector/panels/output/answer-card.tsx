import type { ComponentChildren } from 'preact';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { counted, grouped, rounded } from '../../fold/number-words.ts';
import { shortly, visible } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';

const MOST_SOURCES = 12;

/** The final answer: its text, how sure it is, what is missing, what it rests on and what it cost. */
export function AnswerCard({ answer }: { readonly answer: FinalAnswer }) {
  const { answerText, confidence, status, sources, notes, metadata } = answer;
  const { reason, explanation, missingFields, synthesis, usage, cost, cycles } = metadata;
  const tokens = usage.inputTokens + usage.outputTokens;
  return (
    <section class="card answer" aria-label="Answer">
      <header>
        <h2>Answer</h2>
        <span class={`pill ${status}`}>{status}</span>
        <span class="confidence">
          confidence <meter min={0} max={1} value={confidence} aria-label="Confidence" /> {rounded(confidence)}
        </span>
      </header>
      <p class="text">
        <LongText text={answerText} chars={4_000} />
      </p>
      <dl class="facts">
        {reason !== null && <Fact label="Because">{reason.replaceAll('_', ' ')}</Fact>}
        {explanation !== '' && (
          <Fact label="In words">
            <LongText text={explanation} />
          </Fact>
        )}
        {missingFields.length > 0 && <Fact label="Missing">{shortly(missingFields.join(', '), 200)}</Fact>}
        {notes !== '' && notes !== explanation && (
          <Fact label="Notes">
            <LongText text={notes} />
          </Fact>
        )}
        {sources.length > 0 && (
          <Fact label="Sources">
            <ul>
              {sources.slice(0, MOST_SOURCES).map(({ path, startLine, endLine, messageId }) => (
                <li key={messageId} class="told mono">
                  {visible(path)}:{startLine === endLine ? startLine : `${startLine}-${endLine}`}
                </li>
              ))}
              {sources.length > MOST_SOURCES && <li class="muted">and {sources.length - MOST_SOURCES} more</li>}
            </ul>
          </Fact>
        )}
        <Fact label="Written by">
          {synthesis.writtenBy === 'model' ? 'a model' : 'the engine'}
          {synthesis.error !== null && <span class="told">: {shortly(synthesis.error, 200)}</span>}
        </Fact>
        <Fact label="Used">
          {counted(cycles, 'cycle')}, {counted(usage.modelCalls, 'model call')}, {counted(tokens, 'token')} (
          {grouped(usage.inputTokens)} in, {grouped(usage.outputTokens)} out{usage.estimated && ', estimated'})
          {cost !== null && `, ${cost.amount.toLocaleString('en-US', { maximumFractionDigits: 6 })} ${cost.currency}`}
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
