import type { DecideContinuationInput, ExecuteCapabilityInput } from '../../../machines/action/ports.ts';
import type { ArgumentsCheck, CapabilityCall, CapabilityResult } from '../../../machines/contracts/capability.ts';
import { checkArguments } from '../../tools/check-arguments.ts';
import type { CapabilityRegistry } from '../../tools/registry.ts';
import { runCapability } from '../../tools/run-capability.ts';
import type { ActivityDispatcher } from '../activities/activity.ts';
import { promiseActivity } from '../activities/promise-activity.ts';
import type { Clock } from '../attempts/clock.ts';
import { type Decider, noopDecider } from './decider.ts';

interface Parts {
  readonly capabilities: CapabilityRegistry;
  readonly decider: Decider;
  readonly clock: Clock;
  readonly dispatcher: ActivityDispatcher;
}

/** The ports of the action machine but its attempt. */
export function createActionActors({ capabilities, decider, clock, dispatcher }: Parts) {
  const decide = typeof decider === 'function' ? decider : noopDecider;
  return {
    validateArguments: promiseActivity<ArgumentsCheck, CapabilityCall>(
      'validateArguments',
      ({ input }) => checkArguments(capabilities, input),
      dispatcher,
    ),
    executeCapability: promiseActivity<CapabilityResult, ExecuteCapabilityInput>(
      'executeCapability',
      ({ input, signal }) =>
        runCapability(capabilities, {
          ...input,
          idempotencyKey: `${input.runId}.${input.step}`,
          signal,
          now: () => clock.now(),
        }),
      dispatcher,
    ),
    decideContinuation: promiseActivity<unknown, DecideContinuationInput>(
      'decideContinuation',
      async ({ input, signal }) => asJson(await decide(copyOf(input), { signal })),
      dispatcher,
    ),
  };
}

/** A decider is the user's code: what it says is written down, and read from there too. Throws for what is no JSON. */
function asJson(said: unknown): unknown {
  const text = JSON.stringify(said);
  return text === undefined ? null : JSON.parse(text);
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
