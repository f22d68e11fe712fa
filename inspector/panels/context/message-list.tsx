import { useMemo, useState } from 'preact/hooks';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { attachmentLabel } from '../../../machines/policies/message-parts.ts';
import type { ContextAt } from '../../fold/context-at.ts';
import { type ContextLog, type ContextRow, contextRows, versionBefore } from '../../fold/context-log.ts';
import { formatDecimal, pluralize } from '../../fold/format.ts';
import { excerpt, revealHidden, sourceText } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { LongText } from '../long-text.tsx';
import { consentOf, lastPage, operationDetails, operationVerb, Pager, PhaseName, sizeText } from './list-parts.tsx';

const PAGE = 50;

const FILTERS = {
  all: 'All messages',
  current: 'In the context',
  pruned: 'Pruned',
  changed: 'Changed by operations',
} as const;
type Filter = keyof typeof FILTERS;

interface MessageListProps {
  readonly view: RunView;
  readonly context: ContextAt;
}

/** Shows fifty at a time; renders only if the context changed. */
export function MessageList({ view: { fold, at }, context }: MessageListProps) {
  const [filter, setFilter] = useState<Filter>('all');
  // Null: the last page, with the newest messages.
  const [requestedPage, setPage] = useState<number | null>(null);
  const log = fold.context;
  const applied = log.appliedAt(at);
  // Ignores `at`: `applied` and the messages cover it.
  const rows = useMemo(() => contextRows(log, context.messages, at), [log, context.messages, applied]);
  const shown = useMemo(
    () => rows.filter((row) => isShown(row, filter, log.about(row.message.id), applied)),
    [rows, filter, log, applied],
  );
  const page = Math.min(requestedPage ?? Number.POSITIVE_INFINITY, lastPage(shown.length, PAGE));
  const list = useMemo(() => {
    const known = relevances(context.state);
    return (
      <ol class="messages lined" aria-label="Messages">
        {shown.slice(page * PAGE, (page + 1) * PAGE).map((row) => (
          <MessageItem key={row.key} row={row} log={log} applied={applied} rating={known.get(row.message.id) ?? null} />
        ))}
      </ol>
    );
  }, [shown, page, log, applied, context.state]);
  return (
    <>
      <div class="list-head row">
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
    case 'current':
      return pruned === null;
    case 'pruned':
      return pruned !== null;
    case 'changed':
      return about.some((number) => number < applied);
    default:
      return filter satisfies never;
  }
}

interface MessageItemProps {
  readonly row: ContextRow;
  readonly log: ContextLog;
  readonly applied: number;
  readonly rating: Rating | null;
}

function MessageItem({ row, log, applied, rating }: MessageItemProps) {
  const { pruned, arrival } = row;
  const message = pruned === null || arrival === null ? row.message : versionBefore(log, arrival, pruned);
  const { role, id, phase, cycle, content, importance } = message;
  return (
    <li class={pruned === null ? 'message' : 'message pruned'} data-message={id}>
      <div class="marks row">
        <span class={`role ${role}`}>
          <span class="mark" aria-hidden="true" />
          {role}
        </span>
        {pruned !== null && <strong class="gone">pruned</strong>}
        <code class="verbatim">{excerpt(id, 40)}</code>
        {phase !== null && <PhaseName phase={phase} />}
        <span class="muted">cycle {cycle}</span>
        <Share name="importance" value={importance} />
        {rating === null ? (
          <UnratedShare />
        ) : (
          <Share name="relevance" value={rating.relevance} title={excerpt(rating.reason, 200)} />
        )}
        <span class="muted">{pluralize(content.length, 'character')}</span>
      </div>
      <LongText text={content} struck={pruned !== null} />
      <MessageLinks message={message} />
      <MessageHistory row={row} log={log} applied={applied} />
    </li>
  );
}

