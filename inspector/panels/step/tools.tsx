import { useEffect, useRef } from 'preact/hooks';
import { formatScore, pluralize } from '../../fold/format.ts';
import { hasFailed, type ToolUse, timesOf } from '../../fold/step.ts';
import { isOver } from '../../fold/step-title.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { soughtPassage } from '../../ui-state/sought-passage.ts';
import { valueIn } from '../head/event-forms.tsx';
import { JsonTree } from '../json-tree.tsx';
import { LongText, Marked } from '../long-text.tsx';

export function ToolList({ view, uses }: { readonly view: PanelView; readonly uses: readonly ToolUse[] }) {
  return (
    <ul class="tools stack">
      {uses.map((use) => (
        <li key={use.from} class="stack">
          <p>
            <b class="verbatim">{use.kind === 'capability' ? excerpt(use.name, 80) : 'Document search'}</b>{' '}
            {use.ms === null ? (
              <span class="muted">{use.isOver || isOver(view.run) ? 'no result' : 'running'}</span>
            ) : hasFailed(use) ? (
              <span class="wrong">failed after {timesOf(use).join(', ')}</span>
            ) : (
              <span class="muted">{timesOf(use).join(', ')}</span>
            )}
          </p>
          <ToolResult use={use} />
        </li>
      ))}
    </ul>
  );
}

/** The result of a tool or a search, error first, and its arguments. */
export const ToolResult = ({ use }: { readonly use: ToolUse }) =>
  use.kind === 'capability' ? <CapabilityResult use={use} /> : <SearchResult use={use} />;

type ResultProps<Kind> = { readonly use: Extract<ToolUse, { readonly kind: Kind }> };

function CapabilityResult({ use: { result } }: ResultProps<'capability'>) {
  if (result === null) return <p class="muted">It reported no result.</p>;
  const isJson = /^\s*[[{]/u.test(result.output) && result.output.length <= 100_000;
  const output = isJson ? valueIn(result.output) : result.output;
  return (
    <>
      {result.error !== null && (
        <p class="wrong verbatim">
          <LongText text={result.error} /> {result.code !== null && <code>{result.code}</code>}
        </p>
      )}
      {result.success && (
        <div>
          {result.synthesized && <p class="muted">The model wrote this result.</p>}
          {typeof output === 'string' ? <LongText text={output} chars={1_200} /> : <JsonTree value={output} />}
        </div>
      )}
      <div>
        <p class="muted small">Arguments</p>
        {Object.keys(result.arguments).length === 0 ? <p class="muted">none</p> : <JsonTree value={result.arguments} />}
      </div>
    </>
  );
}

/** The text of a passage. If it was opened from words that it supports, it is shown in full, with these words marked. */
function PassageText({ text }: { readonly text: string }) {
  const sought = soughtPassage.value;
  const isSought = sought?.content.endsWith(text) === true;
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!isSought) return undefined;
    box.current?.scrollIntoView({ block: 'center' });
    return () => {
      if (soughtPassage.peek() === sought) soughtPassage.value = null;
    };
  }, [sought]);
  if (!isSought) return <LongText text={text} chars={400} />;
  return (
    <span ref={box} class="verbatim">
      <Marked text={revealHidden(text)} phrase={sought.phrase} />
    </span>
  );
}

const MAX_PASSAGES = 30;

function SearchResult({ use: { result, failure } }: ResultProps<'retrieval'>) {
  const passages = Array.isArray(result?.passages) ? result.passages : [];
  return (
    <>
      {failure !== null && (
        <p class="wrong verbatim">
          <LongText text={failure} />
        </p>
      )}
      {result !== null && (
        <>
          <p>
            {pluralize(passages.length, 'passage')} for{' '}
            <q>
              <LongText text={String(result.query)} />
            </q>
            {result.widened && <span class="muted">, widened because it found nothing</span>}
          </p>
          <ol class="passages stack">
            {passages.slice(0, MAX_PASSAGES).map(({ id, text, heading, source, relevance }) => (
              <li key={id}>
                <p class="muted verbatim">
                  {excerpt([source?.path, ...(heading ?? [])].join(' › '), 160)}, relevance {formatScore(relevance)}
                </p>
                <PassageText text={text} />
              </li>
            ))}
          </ol>
          {passages.length > MAX_PASSAGES && <p class="muted">and {passages.length - MAX_PASSAGES} more</p>}
        </>
      )}
    </>
  );
}
