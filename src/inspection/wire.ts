import type { RunStatus, StateChange } from '../../machines/contracts/journal.ts';
import type { Chart } from '../engine/charts/chart.ts';

/**
 * The version of the protocol between the inspection server and its page: one WebSocket, with one JSON object per text frame. A frame of
 * type `entries` continues with one line per journal entry, and one of type `states` with one line per state frame, each as JSON.
 */
export const WIRE_VERSION = 2;

/** A run that a page can open. */
export interface InspectedRun {
  readonly runId: string;
  /** A PostChain run, or a system of XState actors in another program. */
  readonly kind: 'run' | 'system';
  /** The request of a run; the name of a system. */
  readonly title: string;
  /** ISO 8601; empty if unknown. */
  readonly startedAt: string;
  readonly status: RunStatus;
  /** Whether it is running in this process. A live run accepts events. */
  readonly live: boolean;
  /** What the record omits or infers, one sentence each. */
  readonly fidelity: readonly string[];
}

/**
 * The state of a run's chart after an entry: the whole state, or the changes since the frame before. States are not part of a journal: they
 * are computed by a replay.
 */
export type StateFrame = { readonly seq: number } & (
  | { readonly state: unknown }
  | { readonly changes: readonly StateChange[] }
);

/** The charts of a run. The first is that of its root machine. */
export interface RunCharts {
  readonly charts: readonly Chart[];
  /** Chart ids by the name (`src`) with which a state invokes the machine. */
  readonly invoked: Readonly<Record<string, string>>;
}

export type ServerMessage =
  /** The first message, with the types of the events that a live run accepts. */
  | { readonly type: 'hello'; readonly version: typeof WIRE_VERSION; readonly events: readonly string[] }
  /** All runs that can be opened, newest first. Sent at the start and after every change. */
  | { readonly type: 'runs'; readonly runs: readonly InspectedRun[]; readonly chosen: string | null }
  /** Precedes the first entries of an opened run. Sent again if a system gets new charts. */
  | ({ readonly type: 'charts'; readonly runId: string } & RunCharts)
  /** The next entries, in the lines that follow. `from` is the number of the first. */
  | { readonly type: 'entries'; readonly runId: string; readonly from: number }
  /** The next state frames, in the lines that follow. `from` is the number of the first. */
  | { readonly type: 'states'; readonly runId: string; readonly from: number }
  /** No more entries follow. `problem`: why the rest of a recording cannot be read. */
  | { readonly type: 'end'; readonly runId: string; readonly problem: string | null }
  /** The result of the `send` or `test` message with this id. `problem` is null on success. */
  | { readonly type: 'sent'; readonly id: number; readonly problem: string | null }
  | { readonly type: 'test'; readonly id: number; readonly text: string; readonly problem: string | null };

export type PageMessage =
  /** Requests the entries of a run from this number on, including future ones. */
  | { readonly type: 'open'; readonly runId: string; readonly from: number }
  | { readonly type: 'close'; readonly runId: string }
  /** Sends an event to a live run. */
  | { readonly type: 'send'; readonly id: number; readonly runId: string; readonly event: unknown }
  /** Requests a Vitest test that replays the run. */
  | { readonly type: 'test'; readonly id: number; readonly runId: string };

/** The data embedded in an exported page. `lines` are the entries and `states` the state frames, each as JSON. */
export interface ExportedRun {
  readonly version: typeof WIRE_VERSION;
  readonly run: InspectedRun;
  readonly charts: RunCharts;
  readonly lines: readonly string[];
  readonly states: readonly string[];
}
