import type { RunStatus } from '../../machines/contracts/journal.ts';
import type { ChatTurn } from '../../machines/contracts/model.ts';
import type { Chart } from '../durable/charts/chart.ts';
import type { ActorPath, DurableEntry, OpenApproval } from '../durable/entries.ts';
import type { Queued } from '../durable/journals/journal-store.ts';
import type { BeginLimits } from '../durable/journals/queue.ts';
import type { RepairAction, RepairResult } from '../durable/repair.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';
import type { StateChange } from './state-changes.ts';

export type { RepairAction, RepairResult };

/**
 * The version of the protocol between the inspection server and its page: one WebSocket, with one JSON object per text frame. A frame of
 * type `entries` continues with one line per journal entry, and one of type `states` with one line per state frame, each as JSON.
 */
export const WIRE_VERSION = 8;

/**
 * Computing the states of a recorded run takes a replay, so those of a run with more entries are sent only to a page that requests them. The
 * states of a long run can take more space than its entries.
 */
export const MAX_ENTRIES_WITH_STATES = 20_000;

export interface InspectedRun {
  readonly runId: string;
  /** A PostChain run, or an observed system of other XState actors. */
  readonly kind: 'run' | 'system';
  /** The request of a run; the title of a recorded durable actor, or else its id; the name of a system. */
  readonly title: string;
  /** ISO 8601; empty if unknown. */
  readonly startedAt: string;
  /** `disconnected`: the program of a system has ended or closed its connection before the system ended. */
  readonly status: RunStatus | 'queued' | 'disconnected';
  /** How many entries it has; absent while it may get more, and if it is unknown. */
  readonly entries?: number;
  /** Whether it is running in this process. A live run accepts events. */
  readonly live: boolean;
  /** What the record omits or infers, one sentence each. */
  readonly fidelity: readonly string[];
  /** Null for a system, and for a run whose journal cannot be read. */
  readonly summary: RunFigures | null;
  /** True for a running system that has only machines, which wait for events or delays. */
  readonly isIdle?: boolean;
  /** The machine of a recorded durable actor. */
  readonly machine?: string;
  /** Those of a recorded durable actor; absent without any. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** What a run or a recorded durable actor waits for. Absent if it does not wait, or if that is unknown. */
  readonly waiting?: ActorWait;
  /** The place of a recorded durable actor in its queue, with the limits of the queue if its machine is known; absent if it is not queued. */
  readonly queued?: Queued & { readonly limits?: BeginLimits & { readonly perKey?: BeginLimits | undefined } };
  /** Why the page cannot act on a recorded actor or resume a run, and what to do; absent if it can, or if the actor or run has ended without a failure. What follows the first line is code. */
  readonly blocked?: string;
  /** Why workers no longer continue a recorded durable actor; absent if it is not quarantined. */
  readonly quarantined?: string;
  /** How a system ended or, while it runs, what failed; for a recorded durable actor, also its state. Absent otherwise, and for runs. */
  readonly ending?: SystemEnding;
  /** The run that it is a fork of, and the number of the first entry that differs; absent if it is none. */
  readonly forkedFrom?: { readonly runId: string; readonly seq: number };
  /** How the record was checked, in one sentence; absent if it was not. */
  readonly integrity?: string;
  /** When an exported run without an end was exported, in ISO 8601. */
  readonly exportedAt?: string;
  /** Why the journal cannot be read completely; absent if it is intact or the reason is unknown. */
  readonly problem?: string;
}

export interface ActorWait {
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
  /** When its next delay ends; null if there is none, or if delays pause while no process holds the actor. */
  readonly dueAtMs: number | null;
  /** The types of the events that it accepts, without those that answer an approval. */
  readonly events: readonly string[];
  /** A question is any JSON. */
  readonly approvals: readonly (Omit<OpenApproval, 'question'> & { readonly question: unknown })[];
}

interface SystemEnding {
  /** The names of the innermost states of its root machine; empty without any. */
  readonly states: string;
  /** The last actor that failed, and why, with the failed call before it; empty if none has. For a durable actor that has not failed: the last call that failed and has not succeeded since. */
  readonly failure: string;
  readonly durationMs: number;
}

