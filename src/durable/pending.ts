import type { AnyMachineSnapshot } from 'xstate';
import { portOf } from '../xstate/ports.ts';
import type { DurableActorSystem, Timer } from './actor-system.ts';
import { isAnswer } from './approval.ts';
import type { ActorPath, OpenApproval } from './entries.ts';
import { digestOf } from './machine-digest.ts';

/** What an actor is waiting for. Times are in milliseconds since the epoch. */
export interface Pending {
  /** Calls in progress: promises, callbacks, observables. */
  readonly activities: readonly { readonly actor: ActorPath; readonly source: string; readonly sinceMs: number }[];
  /** Custom actions whose end is not recorded yet. */
  readonly effects: readonly { readonly actor: ActorPath; readonly action: string }[];
  readonly timers: readonly { readonly actor: ActorPath; readonly event: string; readonly dueAtMs: number }[];
  /** Types of the events that its active states handle. */
  readonly events: readonly string[];
  /** Approvals that wait for the event `approval.given`. */
  readonly approvals: readonly OpenApproval[];
}

/** `atEpoch` converts a time of the system's clock to milliseconds since the epoch. */
export function pendingOf(
  system: DurableActorSystem,
  atEpoch: (ms: number) => number,
  dueMsOf = ({ dueMs }: Timer): number => dueMs,
): Pending {
  return {
    activities: [...system.activities.values()].map(({ path, source, startedAtMs }) => ({
      actor: path,
      source,
      sinceMs: atEpoch(startedAtMs),
    })),
    effects: Array.from(system.openEffects.values(), ({ path, action }) => ({ actor: path, action })),
    timers: [...system.timers.values()].map((timer) => ({
      actor: timer.path,
      event: timer.event,
      dueAtMs: atEpoch(dueMsOf(timer)),
    })),
    events: awaitedEvents(system),
    approvals: [...system.approvals.values()].map(({ id, digest, question, askedAtMs }) => ({
      id,
      digest: boundTo(system, digest),
      question,
      // The clock of a fork continues that of its original, but the fork asks when it is made.
      askedAtMs: askedAtMs + system.forkedAfterMs,
    })),
  };
}

function awaitedEvents({ root }: DurableActorSystem): readonly string[] {
  const snapshot = root.getSnapshot() as AnyMachineSnapshot;
  const nodes = snapshot.status === 'active' ? portOf(snapshot.machine).activeNodes(snapshot) : [];
  return [...new Set(nodes.flatMap((node) => node.ownEvents).filter((type) => !type.startsWith('xstate.')))];
}

/** An answer counts for one actor only, although a fork shares entries with its original, and ids may be used again. */
const boundTo = ({ identity }: DurableActorSystem, digest: string): string => digestOf(`${identity} ${digest}`);

/**
 * Returns the receiver of an event (the root, or the approval that it answers) and the event that it receives, with the digest that its sender was
 * shown. Null if it answers no open one.
 */
export function receivedBy<Event extends { readonly type: string }>(
  system: DurableActorSystem,
  event: Event,
): { readonly actor: ActorPath; readonly event: Event } | null {
  if (event.type !== 'approval.given') return { actor: '', event };
  const open = [...system.approvals].find(([, { id, digest }]) =>
    isAnswer(event, { id, digest: boundTo(system, digest) }),
  );
  const own =
    open === undefined
      ? event
      : { ...event, digest: open[1].digest, shownDigest: (event as { readonly digest?: string }).digest };
  if (awaitedEvents(system).includes(event.type)) return { actor: '', event: own };
  return open === undefined ? null : { actor: open[0], event: own };
}
