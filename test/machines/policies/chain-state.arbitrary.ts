import fc from 'fast-check';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { Interruption } from '../../../machines/contracts/decision.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import type { UnderstandingReply } from '../../../machines/contracts/phase-io.ts';
import { FALLBACKS, type SynthesisOutcome, type SynthesisReply } from '../../../machines/contracts/synthesis.ts';
import { decideToComplete, decideToContinue } from '../../../machines/policies/decisions.ts';
import {
  applyEvaluation,
  settleAssessment,
  settleEvaluation,
  settlePhase,
  timeOutPhase,
} from '../../../machines/policies/outcomes.ts';
import { isPhase } from '../../../machines/policies/phase-selection.ts';
import { enterPhase, initialState } from '../../../machines/policies/progress.ts';
import { evaluateYieldRules, ruleResult, YIELD_RULES, type YieldRule } from '../../../machines/policies/yield-rules.ts';
import { contextArbitrary, prose } from './context.arbitrary.ts';
import { passages, replies, synthesisReply } from './replies.arbitrary.ts';
import { aChainInput, failed, someLimits, succeeded } from './states.ts';

/** What happens to one phase of a run. */
type Step = {
  readonly how: 'value' | 'failure' | 'late';
  readonly found: ReturnType<typeof foundOf>;
  readonly values: Values;
};
type Values = { readonly [P in Phase]: unknown };

const foundOf = (all: unknown) => ({ found: { query: 'q', passages: all as [], widened: false }, failure: null });

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  how: fc.constantFrom('value', 'value', 'value', 'value', 'failure', 'late'),
  found: passages.map(foundOf),
  values: fc.record(replies) as fc.Arbitrary<Values>,
});

const RULES = Object.keys(YIELD_RULES) as YieldRule[];

/** The run after some steps, as the chart would lead it: a failed phase is skipped, a complete one goes no further. */
function walk(start: ChainState, steps: readonly Step[]): ChainState {
  let state = start;
  const change = (changes: Partial<ChainState>) => {
    state = { ...state, ...changes };
  };
  let phase: Phase = state.direction;
  for (const { how, found, values } of steps) {
    change(enterPhase(state, phase));
    if (phase === 'experience') change({ retrieval: found });
    if (how === 'late') change(timeOutPhase(state, phase));
    else if (how === 'failure') change(settlePhase(state, phase, failed()));
    else if (phase === 'understanding') {
      change(settleEvaluation(state, succeeded(values.understanding as UnderstandingReply)));
      change(applyEvaluation(state));
    } else if (phase === 'yield') change(settleAssessment(state, succeeded(values.yield)));
    else change(settlePhase(state, phase, succeeded(values[phase])));
    if (phase !== 'yield') {
      phase = PHASES[PHASES.indexOf(phase) + 1] ?? 'action';
      continue;
    }
    if (how !== 'value') return { ...state, interruption: { kind: 'phase_failed' } };
    change(evaluateYieldRules(state));
    const rule = RULES.find((name) => ruleResult(state, name).holds);
    if (rule !== undefined) return { ...state, ...decideToComplete(state, rule) };
    const proposal = state.assessment?.proposal ?? '';
    phase = isPhase(proposal) ? proposal : 'action';
    change(decideToContinue(state, isPhase(proposal) ? 'nextPhaseChosen' : 'nextPhaseInvalid', phase));
  }
  return state;
}

const interruption: fc.Arbitrary<Interruption | null> = fc.option(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('cancelled' as const, 'interrupted' as const), reason: fc.string() }),
    fc.record({
      kind: fc.constantFrom('finished_by_user', 'deadline', 'budget', 'phase_failed', 'model_unavailable'),
    }) as fc.Arbitrary<Interruption>,
  ),
);

const inputArbitrary = fc
  .record({
    request: prose,
    origin: fc.constantFrom(...PHASES),
    mode: fc.constantFrom('automatic' as const, 'manual' as const),
    startedAtMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
    limits: fc
      .record({ maxCycles: fc.integer({ min: 1, max: 5 }), synthesisReserveTokens: fc.constantFrom(0, 8_000) })
      .map(someLimits),
    messages: contextArbitrary,
  })
  .map(aChainInput);

const usage = { modelCalls: 1, inputTokens: 20, outputTokens: 10, estimated: true, cost: null };
const synthesisOutcome: fc.Arbitrary<SynthesisOutcome> = fc.oneof(
  fc.record({
    type: fc.constant('written' as const),
    reply: synthesisReply as fc.Arbitrary<SynthesisReply>,
    usage: fc.constant(usage),
  }),
  fc.record({
    type: fc.constant('failed' as const),
    fallback: fc.constantFrom(...FALLBACKS),
    error: fc.constantFrom('it timed out', 'the reply did not validate'),
    usage: fc.constant(usage),
  }),
);

/** States that a run can be in when its answer is composed, from nothing done at all to several cycles. */
export const chainStateArbitrary: fc.Arbitrary<ChainState> = fc
  .record({
    input: inputArbitrary,
    steps: fc.array(stepArbitrary, { maxLength: 16 }),
    interrupted: interruption,
    written: fc.option(synthesisOutcome),
  })
  .map(({ input, steps, interrupted, written }) => {
    const state = walk(initialState(input), steps);
    return {
      ...state,
      interruption: state.decision?.complete ? null : (interrupted ?? state.interruption),
      written,
    };
  });
