import type { ActionState, StepCall } from '../contracts/action-state.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import { abortLoop, abortStep, callIn, continuationLimitReached, resultIndex } from '../policies/capability-loop.ts';

export type ActionEmittedEvent = Extract<
  EmittedEvent,
  { type: 'capability-start' | 'capability-end' | 'continuation' | 'capability-stop' }
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
