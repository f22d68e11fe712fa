import type { AnyMachineSnapshot } from 'xstate';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { alwaysEventually } from '../properties/always-eventually.ts';
import type { Property } from '../properties/properties.ts';
import {
  atMost,
  never,
  noDeadEnd,
  noDeadTransition,
  noIgnoredEvent,
  noUnhandledError,
  noUnreachableState,
} from '../properties/properties.ts';

/** What is to hold of any machine: nothing of it is dead, it never sticks, and no error of an actor ends it. */
export const soundness: readonly Property[] = [noDeadTransition(), noUnreachableState(), noDeadEnd, noUnhandledError];

const isDone = ({ status }: AnyMachineSnapshot): boolean => status === 'done';

/** Promise 1 and 2 of the chain: always an answer, and no loop without a bound. */
export const chainProperties: readonly Property[] = [
  ...soundness,
  alwaysEventually('answered', isDone),
  never(
    'answered with nothing',
    ({ status, output }) => status === 'done' && isEmpty(output as FinalAnswer | undefined),
  ),
  never('over its cycles', ({ context: { recursion, limits } }) => recursion.completedCycles > limits.maxCycles),
  never(
    'over its repeats of a phase',
    ({ context: { phaseRetries, limits } }) => phaseRetries > limits.maxPhaseRetries,
  ),
  // What comes too late, or where nobody asked, is left unheard; a run that is over hears nothing more.
  noIgnoredEvent({
    'consent.given': ['postChain.cycling', 'synthesizing', 'remembering'],
    'run.finished': ['synthesizing', 'remembering'],
    'run.adjusted': ['synthesizing', 'remembering'],
    'run.directed': ['synthesizing', 'remembering'],
    'run.cancelled': ['remembering'],
    'run.interrupted': ['remembering'],
  }),
];

const isEmpty = (answer: FinalAnswer | undefined): boolean => answer === undefined || answer.answerText.trim() === '';

/** A value or a failure, within the bounds of its policy; a reply is lost with its process, and a process dies only so often. */
export const attemptProperties: readonly Property[] = [
  ...soundness,
  alwaysEventually('succeeded or failed', isDone, { finitely: ({ type }) => type === 'reply.lost' }),
  never('over its corrections', ({ context: { execution, policy } }) => execution.corrections > policy.maxCorrections),
  never(
    'over its retries',
    ({ context: { execution, policy } }) => execution.transportRetries > policy.maxTransportRetries,
  ),
  never('over its fallbacks', ({ context: { execution, policy } }) => execution.fallbacks > policy.maxFallbacks),
  never(
    'done with neither a value nor a failure',
    ({ status, context: { value, failure } }) => status === 'done' && value == null && failure === null,
  ),
];

/** The capability loop ends, and runs no more than it may. */
export const actionProperties: readonly Property[] = [
  ...soundness,
  alwaysEventually('concluded or failed', isDone),
  never('over its continuations', ({ context: { runs, maxContinuations } }) => runs > maxContinuations),
  atMost('capabilities at once', 1, ({ context: { begun, runs } }) => begun - runs),
];
