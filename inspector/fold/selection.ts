import type { StateRef } from './chart-copies.ts';
import type { RunFold } from './run-fold.ts';
import { lastStartedBy } from './sorted.ts';
import type { AttemptSpan, CapabilitySpan } from './spans.ts';

/** What a selection is. `state` is a state of the chart, `entry` any single entry without a step of its own. */
const KINDS = ['phase', 'attempt', 'decision', 'capability', 'retrieval', 'operations', 'state', 'entry'] as const;
type SelectionKind = (typeof KINDS)[number];

export const isSelectionKind = (name: string): name is SelectionKind => KINDS.some((kind) => kind === name);

/** A selected step of a run: its entries from `from` to `to`, both included. */
export interface Selection {
  readonly kind: SelectionKind;
  readonly from: number;
  readonly to: number;
  readonly stateId?: string;
  /** A call whose start has no entry of its own: it shares `from` with the step that started it. */
  readonly actor?: string;
}

export type ChartSelection =
  | ({ readonly kind: 'state' } & StateRef)
  | { readonly kind: 'transitions'; readonly chartId: string; readonly transitions: readonly number[] };

/** Entries; `to` is null while in progress. */
export interface Range {
  readonly from: number;
  readonly to: number | null;
}

/** Selects a span; one that is still running ends at the latest entry. */
export const selectionOf = (kind: SelectionKind, { from, to }: Range, count: number): Selection => ({
  kind,
  from,
  to: to ?? count - 1,
});

const CALL_ENTRY = /^(?:attempt|model|capability)-|^prompt$|^text-delta$/u;

/** The smallest step that an entry belongs to, of a run with `count` entries. */
export function selectionAt({ entries, spans }: RunFold, seq: number, count: number): Selection {
  const type = entries.typeOf(seq);
  if (type === 'decision') return { kind: 'decision', from: seq, to: seq };
  if (type === 'operations' || type === 'context-evaluated') return { kind: 'operations', from: seq, to: seq };
  const around = <One extends Range>(all: readonly One[]): One | undefined => {
    const last = lastStartedBy(all, seq);
    return last === undefined || (last.to !== null && last.to < seq) ? undefined : last;
  };
  const phase = around(spans.phases);
  // The first phase starts after its first call.
  if (phase !== undefined && (type === 'phase-start' || type === 'phase-end'))
    return selectionOf('phase', phase, count);
  const call = lastStartedBy(spans.calls, seq);
  if (call?.source === RETRIEVAL && (call.to === null || call.to >= seq)) return selectionOf('retrieval', call, count);
  // Entries of other actors of the system may lie within the span.
  const isOf = (span: AttemptSpan | CapabilitySpan | undefined): span is AttemptSpan | CapabilitySpan =>
    span !== undefined && (span.actor === null || CALL_ENTRY.test(type));
  const capability = around(spans.capabilities);
  if (isOf(capability)) return selectionOf('capability', capability, count);
  const attempt = around(spans.attempts);
  if (isOf(attempt)) return selectionOf('attempt', attempt, count);
  if (phase !== undefined) return selectionOf('phase', phase, count);
  const [answer] = entries.of('answer');
  if (answer !== undefined && seq >= answer) return answerSelection({ entries, spans }, seq + 1);
  return { kind: 'entry', from: seq, to: seq };
}

/** The end of a run with `count` entries: from its last call, which wrote the answer, if that comes after the phases. */
export function answerSelection({ entries, spans }: Pick<RunFold, 'entries' | 'spans'>, count: number): Selection {
  const [call, phase] = [spans.attempts.at(-1), spans.phases.at(-1)];
  const answer = entries.of('answer').at(-1) ?? count - 1;
  const isAfter = call !== undefined && phase !== undefined && phase.to !== null && call.from > phase.to;
  return { kind: 'entry', from: Math.min(isAfter ? call.from : answer, count - 1), to: count - 1 };
}

/** The activity that searches the documents. */
export const RETRIEVAL = 'retrievePassages';