/** A number is null while it is unknown. */
export interface RunFigures {
  /** The rule of Yield that ended the run, for example `confidenceReached`; null if no rule did. */
  readonly rule: string | null;
  /** Why the run ended as it did, in words; may be empty. */
  readonly explanation: string;
  /** The code of the most important reason why the answer is degraded; null if there is none. */
  readonly reason: string | null;
  /** The last phase that failed before the answer; absent if none did. */
  readonly failedPhase?: { readonly phase: string; readonly message: string };
  /** The start of the answer; empty if there is none. */
  readonly answer: string;
  /** How many sentences of the answer the evidence does not support; null if there was nothing to compare them with. */
  readonly unsupported: number | null;
  /** The phase in progress. */
  readonly phase: string | null;
  /** `approval`, `consent` or `direction` while a question to the user is pending; `timer` for a delay. */
  readonly waitingFor: string | null;
  /** `estimated`: some were counted as characters / 4. */
  readonly tokens: { readonly input: number; readonly output: number; readonly estimated: boolean } | null;
  /** Null without prices. `currency` as in the price table, for example EUR. */
  readonly cost: { readonly amount: number; readonly currency: string } | null;
  readonly durationMs: number | null;
  /** When its clock stood at 0, in milliseconds since the epoch. */
  readonly clockStartMs: number | null;
  /** The model and its fallbacks, in order. */
  readonly models: readonly string[];
  readonly confidence: number | null;
  readonly sessionId: string | null;
}

/**
 * Durable machines by their ids: the types of the events that people may send to its actors, each with the JSON Schema of the other members;
 * null if any event may be sent.
 */
export type InspectedMachines = Readonly<Record<string, EventForms | null>>;
export type EventForms = Readonly<Record<string, EventForm>>;
export type EventForm = JsonSchema;

export type RunAction =
  /** `force` takes over a run that another process holds. */
  | { readonly type: 'resume'; readonly force?: boolean | undefined }
  /** Starts a run that repeats this one up to an entry and continues with changes, by path, as `chain.fork` takes them. */
  | {
      readonly type: 'fork';
      readonly at: number;
      readonly set: Readonly<Record<string, unknown>>;
      /** Sent instead of the prompt whose entry is `at`. */
      readonly turns?: readonly ChatTurn[] | undefined;
      /** Sent to the fork of an actor. */
      readonly event?: { readonly type: string } | undefined;
      /** Another input for the fork of an actor. */
      readonly input?: unknown;
      /** The model of the new run, if it is not the recorded one: only for runs of `postchain run`. */
      readonly model?: string | undefined;
    }
  /** Replays an actor without calls, and compares every entry. */
  | { readonly type: 'replay' }
  /** Ends an actor. */
  | { readonly type: 'stop' }
  /** Runs what failed in an actor again. */
  | { readonly type: 'retry' }
  /** Lets workers continue a quarantined actor again. */
  | { readonly type: 'release' };

/** A run that this installation did not start, so that the user must confirm what continuing it would open. */
export interface NeedsTrust {
  /** A phrase after "because". */
  readonly doubt: string;
  /** Phrases that complete "To continue it, postchain would …". */
  readonly actions: readonly string[];
}

export interface ActResult {
  /** The run that was started or resumed; null if none. */
  readonly runId: string | null;
  /** A result in one sentence; may be empty. */
  readonly note: string;
  /** The entry that the note is about: the first difference of a replay. */
  readonly seq?: number;
  /** Send the action again with this as `confirmed` to confirm. */
  readonly needsTrust: NeedsTrust | null;
}

export interface ExportResult {
  /** One file that opens from disk. */
  readonly html: string;
  /** What to know before sharing it, one line each. */
  readonly notes: readonly string[];
}

/** The result of each request of a page, by message type. */
export interface Results {
  readonly send: null;
  readonly act: ActResult;
  readonly remove: null;
  readonly export: ExportResult;
  /** What happened, or would happen, to each actor, in the order of the request. */
  readonly repair: readonly RepairResult[];
}

/** The result of a request, or a `problem` in one line if it failed. */
export type RequestResult<Result> =
  | { readonly result: Result; readonly problem: null }
  | { readonly result: null; readonly problem: string };

/**
 * The state of a run's chart after an entry, or that of a system (`SystemState`): the whole state, or the changes since the frame before.
 * States are not part of a journal: they are computed by a replay, or observed.
 */
export type StateFrame = { readonly seq: number } & (
  | { readonly state: unknown }
  | { readonly changes: readonly StateChange[] }
);

