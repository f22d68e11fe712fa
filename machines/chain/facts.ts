import type { ChainFact } from '../contracts/chain-fact.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { ConsentGiver } from '../contracts/consent.ts';
import type { Phase } from '../contracts/phase.ts';
import type { RecalledSession } from '../contracts/session.ts';
import { NO_DECISION } from '../policies/decisions.ts';
import { NO_FAILURE } from '../policies/failures.ts';
import { fittingTurns, recalledMessages } from '../policies/recalled-turns.ts';
import { NO_STATISTICS } from '../policies/retention/statistics.ts';
import { preview } from '../policies/summary.ts';
import { answerOf } from '../policies/synthesis/state.ts';

/** What the chart says of itself: the state's view of each fact, for whoever listens and for the journal. */
export const chainFacts = {
  phaseStart: ({ recursion: { cycle, step } }: ChainState, phase: Phase): ChainFact => ({
    type: 'phase-start',
    phase,
    cycle,
    step,
  }),
  phaseEnd: ({ recursion: { cycle, step }, envelope, failure }: ChainState, phase: Phase): ChainFact => ({
    type: 'phase-end',
    phase,
    cycle,
    step,
    summary: failure === null ? preview(envelope.content, 160) : '',
    failure: failure?.failure ?? null,
  }),
  operations: ({ recursion: { step }, applied }: ChainState, phase: Phase): ChainFact => ({
    type: 'operations',
    phase,
    step,
    applied: [...applied],
  }),
  recovery: ({ failure, direction }: ChainState, how: 'again' | 'skip' | 'finish'): ChainFact => ({
    type: 'recovery',
    phase: direction,
    how,
    failure: failure?.failure ?? NO_FAILURE,
  }),
  contextEvaluated: ({ results: { understanding } }: ChainState): ChainFact => ({
    type: 'context-evaluated',
    step: understanding?.step ?? 0,
    statistics: understanding?.statistics ?? NO_STATISTICS,
    pruningLog: [...(understanding?.pruningLog ?? [])],
    problem: understanding?.problem ?? null,
  }),
  consentResolved: ({ evaluation }: ChainState, by: ConsentGiver): ChainFact => {
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
  decision: (state: ChainState): ChainFact => ({
    type: 'decision',
    decision: state.decision ?? NO_DECISION,
  }),
  sessionRecalled: (state: ChainState, recalled: RecalledSession): ChainFact => {
    const { turns, problem } = fittingTurns(state, recalled);
    return {
      type: 'session-recalled',
      sessionId: state.sessionId ?? '',
      turns: turns.length,
      messages: [...recalledMessages(turns, state.messages)],
      problem,
    };
  },
  sessionStored: ({ sessionId }: ChainState, problem: string | null): ChainFact => ({
    type: 'session-stored',
    sessionId: sessionId ?? '',
    problem,
  }),
  answer: (state: ChainState): ChainFact => ({ type: 'answer', answer: state.answer ?? answerOf(state) }),
};
