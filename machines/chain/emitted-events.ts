import { abortedLoopEvents } from '../action/emitted-events.ts';
import type { ChainState, EarlyCall } from '../contracts/chain-state.ts';
import type { ConsentChoice, ConsentGiver } from '../contracts/context.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import type { RecalledSession } from '../contracts/session.ts';
import { consentRequest, type Overruled } from '../policies/consent.ts';
import { NO_DECISION, recommendation } from '../policies/decisions.ts';
import { aborted, NO_FAILURE } from '../policies/failures.ts';
import { usageOfEarly } from '../policies/phase-calls.ts';
import { DEFAULT_PHASE, phaseFailure, phaseInProgress, visibleMessages } from '../policies/progress.ts';
import { recallMessages } from '../policies/session.ts';
import { answerOf } from '../policies/synthesis/value.ts';
import { NO_STATISTICS } from '../policies/understanding.ts';
import { preview } from '../text/summary.ts';

/** The events that the chain emits, each built from its state. */
export const emittedEvents = {
  phaseStart: ({ recursion: { cycle, step }, phase }: ChainState): EmittedEvent => ({
    type: 'phase-start',
    phase,
    cycle,
    step,
  }),
  phaseEnd: ({ recursion: { cycle, step }, phase, envelope, failure, results }: ChainState): EmittedEvent => ({
    type: 'phase-end',
    phase,
    cycle,
    step,
    summary: failure === null ? preview(envelope.content, 160) : '',
    failure: failure?.failure ?? null,
    ...(failure === null && { attemptId: results[phase]?.attemptId ?? null }),
  }),
  operations: ({ recursion: { step }, phase, applied }: ChainState): EmittedEvent => ({
    type: 'operations',
    phase,
    step,
    applied: [...applied],
  }),
  earlyStart: ({ attemptId, task, phases, call: { model } }: EarlyCall): EmittedEvent => ({
    type: 'attempt-start',
    attemptId,
    task,
    attempt: 1,
    model,
    ...(phases && { phases: [...phases] }),
  }),
  earlyEnd: (early: EarlyCall): EmittedEvent => ({
    type: 'attempt-end',
    attemptId: early.attemptId,
    task: early.task,
    attempt: 1,
    failure: early.result === null ? aborted('the early call was not needed') : early.result.failure,
    usage: usageOfEarly(early),
    ...(early.result?.repaired && { repaired: early.result.repaired }),
  }),
  recovery: ({ failure, direction }: ChainState, action: 'repeat' | 'skip' | 'finish'): EmittedEvent => ({
    type: 'recovery',
    phase: direction,
    action,
    failure: failure?.failure ?? NO_FAILURE,
  }),
  contextEvaluated: ({ results: { understanding } }: ChainState): EmittedEvent => ({
    type: 'context-evaluated',
    step: understanding?.step ?? 0,
    statistics: understanding?.statistics ?? NO_STATISTICS,
    pruningLog: [...(understanding?.pruningLog ?? [])],
    problem: understanding?.problem ?? null,
  }),
  consentAsked: (state: ChainState): EmittedEvent => ({
    type: 'consent-asked',
    questionId: state.question ?? '',
    request: consentRequest(state.evaluation?.operations ?? [], visibleMessages(state)) ?? { items: [] },
  }),
  consentResolved: ({ evaluation }: ChainState, by: ConsentGiver): EmittedEvent => {
    const choices = (evaluation?.operations ?? []).map(({ metadata }) => metadata['consent']);
    const count = (choice: string): number => choices.filter((one) => one === choice).length;
    return {
      type: 'consent-resolved',
      kept: count('keep'),
      summarized: count('summarize'),
      removed: count('remove'),
      by,
    };
  },
  contextOverruled: ({ messageId, undone, problem }: Overruled, choice: ConsentChoice | null): EmittedEvent => ({
    type: 'context-overruled',
    messageId,
    choice,
    undone: [...undone],
    problem,
  }),
  directionAsked: (state: ChainState): EmittedEvent => ({
    type: 'direction-asked',
    questionId: state.question ?? '',
    cycle: state.recursion.cycle,
    proposal: state.assessment?.proposal ?? DEFAULT_PHASE,
    answer: state.assessment?.answer ?? '',
    confidence: state.assessment?.confidence ?? 0,
    recommendation: recommendation(state),
  }),
  decision: ({ decision, recursion }: ChainState): EmittedEvent => ({
    type: 'decision',
    decision: decision ?? NO_DECISION,
    continuationPrompt: decision?.complete ? null : recursion.continuationPrompt,
  }),
  sessionRecalled: (state: ChainState, recalled: RecalledSession): EmittedEvent => {
    const { turns, messages, problem } = recallMessages(state, recalled);
    return {
      type: 'session-recalled',
      sessionId: state.sessionId ?? '',
      turns,
      messages: [...messages],
      problem,
    };
  },
  sessionStored: ({ sessionId }: ChainState, problem: string | null): EmittedEvent => ({
    type: 'session-stored',
    sessionId: sessionId ?? '',
    problem,
  }),
  answer: (state: ChainState): EmittedEvent => ({ type: 'answer', answer: state.answer ?? answerOf(state) }),
};

/**
 * Returns the events that an abort causes: a capability loop in flight ends with its results, and Action with it; any other phase
 * in progress ends with its failure, by default `aborted`. `state` is the state after the abort.
 */
export function abortEvents(before: ChainState, state: ChainState, cause: string): EmittedEvent[] {
  const { loop } = before.inFlight;
  if (loop !== null)
    return [...abortedLoopEvents(loop, cause), emittedEvents.phaseEnd(state), emittedEvents.operations(state)];
  if (!phaseInProgress(before)) return [];
  return [
    emittedEvents.phaseEnd({ ...state, failure: state.failure ?? phaseFailure(state, state.phase, aborted(cause)) }),
  ];
}
