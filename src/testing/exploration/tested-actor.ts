import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { isXState6 } from '../../xstate/ports.ts';
import type { InstrumentedMachine } from '../structure/instrumented-machine.ts';
import { createHostedActor } from './hosted-actor.ts';
import { createStubbedActor, type StubbedActor, type StubOptions } from './stub-actors.ts';

/**
 * Creates an actor of a machine, of either version of XState, with stubs for all actors that it starts, except the stand-ins. Throws
 * `invalid_option` for `inspect` with a machine of XState 6.
 */
export function createTestedActor(
  { machine, stepped }: InstrumentedMachine<AnyStateMachine>,
  options: StubOptions,
): StubbedActor {
  const { original, input, standIns = {}, inspect } = options;
  if (!isXState6(machine)) return createStubbedActor(machine, options);
  if (inspect !== undefined)
    throw new PostChainError(
      'invalid_option',
      `"inspect" does not work with ${original.id}, a machine of XState 6; leave it out, and use cover() and its paths to measure coverage`,
    );
  return createHostedActor(machine, { original, input, standIns, stepped, isReal: true });
}