/**
 * The state of an actor of a system. A journal does not contain it: it comes from a replay with the machine, or from observing the actor.
 */
export interface ActorState {
  /** The entry in whose step the actor has started. Another number at the same path means another actor. */
  readonly started: number;
  /** The id of its chart; null if it is not a machine. */
  readonly chart: string | null;
  /** Its innermost active states when it started; null if they are unknown. */
  readonly initial: readonly string[] | null;
  /** Its innermost active states. */
  readonly leaves: readonly string[];
  /** The entry of its last transition; null for none. */
  readonly moved: number | null;
  readonly context: unknown;
  /** Null while it runs. */
  readonly end: ActorEnd | null;
  /** For an approval that still waits, its id and the innermost states of the machine that asks, after each answer; empty if unknown. */
  readonly answers?: { readonly id: string; readonly approve: readonly string[]; readonly deny: readonly string[] };
}

export interface ActorEnd {
  readonly status: 'done' | 'error' | 'stopped';
  readonly output?: unknown;
  readonly error?: unknown;
}

/** The actors of a system by their paths: those that run, and those that ended in the step of the entry. */
export type SystemState = Readonly<Record<ActorPath, ActorState>>;

/** An entry of an observed program, in the form of a stored one. `sender`: the path of the actor that sent the event, null for none. */
export type ObservedEntry = DurableEntry & { readonly sender?: ActorPath | null };

/** The first chart is that of the root machine. */
export interface RunCharts {
  readonly charts: readonly Chart[];
  /** Chart ids by the name (`src`) with which a state invokes the machine. */
  readonly invoked: Readonly<Record<string, string>>;
}

export interface SentLines {
  /** Whether more lines follow immediately, so that showing these first is not worthwhile. */
  readonly more?: boolean;
  /** The lines are stored entries of a run, or of an actor of any machine. By default, they are entries of a run as `run.entries` has them. */
  readonly format?: 'run' | 'actor';
}

export type ServerMessage =
  /**
   * The first message, with the types of the events that a live run accepts. `continues`: recorded runs can be resumed and forked. `model`:
   * the one that continues a run whose journal names none, if known. `machines`: the durable machines of the inspector.
   */
  | {
      readonly type: 'hello';
      readonly version: typeof WIRE_VERSION;
      readonly events: readonly string[];
      readonly continues: boolean;
      readonly model?: string | undefined;
      readonly machines?: InspectedMachines | undefined;
    }
  /**
   * The runs that can be opened, in no particular order: first all, then those that are new or changed, and the ids of those that are gone.
   * `chosen`: the run to open first. `unread`: how many recorded runs follow, because they are still being read.
   */
  | {
      readonly type: 'runs';
      readonly runs: readonly InspectedRun[];
      readonly removed: readonly string[];
      readonly isAll: boolean;
      readonly chosen: string | null;
      readonly unread: number;
    }
  /** Precedes the first entries of an opened run. Sent again if a system gets new charts: one for each of its machines. */
  | ({ readonly type: 'charts'; readonly runId: string } & RunCharts)
  /** The next entries, in the lines that follow. `from` is the number of the first. */
  | ({ readonly type: 'entries'; readonly runId: string; readonly from: number } & SentLines)
  /** The next state frames, in the lines that follow. `from` is the number of the first. */
  | { readonly type: 'states'; readonly runId: string; readonly from: number }
  /** No more entries follow. `problem`: why the rest of a recording cannot be read. */
  | { readonly type: 'end'; readonly runId: string; readonly problem: string | null }
  /** The reply to the request with this id. */
  | ({ readonly type: 'reply'; readonly id: number } & RequestResult<Results[keyof Results]>);

/**
 * The data embedded in an exported page. `lines` are the entries and `states` the state frames, each as JSON.
 */
export interface ExportedRun {
  readonly version: typeof WIRE_VERSION;
  readonly run: InspectedRun;
  readonly charts: RunCharts;
  /** Pictures of charts of other programs by their ids, made by the layout worker of the page. */
  readonly drawings?: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
  readonly states: readonly string[];
}

/** What an actor's page contains, as entries whose texts can be redacted: first the actor and its charts, then its journal and its states. */
export type ActorPageEntry = { readonly type: 'page'; readonly seq: number } & (
  | { readonly run: InspectedRun; readonly charts: RunCharts }
  | { readonly entry: DurableEntry }
  | { readonly frame: StateFrame }
);
