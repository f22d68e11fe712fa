import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { callUsage } from '../attempt/context.ts';
import type { Usage } from '../contracts/budget.ts';
import { addCall, addUsage, NO_USAGE } from '../policies/usage.ts';

/**
 * What the attempts under way have used so far. A phase that is broken off (by its deadline, by the user) stops its attempts, and
 * with them their count: it is taken over before they are gone, so that no budget leaks.
 */
export function usageUnderWay(snapshot: AnyMachineSnapshot): Usage {
  let usage = NO_USAGE;
  for (const child of Object.values(snapshot.children)) {
    const below = (child as AnyActorRef | undefined)?.getSnapshot();
    if (below?.machine === undefined || below.status !== 'active') continue;
    usage = addUsage(usage, addUsage(ownUsage(below), usageUnderWay(below)));
  }
  return usage;
}

function ownUsage(snapshot: AnyMachineSnapshot): Usage {
  if (snapshot.machine.id !== 'attempt') return NO_USAGE;
  const used: Usage = snapshot.context.execution.usage;
  return snapshot.matches('calling') ? addCall(used, callUsage(snapshot.context)) : used;
}
