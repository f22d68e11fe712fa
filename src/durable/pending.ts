import type { AnyMachineSnapshot } from 'xstate';
import { activeNodes } from '../internal/xstate-internals.ts';
import type { DurableActorSystem, Timer } from './actor-system.ts';
import { isAnswer, type OpenApproval } from './approval.ts';
import type { ActorPath } from './entries.ts';

/** What an actor is waiting for. Times are in milliseconds since the epoch. */
export interface Pending {
  /** Calls in progress: promises, callbacks, observables. */
  readonly activities: readonly { readonly actor: ActorPath; readonly source: string; readonly sinceMs: number }[];
  readonly timers: readonly { readonly actor: ActorPath; readonly event: string; readonly dueAtMs: number }[];
  /** Types of the events that its active states handle. */
  readonly events: readonly string[];
  /** Approvals that wait for the event `approval.given`. */
  readonly approvals: readonly OpenApproval[];
}

/** `atEpoch` converts a time of the system's clock. */
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
    timers: [...system.timers.values()].map((timer) => ({
      actor: timer.path,
      event: timer.event,
      dueAtMs: atEpoch(dueMsOf(timer)),
    })),
    events: awaitedEvents(system),
    approvals: [...system.approvals.values()].map(({ id, digest, question, askedAtMs }) => ({
      id,
      digest,
      question,
      askedAtMs,
    })),
  };
}

function awaitedEvents({ root }: DurableActorSystem): readonly string[] {
  const snapshot = root.getSnapshot() as AnyMachineSnapshot;
  const nodes = snapshot.status === 'active' ? activeNodes(snapshot) : [];
  return [...new Set(nodes.flatMap((node) => node.ownEvents).filter((type) => !type.startsWith('xstate.')))];
}

/** Returns the path of the actor that an event is for: the root, or the approval that it answers. Null if it answers none. */
export function receiverOf(system: DurableActorSystem, event: { readonly type: string }): ActorPath | null {
  if (event.type !== 'approval.given' || awaitedEvents(system).includes(event.type)) return '';
  return [...system.approvals].find(([, open]) => isAnswer(event, open))?.[0] ?? null;
}
