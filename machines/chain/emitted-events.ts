import type { ChainState } from '../contracts/chain-state.ts';
import type { ConsentGiver } from '../contracts/context.ts';
import type { EmittedEvent } from '../contracts/events.ts';
import type { Phase } from '../contracts/phase.ts';
import type { RecalledSession } from '../contracts/session.ts';
import { NO_DECISION } from '../policies/decisions.ts';
import { NO_FAILURE } from '../policies/failures.ts';
import { NO_STATISTICS } from '../policies/retention/statistics.ts';
import { fittingTurns, recalledMessages } from '../policies/session.ts';
import { answerOf } from '../policies/synthesis/state.ts';
import { preview } from '../text/summary.ts';

/** What the chart says of itself: the state's view of each fact, for whoever listens and for the journal. */
export const emittedEvents = {
  phaseStart: ({ recursion: { cycle, step } }: ChainState, phase: Phase): EmittedEvent => ({
    type: 'phase-start',
    phase,
    cycle,
    step,
  }),
  phaseEnd: ({ recursion: { cycle, step }, envelope, failure }: ChainState, phase: Phase): EmittedEvent => ({
    type: 'phase-end',
    phase,
    cycle,
    step,
    summary: failure === null ? preview(envelope.content, 160) : '',
    failure: failure?.failure ?? null,
  }),
  operations: ({ recursion: { step }, applied }: ChainState, phase: Phase): EmittedEvent => ({
    type: 'operations',
    phase,
    step,
    applied: [...applied],
  }),
  recovery: ({ failure, direction }: ChainState, how: 'again' | 'skip' | 'finish'): EmittedEvent => ({
    type: 'recovery',
    phase: direction,
    how,
    failure: failure?.failure ?? NO_FAILURE,
  }),
  contextEvaluated: ({ results: { understanding } }: ChainState): EmittedEvent => ({
    type: 'context-evaluated',
    step: understanding?.step ?? 0,
    statistics: understanding?.statistics ?? NO_STATISTICS,
    pruningLog: [...(understanding?.pruningLog ?? [])],
    problem: understanding?.problem ?? null,
  }),
  consentResolved: ({ evaluation }: ChainState, by: ConsentGiver): EmittedEvent => {
    const said = (evaluation?.operations ?? []).map(({ metadata }) => metadata['consent']);
    const count = (choice: string): number => said.filter((one) => one === choice).length;
    return {
      type: 'consent-resolved',
      kept: count('keep'),
      summarised: count('summarise'),
      removed: count('remove'),
      by,
    };
  },
  decision: (state: ChainState): EmittedEvent => ({
    type: 'decision',
    decision: state.decision ?? NO_DECISION,
  }),
  sessionRecalled: (state: ChainState, recalled: RecalledSession): EmittedEvent => {
    const { turns, problem } = fittingTurns(state, recalled);
    return {
      type: 'session-recalled',
      sessionId: state.sessionId ?? '',
      turns: turns.length,
      messages: [...recalledMessages(turns, state.messages)],
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
