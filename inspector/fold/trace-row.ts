import type { Phase } from '../../machines/contracts/phase.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { formatNumber, pluralize } from './format.ts';
import type { Selection } from './selection.ts';

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

/** How many things inside a row went wrong. */
export interface Trouble {
  readonly phases: number;
  readonly tools: number;
  readonly searches: number;
  readonly calls: number;
  readonly retries: number;
  readonly limits: number;
}

/** Entries; `to` is null while in progress. */
export interface Range {
  readonly from: number;
  readonly to: number | null;
}

export interface TraceRow {
  readonly id: string;
  readonly kind: RowKind;
  readonly title: string;
  /** Where a decision leads. */
  readonly next?: string;
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
  /** The last entry; null while in progress. */
  readonly to: number | null;
  /** For a step with transitions: the entry of the next such step of its actor, or of the actor's end; null while there is neither. */
  readonly stays?: number | null;
  /** The calls for a phase that started before it. */
  readonly early?: Range;
  /** Null if it calls no model. */
  readonly usage: Usage | null;
  /** Null: a click opens and closes the row. */
  readonly selection: Selection | null;
  /** The entries of the rows inside, which may have started earlier. */
  readonly within?: { readonly from: number; readonly to: number };
  readonly trouble?: Trouble;
  readonly children?: () => readonly TraceRow[];
}

/** What went wrong inside a row, in words; `isBad`: something failed. */
export function troubleWords(trouble: Trouble): readonly { readonly text: string; readonly isBad: boolean }[] {
  const { phases, tools, searches, calls, retries, limits } = trouble;
  const retried = retries === calls && calls === 1 ? 'retried' : `${formatNumber(retries)} retried`;
  const words = [
    { count: phases, text: `${pluralize(phases, 'phase')} failed`, isBad: true },
    { count: tools, text: `${pluralize(tools, 'tool call')} failed`, isBad: true },
    { count: searches, text: `${pluralize(searches, 'search')} failed`, isBad: true },
    { count: calls, text: `${pluralize(calls, 'call')} failed${retries > 0 ? `, ${retried}` : ''}`, isBad: true },
    { count: calls > 0 ? 0 : retries, text: `${pluralize(retries, 'call')} retried`, isBad: false },
    { count: limits, text: `${pluralize(limits, 'limit')} reached`, isBad: false },
  ];
  return words.filter(({ count }) => count > 0).map(({ text, isBad }) => ({ text, isBad }));
}

export const NO_TROUBLE: Trouble = { phases: 0, tools: 0, searches: 0, calls: 0, retries: 0, limits: 0 };

export const addTrouble = (one: Trouble, other: Trouble): Trouble => ({
  phases: one.phases + other.phases,
  tools: one.tools + other.tools,
  searches: one.searches + other.searches,
  calls: one.calls + other.calls,
  retries: one.retries + other.retries,
  limits: one.limits + other.limits,
});

/** A row in a list, as deep as it is nested. */
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

const insides = new WeakMap<TraceRow, readonly TraceRow[]>();

export function rowsIn(row: TraceRow): readonly TraceRow[] {
  const known = insides.get(row);
  if (known !== undefined) return known;
  const inside = row.children?.() ?? [];
  insides.set(row, inside);
  return inside;
}

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

const isSelected = (row: TraceRow | undefined, { kind, from }: Selection): boolean =>
  row?.selection?.kind === kind && row.selection.from === from;

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
