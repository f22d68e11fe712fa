import { fromPromise } from 'xstate';
import type { DecideContinuationInput, ExecuteCapabilityInput } from '../../machines/action/ports.ts';
import type { ArgumentsCheck, CapabilityCall, CapabilityResult } from '../../machines/contracts/capability.ts';
import type { Clock } from '../attempts/clock.ts';
import { checkArguments } from '../capabilities/check-arguments.ts';
import type { CapabilityRegistry } from '../capabilities/registry.ts';
import { runCapability } from '../capabilities/run-capability.ts';
import { type Decider, noopDecider } from './decider.ts';

/** The ports of the action machine but its attempt. */
export function createActionActors(registry: CapabilityRegistry, decider: Decider, clock: Clock) {
  const decide = typeof decider === 'function' ? decider : noopDecider;
  return {
    validateArguments: fromPromise<ArgumentsCheck, CapabilityCall>(({ input }) => checkArguments(registry, input)),
    executeCapability: fromPromise<CapabilityResult, ExecuteCapabilityInput>(({ input, signal }) =>
      runCapability(registry, { ...input, signal, now: () => clock.now() }),
    ),
    decideContinuation: fromPromise<unknown, DecideContinuationInput>(async ({ input, signal }) =>
      decide(copyOf(input), { signal }),
    ),
  };
}

const copies = new WeakMap<CapabilityResult, CapabilityResult>();

/** A decider is the user's code: what it does to what it is shown is done to copies, each made once. */
function copyOf({ request, reply, results, runsLeft }: DecideContinuationInput): DecideContinuationInput {
  return { request, reply: structuredClone(reply), results: results.map(copyOfResult), runsLeft };
}

function copyOfResult(result: CapabilityResult): CapabilityResult {
  const known = copies.get(result) ?? { ...result, arguments: structuredClone(result.arguments) };
  copies.set(result, known);
  return known;
}
