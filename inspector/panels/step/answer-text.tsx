import { explanationOf, type FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { formatScore, pluralize } from '../../fold/format.ts';
import { confidenceCap, writerOf } from '../../fold/summary.ts';
import { excerpt, revealHidden, sourceText } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { Facts } from '../facts.tsx';
import { LongText } from '../long-text.tsx';
import { Markdown } from '../markdown.tsx';

const MAX_SOURCES = 12;
const MAX_SENTENCES = 8;

interface AnswerProps {
  readonly view: PanelView;
  readonly answer: FinalAnswer;
}

/** The answer with its confidence, what limits it, and its sources. */
export function AnswerWithSources({ view: { log, fold }, answer }: AnswerProps) {
  const { answerText, status, confidence, sources, notes, grounding, metadata } = answer;
  const { missingFields, synthesis } = metadata;
  // The head already shows the explanation.
  const own = notes.replace(explanationOf(answer), '').trim();
  const cap = confidenceCap(log, fold, answer)?.full ?? null;
  const writer = synthesis.writtenBy === 'model' ? (writerOf(log, fold, answer) ?? 'a model') : 'the engine';
  const isOffline = writer === 'offline-extractive';
  const unsupported = grounding?.unsupported ?? [];
  return (
    <>
      <Markdown text={answerText} />
      <p>
        Confidence{' '}
        <meter
          class={status === 'completed' ? '' : 'plain'}
          min={0}
          max={1}
          value={confidence}
          aria-label="Confidence"
        />{' '}
        {formatScore(confidence)}
        {cap !== null && <span class="muted"> {cap}</span>}
      </p>
      {grounding !== null && (
        <p>
          The evidence supports {percent(grounding.score)} of the answer; {percent(grounding.threshold)} is needed.
        </p>
      )}
      {unsupported.length > 0 && (
        <div>
          <p class="warn">{pluralize(unsupported.length, 'sentence')} not supported by the evidence:</p>
          <ul class="unsupported">
            {unsupported.slice(0, MAX_SENTENCES).map(({ text, start }) => (
              <li key={start} dir="auto">
                <mark class="verbatim">{excerpt(text, 300)}</mark>
              </li>
            ))}
            {unsupported.length > MAX_SENTENCES && <li class="muted">and {unsupported.length - MAX_SENTENCES} more</li>}
          </ul>
        </div>
      )}
      <Facts
        facts={[
          ['No result from', excerpt(missingFields.join(', '), 200)],
          ['Notes', own !== '' && <LongText text={own} />],
          ['Sources', sources.length > 0 && <Sources sources={sources} />],
          [
            'Written by',
            <>
              <span class="verbatim">{isOffline ? 'the offline extractor' : excerpt(writer, 80)}</span>
              {synthesis.error !== null && <span class="verbatim">: {excerpt(synthesis.error, 200)}</span>}
            </>,
          ],
        ]}
      />
    </>
  );
}

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

const Sources = ({ sources }: Pick<FinalAnswer, 'sources'>) => (
  <ul>
    {sources.slice(0, MAX_SOURCES).map((source) => (
      <li key={source.messageId} class="verbatim mono">
        {revealHidden(sourceText(source))}
      </li>
    ))}
    {sources.length > MAX_SOURCES && <li class="muted">and {sources.length - MAX_SOURCES} more</li>}
  </ul>
);
