import './tools.css';
import { formatDuration, formatScore, pluralize } from '../../fold/format.ts';
import { type ToolUse, toolUses } from '../../fold/step.ts';
import { excerpt } from '../../fold/text.ts';
import { EntryLink } from '../entry-link.tsx';
import { JsonTree } from '../json-tree.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';

export function ToolsTab({ inspector, view: { log, fold, selection, at } }: PanelProps) {
  const uses = toolUses(log, fold, selection, at);
  return (
    <div class="tools">
      {uses.length === 0 && <p class="muted">This step used no tools.</p>}
      {uses.map((use) =>
        use.kind === 'capability' ? (
          <CapabilityCard key={use.from} use={use} moveTo={inspector.moveTo} />
        ) : (
          <SearchCard key={use.from} use={use} moveTo={inspector.moveTo} />
        ),
      )}
    </div>
  );
}

interface CardProps<Kind extends ToolUse['kind']> {
  readonly use: Extract<ToolUse, { readonly kind: Kind }>;
  readonly moveTo: (seq: number) => void;
}

function CapabilityCard({ use: { name, from, result }, moveTo }: CardProps<'capability'>) {
  return (
    <section class="card stack" aria-label={`Tool ${name}`}>
      <header class="row">
        <h2 class="verbatim">{excerpt(name, 80)}</h2>
        <span class={result?.success === false ? 'wrong' : 'muted'}>
          {result === null
            ? 'running'
            : `${result.success ? 'done' : 'failed'} in ${formatDuration(result.durationMs)}`}
        </span>
        <EntryLink seq={from} moveTo={moveTo} />
      </header>
      {result !== null && (
        <>
          <h3>Arguments</h3>
          {Object.keys(result.arguments).length === 0 ? (
            <p class="muted">none</p>
          ) : (
            <JsonTree value={result.arguments} />
          )}
          {result.error !== null && (
            <p class="wrong verbatim">
              {result.code !== null && <code>{result.code}</code>} <LongText text={result.error} />
            </p>
          )}
          {result.success && (
            <>
              <h3>{result.synthesized ? 'Result, replaced by the model' : 'Result'}</h3>
              <Output text={result.output} />
            </>
          )}
        </>
      )}
    </section>
  );
}

function Output({ text }: { readonly text: string }) {
  const value = valueIn(text);
  return value === undefined ? <LongText text={text} chars={1_200} /> : <JsonTree value={value} />;
}

function valueIn(text: string): unknown {
  if (!/^\s*[[{]/u.test(text) || text.length > 100_000) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_PASSAGES = 30;

function SearchCard({ use: { from, result, failure, ms }, moveTo }: CardProps<'retrieval'>) {
  const passages = Array.isArray(result?.passages) ? result.passages : [];
  return (
    <section class="card stack" aria-label="Document search">
      <header class="row">
        <h2>Document search</h2>
        <span class={failure === null ? 'muted' : 'wrong'}>
          {ms === null
            ? 'running'
            : `${failure === null ? pluralize(passages.length, 'passage') : 'failed'} in ${formatDuration(ms)}`}
        </span>
        <EntryLink seq={from} moveTo={moveTo} />
      </header>
      {failure !== null && (
        <p class="wrong verbatim">
          <LongText text={failure} />
        </p>
      )}
      {result !== null && (
        <>
          <p>
            <span class="muted">Query{result.widened && ', widened because it found nothing'}:</span>{' '}
            <LongText text={String(result.query)} />
          </p>
          <ol class="passages stack">
            {passages.slice(0, MAX_PASSAGES).map(({ id, text, heading, source, relevance }) => (
              <li key={id}>
                <p class="muted verbatim">
                  {excerpt([source?.path, ...(heading ?? [])].join(' › '), 160)}, relevance {formatScore(relevance)}
                </p>
                <LongText text={text} chars={600} />
              </li>
            ))}
          </ol>
          {passages.length > MAX_PASSAGES && <p class="muted">and {passages.length - MAX_PASSAGES} more</p>}
        </>
      )}
    </section>
  );
}