function Share({ name, value, title }: { readonly name: string; readonly value: number; readonly title?: string }) {
  return (
    <span class="share" title={title}>
      <span class="muted">{name}</span> {formatDecimal(value)}
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(1, value)) * 100}%` }} />
      </span>
    </span>
  );
}

const UnratedShare = () => (
  <span class="share" title="Not rated yet">
    <span class="muted">relevance</span> –
    <span class="bar" aria-hidden="true" />
  </span>
);

function MessageLinks({
  message: { tags, links, references, source, attachments = [] },
}: {
  readonly message: ContextRow['message'];
}) {
  if (tags.length + links.length + references.length + attachments.length === 0 && source === null) return null;
  return (
    <p class="ties row">
      {attachments.map((attachment) => (
        <code class="verbatim" key={attachment.digest} title={`digest ${excerpt(attachment.digest, 40)}`}>
          {revealHidden(attachmentLabel(attachment))}
        </code>
      ))}
      {source !== null && <code class="verbatim">{revealHidden(sourceText(source))}</code>}
      {tags.map((tag) => (
        <span key={tag} class="tag verbatim">
          {excerpt(tag, 40)}
        </span>
      ))}
      {links.map(({ to, relation, strength }) => (
        <span key={`${to} ${relation}`} class="verbatim">
          linked to {excerpt(to, 40)} ({excerpt(relation, 40)} {formatDecimal(strength)})
        </span>
      ))}
      {references.length > 0 && (
        <span class="verbatim">based on {references.map((reference) => excerpt(reference, 40)).join(', ')}</span>
      )}
    </p>
  );
}

interface MessageHistoryProps {
  readonly row: ContextRow;
  readonly log: ContextLog;
  readonly applied: number;
}

/** The most operations listed with one message; "Operations" lists all. */
const MAX_LISTED = 8;

/** The operations on one message: the latest in the summary, the others when expanded. */
function MessageHistory({ row: { message, arrival, pruned }, log, applied }: MessageHistoryProps) {
  const last = pruned ?? applied - 1;
  const all = log.about(message.id).filter((number) => number <= last && number > (arrival?.operation ?? -1));
  // Always rendered, so that operations on a message do not move the ones below.
  if (all.length === 0) return <p class="trail muted">unchanged</p>;
  const newest = log.operations[all.at(-1) ?? -1];
  return (
    <details class="trail">
      <summary class="one-line">
        {newest !== undefined && <OperationSummary listed={newest} log={log} />}
        {all.length > 1 && <span class="muted"> · {pluralize(all.length - 1, 'earlier operation')}</span>}
      </summary>
      <ul>
        {all.length > MAX_LISTED && <li class="muted">… {pluralize(all.length - MAX_LISTED, 'earlier operation')}</li>}
        {all.slice(-MAX_LISTED).map((number) => {
          const listed = log.operations[number];
          if (listed === undefined) return null;
          return (
            <li key={number}>
              <OperationSummary listed={listed} log={log} />
              {listed.operation.operation === 'TRANSFORM' && arrival !== null && (
                <details>
                  <summary>text before: {sizeText(listed)}</summary>
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

interface OperationSummaryProps {
  readonly listed: ContextLog['operations'][number];
  readonly log: ContextLog;
}

function OperationSummary({ listed: { operation, step, phase }, log }: OperationSummaryProps) {
  const pruning = log.prunings.get(operation.id)?.pruning;
  // A reason about relevance already contains the number.
  const relevance = operation.code === 'low_relevance' ? null : (pruning?.relevance ?? null);
  return (
    <>
      <strong>{operationVerb(operation)}</strong>{' '}
      {operationDetails(operation) !== '' && <span class="verbatim">{operationDetails(operation)} </span>}
      <span class="muted">
        by {phase} in step {step}
      </span>
      :{' '}
      <span class="verbatim" title={operation.code}>
        {excerpt(operation.reason, 200)}
      </span>
      {relevance !== null && <span class="muted"> · relevance {formatDecimal(relevance)}</span>}
      {consentOf(operation) !== null && <span class="muted"> · {consentOf(operation)}</span>}
    </>
  );
}

interface Rating {
  readonly relevance: number;
  readonly reason: string;
}

function relevances(state: ChainState | null): ReadonlyMap<string, Rating> {
  const reply = state?.evaluation?.reply ?? state?.results?.understanding?.reply;
  return new Map((reply?.assessments ?? []).map(({ messageId, ...rating }) => [messageId, rating]));
}
