import { useMemo, useState } from 'preact/hooks';
import type { ContextAt } from '../../fold/context-at.ts';
import { type ContextRow, contextRows } from '../../fold/context-rows.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { MessageItem } from './message-item.tsx';
import { lastPage, Pager } from './pager.tsx';
import { relevances } from './relevances.ts';

const PAGE = 50;

const FILTERS = {
  all: 'All that there were',
  there: 'In the context',
  pruned: 'Pruned',
  touched: 'Changed by operations',
} as const;
type Filter = keyof typeof FILTERS;

interface MessageListProps {
  readonly view: RunView;
  readonly context: ContextAt;
}

/** The messages in order; what was pruned stands where it stood. Fifty at a time, drawn anew only when the context is another one. */
export function MessageList({ view: { fold, at }, context }: MessageListProps) {
  const [filter, setFilter] = useState<Filter>('all');
  // Null: the last page, where the newest are.
  const [wanted, setPage] = useState<number | null>(null);
  const log = fold.context;
  const applied = log.appliedBy(at);
  // `applied` and the messages say when `at` makes a difference.
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
      {shown.length === 0 && <p class="muted">No message is shown here.</p>}
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
