import type { RunStatus } from '../../machines/contracts/journal.ts';
import type { Chart } from '../engine/charts/chart.ts';

/**
 * What the inspection server and its page say to each other, over one WebSocket: text frames, each one JSON object. The frame of
 * `entries` has more lines behind it: each is one entry of the journal, as JSON.
 */
export const WIRE_VERSION = 1;

/** A run that can be opened. */
export interface InspectedRun {
  readonly runId: string;
  /** A run of PostChain, or a system of XState actors in any other program. */
  readonly kind: 'run' | 'system';
  /** What was asked; for a system, its name. */
  readonly title: string;
  /** ISO 8601; empty where it is not known. */
  readonly startedAt: string;
  readonly status: RunStatus;
  /** It is under way here, and can be told something where it is a run. */
  readonly live: boolean;
  /** What its record leaves out, or holds by inference only: one sentence each. */
  readonly fidelity: readonly string[];
}

/** The charts of a run: the first is the one that it runs on. */
export interface RunCharts {
  readonly charts: readonly Chart[];
  /** The charts that run inside states of others: what a state invokes, by the id of its chart. */
  readonly invoked: Readonly<Record<string, string>>;
}

/** An event that a run can be told, as JSON Schema: what forms are made of. */
export interface SendableEvent {
  readonly type: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ServerMessage =
  /** The first. */
  | { readonly type: 'hello'; readonly version: typeof WIRE_VERSION; readonly events: readonly SendableEvent[] }
  /** All runs that can be opened, the newest first: at the beginning, and whenever one is added or goes on otherwise. */
  | { readonly type: 'runs'; readonly runs: readonly InspectedRun[]; readonly chosen: string | null }
  /** Comes before the first entries of a run that was opened. A system may grow charts: then it comes again. */
  | ({ readonly type: 'charts'; readonly runId: string } & RunCharts)
  /** Entries that follow on those before; `from` is the number of the first. Their lines stand behind. */
  | { readonly type: 'entries'; readonly runId: string; readonly from: number }
  /** No more entries will come. `problem`: why the rest of a recording cannot be read. */
  | { readonly type: 'end'; readonly runId: string; readonly problem: string | null }
  /** What became of `send` and of `test`, by the id of the message: null where all is well. */
  | { readonly type: 'sent'; readonly id: number; readonly problem: string | null }
  | { readonly type: 'test'; readonly id: number; readonly text: string; readonly problem: string | null };

export type PageMessage =
  /** Its entries are wanted, from this number on, those to come among them. */
  | { readonly type: 'open'; readonly runId: string; readonly from: number }
  | { readonly type: 'close'; readonly runId: string }
  /** Tells a live run something. */
  | { readonly type: 'send'; readonly id: number; readonly runId: string; readonly event: unknown }
  /** A Vitest test of a recording is wanted. */
  | { readonly type: 'test'; readonly id: number; readonly runId: string };

/** What a file that holds one run carries: all that the page needs. `lines` are the entries, each as JSON. */
export interface ExportedRun {
  readonly version: typeof WIRE_VERSION;
  readonly run: InspectedRun;
  readonly charts: RunCharts;
  readonly lines: readonly string[];
}
