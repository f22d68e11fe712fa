import type { ActionState } from '../contracts/action-state.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import { abortLoop, continuationLimitReached, failedResult } from '../policies/capability-loop.ts';

export type ActionEmittedEvent = Extract<
  EmittedEvent,
  { type: 'capability-start' | 'capability-end' | 'continuation' | 'capability-stop' }
>;

export const actionEmittedEvents = {
  start: ({ call, results }: ActionState): ActionEmittedEvent => ({
    type: 'capability-start',
    capability: call?.capability ?? '',
    index: results.length + 1,
  }),
  end: (state: ActionState): ActionEmittedEvent => ({
    type: 'capability-end',
    index: state.results.length,
    result: state.results.at(-1) ?? failedResult(state, 'threw', 'no result', 0),
  }),
  continuation: (state: ActionState): ActionEmittedEvent => ({
    type: 'continuation',
    index: state.runs,
    decidedBy: state.decider === 'none' ? 'function' : state.decider,
    done: state.continuation?.done ?? null,
    next: state.call?.capability ?? null,
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

/** Returns the events that an aborted loop would have emitted as it ended. A stopped machine cannot emit them itself. */
export function abortedLoopEvents(loop: ActionState, cause: string): readonly ActionEmittedEvent[] {
  const ended = abortLoop(loop, cause);
  return [...(loop.begun > loop.runs ? [actionEmittedEvents.end(ended)] : []), actionEmittedEvents.stop(ended)];
}
