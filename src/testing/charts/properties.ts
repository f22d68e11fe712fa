import type { AnyMachineSnapshot } from 'xstate';
import type { ActionState, StepCall } from '../../../machines/contracts/action-state.ts';
import type { CallApprovalGiven } from '../../../machines/contracts/events.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { approvalDigest } from '../../../machines/policies/approvals.ts';
import { isRunning } from '../../../machines/policies/capability-loop.ts';
import type { ExploredState } from '../exploration/exploration.ts';
import { pathThrough } from '../exploration/paths.ts';
import { alwaysEventually } from '../properties/always-eventually.ts';
import type { Property } from '../properties/properties.ts';
import {
  atMost,
  never,
  noDeadEnd,
  noDeadTransition,
  noIgnoredEvent,
  noMissingImplementation,
  noUnhandledError,
  noUnreachableState,
} from '../properties/properties.ts';

/**
 * Properties of every sound machine: every transition and state is reachable, no state is a dead end, no error ends the machine, and every
 * implementation that it names is provided.
 */
export const soundness: readonly Property[] = [
  noDeadTransition(),
  noUnreachableState(),
  noDeadEnd,
  noUnhandledError,
  noMissingImplementation(),
];

const isDone = ({ status }: AnyMachineSnapshot): boolean => status === 'done';

/** The chain always answers, and its loops are bounded. */
export const chainProperties: readonly Property[] = [
  ...soundness,
  // A capability loop that waits for the user and continues is bounded by its own limits.
  alwaysEventually('answered', isDone, { finitely: ({ type }) => type === 'loop.progressed' }),
  never(
    'answered with an empty text',
    ({ status, output }) => status === 'done' && isEmpty(output as FinalAnswer | undefined),
  ),
  never('completed with a reason, or not completed without one', ({ status, output }) => {
    const answer = output as FinalAnswer | undefined;
    return (
      status === 'done' && answer !== undefined && (answer.status === 'completed') !== (answer.reasons.length === 0)
    );
  }),
  never('over the cycle limit', ({ context: { recursion, limits } }) => recursion.completedCycles > limits.maxCycles),
  never('over the phase retry limit', ({ context: { phaseRetries, limits } }) => phaseRetries > limits.maxPhaseRetries),
  never('over the limit of model calls', ({ context: { usage, limits } }) => usage.modelCalls > limits.maxModelCalls),
  never(
    'over the cost limit',
    ({ context: { usage, written, stated, limits } }) =>
      limits.maxCost !== null &&
      !(usage.cost + (written?.usage.cost ?? 0) + (stated?.usage.cost ?? 0) <= limits.maxCost),
  ),
  never(
    'waiting for consent that an option gives',
    (snapshot) =>
      snapshot.context.consent !== 'ask' && snapshot.matches({ cycling: { understanding: 'awaitingConsent' } }),
  ),
  never('an open question that no state waits for, or a waiting state without one', (snapshot) => {
    const waits = [{ understanding: 'awaitingConsent' }, { yield: 'awaitingDirection' }];
    return (snapshot.context.question !== null) !== waits.some((cycling) => snapshot.matches({ cycling }));
  }),
  // Some events that come too late are ignored.
  noIgnoredEvent({
    'run.adjusted': ['synthesizing', 'remembering'],
    'run.cancelled': ['remembering'],
    'run.interrupted': ['remembering'],
  }),
];

const isEmpty = (answer: FinalAnswer | undefined): boolean => answer === undefined || answer.answerText.trim() === '';

/** An attempt ends with a value or a failure, within its policy's limits. A reply is lost only if its process dies, which happens finitely often. */
export const attemptProperties: readonly Property[] = [
  ...soundness,
  alwaysEventually('succeeded or failed', isDone, { finitely: ({ type }) => type === 'reply.lost' }),
  never(
    'over the correction limit',
    ({ context: { execution, policy } }) => execution.corrections > policy.maxCorrections,
  ),
  never(
    'over the retry limit',
    ({ context: { execution, policy } }) => execution.transportRetries > policy.maxTransportRetries,
  ),
  never(
    'over the cost limit',
    ({ context: { execution, policy } }) => policy.maxCost !== null && execution.usage.cost > policy.maxCost,
  ),
  // A model may take over twice: for its JSON, and for its prose.
  never(
    'over the fallback limit',
    ({ context: { execution, policy } }) =>
      execution.fallbacks > policy.maxFallbacks + (policy.triesReplyForms ? policy.maxFallbacks + 1 : 0),
  ),
  never(
    'done without a value or a failure',
    ({ status, context: { value, failure } }) => status === 'done' && value == null && failure === null,
  ),
];

