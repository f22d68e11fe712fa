import type { ActionState, StepCall } from '../contracts/action-state.ts';
import type { ApprovalAnswer } from '../contracts/capability.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import { type AskedCall, approvalRefusal, awaitsApproval, pendingCalls } from '../policies/approvals.ts';
import { abortLoop, abortStep, callIn, continuationLimitReached, resultIndex } from '../policies/capability-loop.ts';

export type ActionEmittedEvent = Extract<
  EmittedEvent,
  {
    type:
      | 'approval-asked'
      | 'approval-resolved'
      | 'answer-refused'
      | 'capability-start'
      | 'capability-end'
      | 'continuation'
      | 'capability-stop';
  }
>;

export const actionEmittedEvents = {
  start: (state: ActionState, slot: number): ActionEmittedEvent => {
    const call = callIn(state, slot);
    const { id = null, capability = '' } = call ?? {};
    return { type: 'capability-start', id, capability, index: resultIndex(state, call) };
  },
  continuation: (state: ActionState): ActionEmittedEvent => ({
    type: 'continuation',
    index: state.runs,
    decidedBy: state.decider === 'none' ? 'function' : state.decider,
    done: state.continuation?.done ?? null,
    finalOutput: state.continuation?.done ? state.continuation.finalOutput : null,
    next: state.calls.map(({ capability }) => capability),
    limitReached: state.continuation?.done === false && continuationLimitReached(state).holds,
  }),
  stop: ({ stopReason, runs, problem, results }: ActionState): ActionEmittedEvent => ({
    type: 'capability-stop',
    reason: stopReason,
    runs,
    failed: results.filter(({ success }) => !success).length,
    capabilityMs: results.reduce((sum, { durationMs }) => sum + durationMs, 0),
    code: problem?.code ?? null,
    problem: problem?.message ?? null,
  }),
};

/** What the events about a call that needs approval have in common. */
function callAsked(state: ActionState, call: AskedCall) {
  const { questionId, digest } = call.approval;
  const given = call.arguments as Extract<ActionEmittedEvent, { type: 'approval-asked' }>['arguments'];
  return { questionId, digest, capability: call.capability, arguments: given, index: resultIndex(state, call) };
}

/** Returns the questions that wait for an answer: those for the client first, because a client may have no way to answer the others. */
export function approvalQuestions(state: ActionState): readonly ActionEmittedEvent[] {
  const ofClient = ({ approval }: AskedCall): number => (approval.isClientTool ? 0 : 1);
  return pendingCalls(state)
    .toSorted((one, other) => ofClient(one) - ofClient(other))
    .map((call) => {
      const { reason, isClientTool } = call.approval;
      const mark = isClientTool && { isClientTool };
      return { type: 'approval-asked', ...callAsked(state, call), problem: reason || null, ...mark };
    });
}

/** Returns the decisions between two states of a step. */
export function approvalDecisions(before: ActionState, after: ActionState): readonly ActionEmittedEvent[] {
  const type = 'approval-resolved';
  return before.step.flatMap((call, at) => {
    const now = after.step[at];
    if (call.approval === undefined || now?.approval === undefined || now.approval === call.approval) return [];
    const { state, questionId, by, reason, original = null } = now.approval;
    if (questionId !== call.approval.questionId)
      return { type, ...callAsked(before, call as AskedCall), original, decision: 'invalid', by: 'user', reason };
    if (state === 'pending' || state === 'editing' || by === null) return [];
    return { type, ...callAsked(after, now as AskedCall), original, decision: state, by, reason };
  });
}

export function refusedApproval(state: ActionState, answer: ApprovalAnswer): ActionEmittedEvent {
  // While the program approves, the user has no question to answer.
  const isUser = state.approver === 'user' || awaitsApproval(state).holds;
  const question = isUser ? (pendingCalls(state)[0]?.approval.questionId ?? null) : null;
  const reason = (isUser && approvalRefusal(state, answer)) || 'no_question';
  return { type: 'answer-refused', event: 'approval.given', questionId: answer.questionId || null, question, reason };
}

/** Returns the ends of the calls of the step that have a result and are selected. */
export function callEnds(
  state: Pick<ActionState, 'results' | 'step'>,
  isSelected: (call: StepCall, at: number) => boolean,
): readonly ActionEmittedEvent[] {
  return state.step.flatMap((call, at) => {
    const { result } = call;
    return result === null || !isSelected(call, at)
      ? []
      : { type: 'capability-end', index: resultIndex(state, call), result };
  });
}

/** Returns the events that an aborted loop would have emitted as it ended. A stopped machine cannot emit them itself. */
export function abortedLoopEvents(loop: ActionState, cause: string): readonly ActionEmittedEvent[] {
  const { results, step } = loop;
  const ends = callEnds({ results, step: abortStep(loop, cause) }, (_, at) => step[at]?.result === null);
  return [...ends, actionEmittedEvents.stop(abortLoop(loop, cause))];
}
