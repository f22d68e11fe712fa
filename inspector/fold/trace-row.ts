import type { Phase } from '../../machines/contracts/phase.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { formatNumber, pluralize } from './format.ts';
import type { Range, Selection } from './selection.ts';

type RowKind =
  | 'cycle'
  | 'phase'
  | 'call'
  | 'tool'
  | 'search'
  | 'activity'
  | 'wait'
  | 'decision'
  | 'limit'
  | 'event'
  | 'answer'
  | 'actor'
  | 'step'
  | 'ignored'
  | 'aside'
  | 'end';

/** `open` is in progress; `ended` ended without a result; `noted` is not as it should be, but no failure. */
export type RowStatus = 'done' | 'open' | 'ended' | 'failed' | 'noted';

export interface TraceRow {
  readonly id: string;
  readonly kind: RowKind;
  readonly title: string;
  /** Where a decision leads. */
  readonly next?: string;
  /** The place of a step among those of its system. */
  readonly number?: number;
  /** The transitions of a step: `asking → booking`. */
  readonly moves?: string;
  /** A few words about it, such as the numbers of its calls. */
  readonly note?: string;
  /** The result, or the failure, as text of a model or a program; empty if there is none. */
  readonly text: string;
  readonly status: RowStatus;
  /** The row that shows the same error: of the phase or of an earlier call. */
  readonly sameErrorAs?: string | undefined;
  readonly phase?: Phase;
  readonly from: number;
  readonly to: number | null;
  /** For a step with transitions: the entry of the next such step of its actor, or of the actor's end; null while there is neither. */
  readonly stays?: number | null;
  /** When a running timer is due, on the clock of the entries. */
  readonly dueMs?: number;
  /** The calls for a phase that started before it. */
  readonly early?: Range;
  /** Null if it calls no model. */
  readonly usage: Usage | null;
  /** Of calls that a fork has copied; they are not in its usage. */
  readonly reusedTokens?: number;
  /** Whether its result is from the call of another row. */
  readonly isElsewhere?: boolean;
  /** Null: a click opens and closes the row. */
  readonly selection: Selection | null;
  /** The entries of the rows inside, which may have started earlier. */
  readonly within?: { readonly from: number; readonly to: number };
  /** Whether it is a call that repeats the one before it. */
  readonly isRetry?: boolean;
  readonly children?: () => readonly TraceRow[];
}

export interface ListedRow {
  readonly row: TraceRow;
  /** Counts from 1. */
  readonly level: number;
  /** Null if nothing is inside. */
  readonly isOpen: boolean | null;
  /** Its place among the rows beside it, counted from 1, and their number. */
  readonly index: number;
  readonly size: number;
}

/** A value that is computed when it is first needed: entries are read only for what is shown. */
export function lazy<Value>(compute: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

/** What is computed once for each row: a row never changes. */
export function oncePerRow<Value>(compute: (row: TraceRow) => Value): (row: TraceRow) => Value {
  const known = new WeakMap<TraceRow, Value>();
  return (row) => {
    if (!known.has(row)) known.set(row, compute(row));
    return known.get(row) as Value;
  };
}

export const rowsIn = oncePerRow((row): readonly TraceRow[] => row.children?.() ?? []);

const allIn = (row: TraceRow): readonly TraceRow[] => rowsIn(row).flatMap((inner) => [inner, ...allIn(inner)]);

/** What went wrong inside a row, in words; `isBad`: something failed. */
export const troubleWords = oncePerRow((row) => {
  const all = allIn(row);
  const failed = (of: RowKind): number => all.filter(({ kind, status }) => kind === of && status === 'failed').length;
  const retries = all.filter(({ isRetry }) => isRetry).length;
  const limits = all.filter(({ kind }) => kind === 'limit').length;
  const calls = failed('call');
  const retried =
    retries === 0 ? '' : retries === calls && calls === 1 ? ', retried' : `, ${formatNumber(retries)} retried`;
  const words = [
    { count: failed('phase'), noun: 'phase', end: ' failed', isBad: true },
    { count: failed('tool'), noun: 'tool call', end: ' failed', isBad: true },
    { count: failed('search'), noun: 'search', end: ' failed', isBad: true },
    { count: calls, noun: 'call', end: ` failed${retried}`, isBad: true },
    { count: calls > 0 ? 0 : retries, noun: 'call', end: ' retried', isBad: false },
    { count: limits, noun: 'limit', end: ' reached', isBad: false },
  ];
  return words.flatMap(({ count, noun, end, isBad }) =>
    count === 0 ? [] : [{ text: `${pluralize(count, noun)}${end}`, isBad }],
  );
});

export function listedRows(
  rows: readonly TraceRow[],
  isOpen: (row: TraceRow) => boolean,
  level = 1,
): readonly ListedRow[] {
  return rows.flatMap((row, at) => {
    const place = { row, level, index: at + 1, size: rows.length };
    if (row.children === undefined) return [{ ...place, isOpen: null }];
    const open = isOpen(row);
    return [{ ...place, isOpen: open }, ...(open ? listedRows(rowsIn(row), isOpen, level + 1) : [])];
  });
}

const isSelected = (row: TraceRow | undefined, { kind, from, actor }: Selection): boolean =>
  row?.selection?.kind === kind && row.selection.from === from && row.selection.actor === actor;

const contains = ({ within, from, to }: TraceRow, selection: Selection): boolean =>
  (within?.from ?? from) <= selection.from && selection.to <= (within?.to ?? to ?? Number.POSITIVE_INFINITY);

/** The row of a selection with the rows around it, outermost first; or else the innermost row that contains it. */
export function rowPathTo(rows: readonly TraceRow[], selection: Selection): readonly TraceRow[] {
  let best: readonly TraceRow[] = [];
  for (const row of rows) {
    if (isSelected(row, selection)) return [row];
    if (!contains(row, selection)) continue;
    const path = [row, ...rowPathTo(rowsIn(row), selection)];
    if (isSelected(path.at(-1), selection)) return path;
    if (path.length > best.length) best = path;
  }
  return best;
}
