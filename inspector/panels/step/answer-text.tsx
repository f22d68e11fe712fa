import { useEffect, useState } from 'preact/hooks';
import { explanationOf, type FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { formatScore, pluralize } from '../../fold/format.ts';
import { type CheckedSentence, checkedSentences } from '../../fold/origins.ts';
import { isNoAnswer } from '../../fold/run-list.ts';
import { confidenceCap, writerOf } from '../../fold/summary.ts';
import { excerpt, sourceText } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { LongText } from '../long-text.tsx';
import { Markdown, plainMarkdown } from '../markdown.tsx';
import type { PanelProps } from '../panel.tsx';
import { Facts } from '../parts.tsx';
import { OriginItems } from './origins.tsx';

const MAX_SENTENCES = 100;

/** The check of the sentences takes longer than a frame, so the answer is shown first. */
const CHECK_MS = 50;

interface AnswerProps extends PanelProps {
  readonly seq: number;
  readonly answer: FinalAnswer;
}

/** The answer with its confidence, what limits it, and its sources; if it was checked, each sentence with its best passage. */
export function AnswerWithSources({ inspector, view, seq, answer }: AnswerProps) {
  const { log, fold, stateCount } = view;
  const { answerText, status, confidence, sources, notes, grounding, metadata } = answer;
  const { missingFields, synthesis } = metadata;
  // The head already shows the explanation.
  const own = notes.replace(explanationOf(answer), '').trim();
  const cap = confidenceCap(log, fold, answer)?.full ?? null;
  const writer = synthesis.writtenBy === 'model' ? (writerOf(log, fold, answer) ?? 'a model') : 'the engine';
  const isOffline = writer === 'offline-extractive';
  // The trace has the error of a phase.
  const isShown = metadata.failures.some(({ failure }) => failure.message === synthesis.error);
  const unsupported = grounding?.unsupported.length ?? 0;
  const [sentences, setSentences] = useState<readonly CheckedSentence[]>([]);
  useEffect(() => {
    // Without the lines of tables, which have no words.
    const check = (): void =>
      setSentences(checkedSentences(fold, seq, answer).filter(({ text }) => /[\p{L}\p{N}]/u.test(text)));
    const timer = setTimeout(check, CHECK_MS);
    return () => clearTimeout(timer);
  }, [fold, answer, stateCount]);
  return (
    <>
      {grounding !== null && (
        <p>
          Support {formatScore(grounding.score, grounding.threshold)}, needs {formatScore(grounding.threshold)}
          {unsupported > 0 && <span class="warn">; {pluralize(unsupported, 'sentence')} not supported</span>}.
          {sentences.length > 0 && <span class="muted"> Select a sentence to see what supports it.</span>}
        </p>
      )}
      {sentences.length === 0 ? (
        !isNoAnswer(answerText, confidence) && <Markdown text={answerText} />
      ) : (
        <ol class="sentences stack" aria-label="Sentences of the answer">
          {sentences.slice(0, MAX_SENTENCES).map((sentence) => (
            <Sentence key={sentence.start} sentence={sentence} inspector={inspector} view={view} />
          ))}
          {sentences.length > MAX_SENTENCES && <li class="muted">and {sentences.length - MAX_SENTENCES} more</li>}
        </ol>
      )}
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
      <Facts
        facts={[
          ['No result from', excerpt(missingFields.join(', '), 200)],
          ['Notes', own !== '' && <LongText text={own} />],
          ['Sources', sources.length > 0 && <LongText text={sources.map(sourceText).join('\n')} chars={1_200} />],
          [
            'Written by',
            <>
              <span class="verbatim">{isOffline ? 'the offline extractor' : excerpt(writer, 80)}</span>
              {synthesis.error !== null && !isShown && <span class="verbatim">: {excerpt(synthesis.error, 200)}</span>}
            </>,
          ],
        ]}
      />
    </>
  );
}

/** A sentence, whether the evidence supports it, and on request the passages. */
function Sentence({ sentence, ...props }: PanelProps & { readonly sentence: CheckedSentence }) {
  const { text, support, isSupported, origins } = sentence;
  const [isOpen, open] = useState(false);
  return (
    <li class={isSupported ? '' : 'unsupported'}>
      <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
        <summary>
          <Icon name={support === null ? 'minus' : isSupported ? 'check' : 'cross'} />
          <span class="verbatim" dir="auto">
            {plainMarkdown(text, 1_000)}
          </span>
          {support === null ? (
            <span class="muted">nothing to check</span>
          ) : (
            <span class={isSupported ? 'muted' : 'warn'}>
              <span class="visually-hidden">{isSupported ? 'supported' : 'not supported'} </span>
              {formatScore(support)}
            </span>
          )}
        </summary>
        {isOpen && (
          <>
            {origins.length === 0 && <p class="muted">No passage supports it.</p>}
            <OriginItems origins={origins} phrase={text} {...props} />
          </>
        )}
      </details>
    </li>
  );
}
