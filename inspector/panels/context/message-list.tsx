import { useMemo, useState } from 'preact/hooks';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { ContextAt } from '../../fold/context-at.ts';
import { type ContextLog, type ContextRow, contextRows, versionBefore } from '../../fold/context-log.ts';
import { counted, rounded } from '../../fold/format.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly, visible } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';
import { consentOf, doneBy, lastPage, Pager, PhaseName, setBy, sizeWords } from './list-parts.tsx';

const PAGE = 50;

const FILTERS = {
  all: 'All messages',
  there: 'In the context',
  pruned: 'Pruned',
  touched: 'Changed by operations',
} as const;
type Filter = keyof typeof FILTERS;

interface MessageListProps {
  readonly view: RunView;
  readonly context: ContextAt;
}

/** The messages in order, pruned ones in place. Shows fifty at a time; renders only if the context changed. */
export function MessageList({ view: { fold, at }, context }: MessageListProps) {
  const [filter, setFilter] = useState<Filter>('all');
  // Null: the last page, with the newest messages.
  const [wanted, setPage] = useState<number | null>(null);
  const log = fold.context;
  const applied = log.appliedBy(at);
  // Ignores `at`: `applied` and the messages cover it.
  const rows = useMemo(() => contextRows(log, context.messages, at), [log, context.messages, applied]);
  const shown = useMemo(
    () => rows.filter((row) => isShown(row, filter, log.about(row.message.id), applied)),
    [rows, filter, log, applied],
  );
  const page = Math.min(wanted ?? Number.POSITIVE_INFINITY, lastPage(shown.length, PAGE));
  const list = useMemo(() => {
    const known = relevances(context.state);
    return (
      <ol class="messages" aria-label="Messages">
        {shown.slice(page * PAGE, (page + 1) * PAGE).map((row) => (
          <MessageItem key={row.key} row={row} log={log} applied={applied} rated={known.get(row.message.id) ?? null} />
        ))}
      </ol>
    );
  }, [shown, page, log, applied, context.state]);
  return (
    <>
      <div class="list-head">
        <label>
          Show{' '}
          <select
            value={filter}
            onChange={({ currentTarget }) => {
              setFilter(currentTarget.value as Filter);
              setPage(null);
            }}
          >
            {Object.entries(FILTERS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Pager
          page={page}
          pageSize={PAGE}
          count={shown.length}
          noun="messages"
          onPage={(next) => setPage(next === lastPage(shown.length, PAGE) ? null : next)}
        />
      </div>
      {list}
      {shown.length === 0 && <p class="muted">No messages.</p>}
    </>
  );
}

function isShown({ pruned }: ContextRow, filter: Filter, about: readonly number[], applied: number): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'there':
      return pruned === null;
    case 'pruned':
      return pruned !== null;
    case 'touched':
      return about.some((number) => number < applied);
    default:
      return filter satisfies never;
  }
}

interface MessageItemProps {
  readonly row: ContextRow;
  readonly log: ContextLog;
  /** Operations that were applied at the cursor. */
  readonly applied: number;
  readonly rated: Rated | null;
}

function MessageItem({ row, log, applied, rated }: MessageItemProps) {
  const { pruned, arrival } = row;
  const message = pruned === null || arrival === null ? row.message : versionBefore(log, arrival, pruned);
  const { role, id, phase, cycle, content, importance } = message;
  return (
    <li class={pruned === null ? 'message' : 'message pruned'} data-message={id}>
      <div class="marks">
        <span class={`role ${role}`}>
          <span class="mark" aria-hidden="true" />
          {role}
        </span>
        {pruned !== null && <strong class="gone">pruned</strong>}
        <code class="told">{shortly(id, 40)}</code>
        {phase !== null && <PhaseName phase={phase} />}
        <span class="muted">cycle {cycle}</span>
        <Share name="importance" value={importance} />
        {rated === null ? (
          <Unrated />
        ) : (
          <Share name="relevance" value={rated.relevance} title={shortly(rated.reason, 200)} />
        )}
        <span class="muted">{counted(content.length, 'character')}</span>
      </div>
      <LongText text={content} struck={pruned !== null} />
      <MessageTies message={message} />
      <MessageTrail row={row} log={log} applied={applied} />
    </li>
  );
}

