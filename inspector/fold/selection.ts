import type { RunFold } from './run-fold.ts';
import { lastStartedBy } from './sorted.ts';

/** What a selection is. `state` is a state of the chart, `entry` any single entry without a step of its own. */
type SelectionKind = 'phase' | 'attempt' | 'decision' | 'capability' | 'retrieval' | 'operations' | 'state' | 'entry';

/** A selected step of a run: its entries from `from` to `to`, both included. */
export interface Selection {
  readonly kind: SelectionKind;
  readonly from: number;
  readonly to: number;
  /** Of a state: its id in the chart. */
  readonly stateId?: string;
}

interface Span {
  readonly from: number;
  readonly to: number | null;
}

/** Selects a span; one that is still running ends at the latest entry. */
const selectionOf = (kind: SelectionKind, { from, to }: Span, count: number): Selection => ({
  kind,
  from,
  to: to ?? count - 1,
});

/** The smallest step that an entry belongs to, of a run with `count` entries. */
export function selectionAt({ entries, spans }: RunFold, seq: number, count: number): Selection {
  const type = entries.typeOf(seq);
  if (type === 'decision') return { kind: 'decision', from: seq, to: seq };
  if (type === 'operations' || type === 'context-evaluated') return { kind: 'operations', from: seq, to: seq };
  const around = (all: readonly Span[]): Span | undefined => {
    const last = lastStartedBy(all, seq);
    return last === undefined || (last.to !== null && last.to < seq) ? undefined : last;
  };
  const phase = around(spans.phases);
  // The first phase starts after its first call.
  if (phase !== undefined && (type === 'phase-start' || type === 'phase-end'))
    return selectionOf('phase', phase, count);
  const call = lastStartedBy(spans.calls, seq);
  if (call?.actor === RETRIEVAL && (call.to === null || call.to >= seq)) return selectionOf('retrieval', call, count);
  const capability = around(spans.capabilities);
  if (capability !== undefined) return selectionOf('capability', capability, count);
  const attempt = around(spans.attempts);
  if (attempt !== undefined) return selectionOf('attempt', attempt, count);
  if (phase !== undefined) return selectionOf('phase', phase, count);
  return { kind: 'entry', from: seq, to: seq };
}

/** The activity that searches the documents. */
const RETRIEVAL = 'retrievePassages';
