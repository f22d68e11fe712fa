import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { type AttemptContext, callUsage } from '../attempt/context.ts';
import type { ActionState } from '../contracts/action-state.ts';
import type { Usage } from '../contracts/usage.ts';
import { addCall, addUsage, NO_USAGE } from '../policies/usage.ts';

/**
 * What the machines under way have come to so far. A phase that is broken off (by its deadline, by the user) stops them, and with
 * them what they know: it is taken over before they are gone, so that no budget leaks and no capability ran for nothing.
 */
export interface InFlight {
  readonly usage: Usage;
  /** The capability loop, once a run of it has begun. */
  readonly loop: ActionState | null;
}

export function inFlight(snapshot: AnyMachineSnapshot | undefined): InFlight {
  let usage = NO_USAGE;
  let loop: ActionState | null = null;
  for (const child of Object.values(snapshot?.children ?? {})) {
    const below = (child as AnyActorRef | undefined)?.getSnapshot();
    if (below?.machine === undefined || below.status !== 'active') continue;
    usage = addUsage(usage, addUsage(usageOf(below), inFlight(below).usage));
    if (below.machine.id === 'actionLoop' && below.context.begun > 0) loop = below.context;
  }
  return { usage, loop };
}

/** What a machine has used by itself, the call under way included, and one whose reply is still held against its schema. */
export function usageOf(snapshot: AnyMachineSnapshot): Usage {
  const used: Usage = snapshot.context.execution?.usage ?? NO_USAGE;
  if (snapshot.machine.id !== 'attempt' || !['calling', 'validating'].some((state) => snapshot.matches(state)))
    return used;
  const { policy, execution } = snapshot.context as AttemptContext;
  return addCall(used, callUsage(snapshot.context), policy.prices[execution.fallbacks] ?? null);
}