/** A number from 0 to 1, and a small bar. */
function Share({ name, value, title }: { readonly name: string; readonly value: number; readonly title?: string }) {
  return (
    <span class="share" title={title}>
      <span class="muted">{name}</span> {rounded(value)}
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(1, value)) * 100}%` }} />
      </span>
    </span>
  );
}

const Unrated = () => (
  <span class="share" title="Not rated yet">
    <span class="muted">relevance</span> –
    <span class="bar" aria-hidden="true" />
  </span>
);

/** Its document position, tags, links and sources. */
function MessageTies({ message: { tags, links, references, source } }: { readonly message: ContextRow['message'] }) {
  if (tags.length + links.length + references.length === 0 && source === null) return null;
  return (
    <p class="ties">
      {source !== null && (
        <code class="told">
          {visible(source.path)}:{source.startLine}-{source.endLine}
        </code>
      )}
      {tags.map((tag) => (
        <span key={tag} class="tag told">
          {shortly(tag, 40)}
        </span>
      ))}
      {links.map(({ to, relation, strength }) => (
        <span key={`${to} ${relation}`} class="told">
          linked to {shortly(to, 40)} ({shortly(relation, 40)} {rounded(strength)})
        </span>
      ))}
      {references.length > 0 && (
        <span class="told">made from {references.map((reference) => shortly(reference, 40)).join(', ')}</span>
      )}
    </p>
  );
}

interface MessageTrailProps {
  readonly row: ContextRow;
  readonly log: ContextLog;
  readonly applied: number;
}

/** The most operations listed with one message; "Operations" lists all. */
const MOST = 8;

/** What was done to one message, and why: the newest in one line that is always there, the rest below it when opened. */
function MessageTrail({ row: { message, arrival, pruned }, log, applied }: MessageTrailProps) {
  const last = pruned ?? applied - 1;
  const all = log.about(message.id).filter((number) => number <= last && number > (arrival?.operation ?? -1));
  // Always rendered, so that operations on a message do not move the ones below.
  if (all.length === 0) return <p class="trail muted">as it came</p>;
  const newest = log.operations[all.at(-1) ?? -1];
  return (
    <details class="trail">
      <summary>
        {newest !== undefined && <Done listed={newest} log={log} />}
        {all.length > 1 && <span class="muted"> · {all.length - 1} before it</span>}
      </summary>
      <ul>
        {all.length > MOST && <li class="muted">… {all.length - MOST} before these</li>}
        {all.slice(-MOST).map((number) => {
          const listed = log.operations[number];
          if (listed === undefined) return null;
          return (
            <li key={number}>
              <Done listed={listed} log={log} />
              {listed.operation.operation === 'TRANSFORM' && arrival !== null && (
                <details>
                  <summary>before: {sizeWords(listed)}</summary>
                  <LongText text={versionBefore(log, arrival, number).content} />
                </details>
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

interface DoneProps {
  readonly listed: ContextLog['operations'][number];
  readonly log: ContextLog;
}

function Done({ listed: { operation, step, phase }, log }: DoneProps) {
  const pruning = log.prunings.get(operation.id)?.pruning;
  // A reason that is about the relevance has its number.
  const relevance = operation.reason?.startsWith('relevance') ? null : (pruning?.relevance ?? null);
  return (
    <>
      <strong>{doneBy(operation)}</strong> {setBy(operation) !== '' && <span class="told">{setBy(operation)} </span>}
      <span class="muted">
        by {phase} in step {step}
      </span>
      : <span class="told">{shortly(operation.reason, 200)}</span>
      {relevance !== null && <span class="muted"> · relevance {rounded(relevance)}</span>}
      {consentOf(operation) !== null && <span class="muted"> · {consentOf(operation)}</span>}
    </>
  );
}

interface Rated {
  readonly relevance: number;
  readonly reason: string;
}

/** The model's latest relevance ratings, by message. */
function relevances(state: ChainState | null): ReadonlyMap<string, Rated> {
  const reply = state?.evaluation?.reply ?? state?.results?.understanding?.reply;
  return new Map((reply?.assessments ?? []).map(({ messageId, ...rated }) => [messageId, rated]));
}