const SLOTS = [1, 2, 3, 4];

const runningIn = (step: readonly StepCall[], slot: number): number =>
  step.filter((call) => call.slot === slot && isRunning(call)).length;

/** An answer decides the call whose question is pending, if it names its id and digest. Any other answer leads nowhere. */
const answersDecideTheirQuestion: Property = {
  name: 'an answer decides only the pending question that it names, for its digest',
  check(exploration) {
    const { states, edges } = exploration;
    const loopIn = (id: number): ActionState => (states[id] as ExploredState).snapshot.context as ActionState;
    for (const edge of edges) {
      const { questionId, digest, decision } = edge.occurrence.event as Partial<CallApprovalGiven>;
      if (edge.occurrence.event.type !== 'approval.given') continue;
      const before = loopIn(edge.from);
      const after = loopIn(edge.to);
      const fits = ({ approval }: StepCall): boolean =>
        (before.approver === 'user' || approval?.isClientTool === true) &&
        !(approval?.isClientTool && decision === 'approve') &&
        approval?.state === 'pending' &&
        approval.questionId === questionId &&
        approval.digest === digest;
      const isDecided = before.step.some(fits);
      const isOwn = before.step.every(
        (call, at) => fits(call) || call.approval?.state === after.step[at]?.approval?.state,
      );
      // A step whose calls are all denied has ended.
      if (isDecided ? isOwn || after.step.length === 0 : edge.to === edge.from) continue;
      return {
        what: `${edge.occurrence.name} changes another call or answers nothing`,
        path: pathThrough(exploration, edge),
      };
    }
    return null;
  },
};

/** The capability loop ends, within its limits. */
export const actionProperties: readonly Property[] = [
  ...soundness,
  alwaysEventually(
    'concluded, failed or waiting for a user who has no deadline',
    (snapshot) => isDone(snapshot) || (snapshot.matches('awaitingApproval') && snapshot.context.approvalMs === null),
  ),
  never('over the continuation limit', ({ context: { begun, maxContinuations } }) => begun > maxContinuations),
  never(
    'over the limit of parallel calls',
    ({ context: { step, maxParallelCalls } }) => step.filter(isRunning).length > maxParallelCalls,
  ),
  never('a call that runs, or has run, without approval of exactly its arguments', ({ context: { step } }) =>
    step.some((call: StepCall) => {
      const { approval, slot } = call;
      if (approval === undefined || slot === null) return false;
      return (
        !['approved', 'edited'].includes(approval.state) || approval.digest !== approvalDigest(approval.identity, call)
      );
    }),
  ),
  never(
    'a call that is denied or responded to, or that only the client can run, with an id or a slot',
    ({ context: { step } }) =>
      step.some(
        ({ approval, id, slot }: StepCall) =>
          (approval?.isClientTool || ['denied', 'timed_out', 'responded'].includes(approval?.state ?? '')) &&
          (id !== null || slot !== null),
      ),
  ),
  never('a second start for one approval', ({ context: { step, runs, begun } }) => {
    const ids = step.flatMap(({ id }: StepCall) => id ?? []);
    return step.length > 0 && (new Set(ids).size !== ids.length || begun !== runs + ids.length);
  }),
  never('a call that waits for approval outside of the states that ask and validate', (snapshot) => {
    const isAsking = ['awaitingApproval', 'askingProgram', 'validatingEdits'].some((state) => snapshot.matches(state));
    const isOpen = snapshot.context.step.some(
      ({ approval, result }: StepCall) => result === null && ['pending', 'editing'].includes(approval?.state ?? ''),
    );
    return isOpen !== isAsking;
  }),
  answersDecideTheirQuestion,
  atMost('call in a slot', 1, ({ context: { step } }) => Math.max(0, ...SLOTS.map((slot) => runningIn(step, slot)))),
];
