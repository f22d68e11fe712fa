import type { VersionState } from '../xstate/port.ts';
import type { Json } from './codec.ts';

/** The version of the journal's format. */
export const JOURNAL_FORMAT = 3;

/**
 * The place of an actor in its system: the ids from the root down, as a JSON pointer (RFC 6901). The root is the empty string; its child
 * `pay` is `/pay`. If a running actor has the same path, `#2` follows.
 */
export type ActorPath = string;

/** Returns the path of a child. Escapes `~` and `/` in its id, as JSON pointers do. */
export const childPath = (parent: ActorPath, id: string): ActorPath =>
  `${parent}/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns the id of the actor at a path. */
export const idAt = (path: ActorPath): string =>
  path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

/** A version of a machine. The digest covers its states and transitions, and those of the machines that it names. */
export interface RecordedMachine {
  readonly id: string;
  readonly version: string | null;
  readonly digest: string;
}

/** The versions of what a machine may depend on. */
export interface Runtime {
  readonly node: string;
  readonly icu: string;
}

/** The first entry: everything that determines the actor. */
export interface StartEntry extends Runtime {
  readonly type: 'start';
  readonly format: typeof JOURNAL_FORMAT;
  /** The id of the XState actor. A fork keeps that of its original, because machines may read it. */
  readonly actorId: string;
  readonly machine: RecordedMachine;
  readonly input: Json;
  /** What a product stores with the actor, with its own schema; null for nothing. */
  readonly product: Json;
  /** The seed of `Math.random` and `crypto.randomUUID` in the machine. */
  readonly seed: number;
  /** Whether the store has replaced texts on writing: such a journal cannot be replayed. */
  readonly redacted?: true;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The actor that receives the result of a child process; left out for other actors, and for forks. */
  readonly parent?: { readonly actorId: string; readonly actor: ActorPath };
  /** `clockStartMs`: when the clock of the fork stood at 0, in milliseconds since the epoch. `forkedAt`: when it was made, in ISO 8601. */
  readonly forkedFrom: Readonly<{ actorId: string; seq: number; clockStartMs: number; forkedAt?: string }> | null;
}

/** Whether texts were replaced on writing: such a journal cannot be replayed. A run of an earlier version says so in its `product`. */
export const isRedacted = ({ redacted, product }: StartEntry): boolean => redacted ?? Object(product).redacted === true;

/** External events, one at a time. They determine the actor: a replay feeds them to the machine again. */
export type ExternalEvent =
  /** An event that was sent to an actor. With `id`, a repeated send counts once. `forgets`: ids that no message has from now on; left out for none. */
  | {
      readonly type: 'delivery';
      readonly actor: ActorPath;
      readonly event: Json;
      readonly id?: string;
      readonly forgets?: readonly string[];
    }
  /** What an activity or source reports: to itself (its result), or to another actor. `received`: how many events it had received, if any. */
  | {
      readonly type: 'activity-event';
      readonly activity: number;
      /** The name of the activity in its machine. */
      readonly source: string;
      readonly actor: ActorPath;
      readonly event: Json;
      readonly received?: number;
    }
  /** A delay has elapsed. */
  | { readonly type: 'timer'; readonly timer: number }
  /** An effect, or the start of an activity, has thrown: its actor ends with this error. */
  | { readonly type: 'failed'; readonly actor: ActorPath; readonly error: Json; readonly effect?: number }
  /** The actor was stopped from outside. */
  | { readonly type: 'stopped' };

/** From here on, the actor continues on another version of its machine. Like an external event, it begins a step. */
export interface MigratedEvent {
  readonly type: 'migrated';
  readonly machine: RecordedMachine;
  /** Its state in that version, with the delays that it keeps. */
  readonly state: Keyframe;
  /** The ids of the invoked actors and delays that its states also had in the earlier version. Those that have ended do not start again. */
  readonly ended: readonly string[];
}

/** The result of a guard, as a journal stores it. */
export interface Candidate {
  /** The name of the guard, or `inline`; null for a transition without one. */
  readonly guard: string | null;
  readonly target: readonly string[];
  readonly result: 'taken' | 'false' | 'not-evaluated';
  /** The values that the guard compared, if it gives them. See `defineGuard`. */
  readonly inputs: Json;
}

const inline = new WeakSet<object>();

/**
 * Marks an entry or a candidate of an inline function, and returns it. The name of such a function is for readers: a minified build has
 * another.
 */
export function markInline<Named extends DerivedEvent | Candidate>(named: Named): Named {
  inline.add(named);
  return named;
}

export const isInline = (named: object): boolean => inline.has(named);

/** What the machine did. A replay produces these entries again. */
export type DerivedEvent =
  | {
      readonly type: 'transition';
      readonly actor: ActorPath;
      readonly machine: string;
      readonly event: string;
      readonly source: string;
      readonly target: readonly string[];
      /** In order of evaluation. Empty if the only candidate has no guard. */
      readonly candidates: readonly Candidate[];
    }
  /** An event for which every guard was false. */
  | {
      readonly type: 'ignored';
      readonly actor: ActorPath;
      readonly machine: string;
      readonly event: string;
      readonly candidates: readonly Candidate[];
    }
  | { readonly type: 'emitted'; readonly actor: ActorPath; readonly event: Json }
  /** An actor that is not a machine starts. `source` is its name in the machine, `inputDigest` identifies its input. */
  | {
      readonly type: 'activity-start';
      readonly activity: number;
      readonly actor: ActorPath;
      readonly source: string;
      readonly inputDigest: string;
      /** The result of the option `describeCall`; left out for null. */
      readonly subject?: Json;
    }
  /** What code outside the machine returned or threw in the step. See `recordOnce`. */
  | { readonly type: 'value'; readonly name: string; readonly value: Json; readonly error: string | null }
  /** `dueMs` counts from the start of the actor, like `atMs`. */
  | {
      readonly type: 'timer-start';
      readonly timer: number;
      readonly actor: ActorPath;
      readonly event: string;
      readonly dueMs: number;
    }
  /** A custom action, executed after this entry is stored. `subject`: the id of the durable actor `to` which it sends an event, or of the `child` that it starts or stops; left out for none. */
  | {
      readonly type: 'effect';
      readonly effect: number;
      readonly actor: ActorPath;
      readonly action: string;
      readonly subject?: Json;
    }
  | {
      readonly type: 'end';
      readonly status: 'done' | 'error' | 'stopped';
      readonly output: Json;
      readonly error: Json;
      /** The result of the option `describeEnd`; left out for null. */
      readonly summary?: Json;
      /** How many effects had not ended yet; left out for none. */
      readonly openEffects?: number;
    };

/** What lists find an actor by. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

/** Entries that do not affect the machine. A replay copies them. */
export type Annotation =
  | {
      readonly type: 'effect-end';
      readonly effects: readonly number[];
      /** Those that have thrown after the actor had failed: if it is retried, they are executed again. Left out for none. */
      readonly failed?: readonly number[];
      /** How the actor has ended, if these were its last effects. */
      readonly status?: 'done' | 'error' | 'stopped';
      /** As in the `end`, if these were its last effects; left out for null. */
      readonly error?: Json;
      readonly summary?: Json;
    }
  /** The result of the option `describeAttributes`, when it has changed, and after a keyframe. */
  | { readonly type: 'attributes'; readonly attributes: Attributes }
  /** A note of a product or an activity. */
  | { readonly type: 'note'; readonly note: Json; readonly activity?: number }
  /**
   * Another process opened the actor here, or, with `wasPaused`, this process began it after a pause of 1 s or more. `machine`: the version
   * with which it continues, if it is not the same as before.
   */
  | {
      readonly type: 'resumed';
      readonly resumedAt: string;
      readonly wasPaused?: true;
      readonly machine?: RecordedMachine;
    }
  /** The actor was closed here. */
  | {
      readonly type: 'closed';
      readonly closedAt: string;
      /** Left out if something was in progress. */
      readonly waiting?: Waiting;
      /** The result of the option `describeWait`; left out for null. */
      readonly summary?: Json;
      /** Its machine, if it is not the same as at the start. */
      readonly machine?: RecordedMachine;
    }
  /**
   * The step that begins with the entry `failed` and ended the actor with an error is withdrawn: a replay passes over it. What follows happens
   * instead. With `isSkipped`, what failed in it does not run again.
   */
  | { readonly type: 'retried'; readonly failed: number; readonly isSkipped?: true }
  /** The actor does not begin until a worker takes it from the queue, at `beginsAtMs` (milliseconds since the epoch) at the earliest. */
  | { readonly type: 'queued'; readonly priority: number; readonly key?: string; readonly beginsAtMs: number }
  /** Workers no longer continue the actor. */
  | { readonly type: 'quarantined'; readonly reason: string }
  /** Workers continue it again. */
  | { readonly type: 'released' }
  /**
   * The state of an actor at rest, from which a process continues without the earlier entries. A replay checks it. `machine`: that of the actor
   * here, and `runtime` that of the process, if they are not the same as at the start.
   */
  | {
      readonly type: 'keyframe';
      readonly state: Keyframe;
      readonly machine?: RecordedMachine;
      readonly runtime?: Runtime;
    };

/** An approval that waits for its answer. */
export interface OpenApproval {
  /** Unique in its actor system. */
  readonly id: string;
  /** Identifies the question of this actor; does not depend on the order of its members. */
  readonly digest: string;
  readonly question: Json;
  /** Milliseconds since the epoch. */
  readonly askedAtMs: number;
}

/** What a closed actor waits for. Times are in milliseconds since the epoch. */
export interface Waiting {
  readonly sinceMs: number;
  /** When its next delay ends; null for none, or if its delays pause while no process holds it. */
  readonly dueAtMs: number | null;
  /** Types of the events that its active states handle. */
  readonly events: readonly string[];
  /** Approvals that wait for their answers; left out for none. */
  readonly approvals?: readonly OpenApproval[];
}

/** An actor that waits for a child process, in the form in which XState restores it, and the id of the child. */
interface ChildKeyframe {
  readonly src: string;
  readonly input: Json;
  readonly systemId?: string;
  /** The name of version 6 for `systemId`. */
  readonly registryKey?: string;
  readonly syncSnapshot?: true;
  readonly child: string;
}

/** The complete state of an actor that has no calls, effects or child actors in progress, except child processes. */
export interface Keyframe {
  readonly snapshot: VersionState & {
    readonly value: Json;
    /** The ids of the active states, in XState's order. */
    readonly nodes: readonly string[];
    readonly context: Json;
    readonly historyValue: Json;
  };
  readonly timers: readonly {
    readonly timer: number;
    readonly event: Json;
    /** What cancels it; null for none. */
    readonly id: string | null;
    readonly dueMs: number;
  }[];
  /** The numbers of the next activity, timer, effect and actor. */
  readonly next: readonly [activity: number, timer: number, effect: number, actor: number];
  /** The state of the random generator. */
  readonly random: number;
  /** The ids of the events that were sent and may be sent again. */
  readonly sentIds: readonly string[];
  /** The actors that wait for child processes, by id; left out for none. */
  readonly children?: Readonly<Record<string, ChildKeyframe>>;
}

export type DurableEvent = StartEntry | ExternalEvent | MigratedEvent | DerivedEvent | Annotation;

/** `seq` counts from 0; `atMs` is the milliseconds since the start of the actor. */
export type DurableEntry = DurableEvent & { readonly seq: number; readonly atMs: number };

const EXTERNAL: ReadonlySet<string> = new Set<(ExternalEvent | MigratedEvent)['type']>([
  'delivery',
  'activity-event',
  'timer',
  'failed',
  'stopped',
  'migrated',
]);
const ANNOTATIONS: ReadonlySet<string> = new Set<Annotation['type']>([
  'effect-end',
  'attributes',
  'note',
  'resumed',
  'closed',
  'keyframe',
  'retried',
  'quarantined',
  'released',
  'queued',
]);

export const isExternal = <Entry extends { readonly type: string }>(
  entry: Entry,
): entry is Extract<Entry, ExternalEvent | MigratedEvent> => EXTERNAL.has(entry.type);

export const isAnnotation = <Entry extends { readonly type: string }>(
  entry: Entry,
): entry is Extract<Entry, Annotation> => ANNOTATIONS.has(entry.type);

/** Whether a journal can be read from an entry on: it contains the complete state of the actor. */
export const hasState = <Entry extends { readonly type: string }>(
  entry: Entry | undefined,
): entry is Extract<Entry, { readonly type: 'keyframe' | 'migrated' }> =>
  entry?.type === 'keyframe' || entry?.type === 'migrated';

/** Whether the entries between the first one and one that contains the state are left out. */
export const isPartial = ([, second]: readonly DurableEntry[]): boolean => hasState(second) && second.seq > 1;

/** Whether an actor has ended. One that was retried after its end has not. */
export const hasEnded = (entries: readonly { readonly type: string }[]): boolean =>
  entries.findLast(({ type }) => type === 'end' || type === 'retried')?.type === 'end';

/** Returns a function that returns whether an entry is part of a step that was withdrawn. Annotations, such as the ends of effects, are not. */
export function withdrawnIn(entries: readonly DurableEntry[]): (entry: DurableEntry) => boolean {
  const retried = entries.filter((entry) => entry.type === 'retried');
  return (entry) => !isAnnotation(entry) && retried.some(({ failed, seq }) => failed <= entry.seq && entry.seq < seq);
}

/** Whether an actor was enqueued. */
export const wasQueued = (entries: readonly { readonly type: string }[]): boolean =>
  entries.slice(0, 3).some(({ type }) => type === 'queued');

/** After these entries, the count of crashes begins at 0. */
const PROGRESS: readonly string[] = ['closed', 'retried', 'quarantined', 'released'];

/** Returns how many processes have continued an actor since something last happened to it, or it was closed or repaired. */
export function crashesIn(entries: readonly DurableEntry[]): number {
  const last = entries.findLastIndex((entry) => PROGRESS.includes(entry.type) || isExternal(entry));
  return entries.slice(last + 1).filter((entry) => entry.type === 'resumed' && !entry.wasPaused).length;
}

/** The message of a child that has ended to its parent. */
export interface ChildEnded {
  readonly type: 'child.ended';
  /** The id of the child. */
  readonly child: string;
  readonly status: 'done' | 'error' | 'stopped';
  readonly output?: unknown;
  readonly error?: unknown;
}
