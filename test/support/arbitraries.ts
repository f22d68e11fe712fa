import fc from 'fast-check';
import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { ContextOperation } from '../../machines/contracts/context.ts';
import type { Interruption } from '../../machines/contracts/decision.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { PHASES, type Phase } from '../../machines/contracts/phase.ts';
import type { UnderstandingReply } from '../../machines/contracts/phase-io.ts';
import type { SynthesisOutcome, SynthesisReply } from '../../machines/contracts/synthesis.ts';
import { decideToComplete, decideToContinue } from '../../machines/policies/decisions.ts';
import { applyEvaluation, finishPhase, recordEvaluation, timeOutPhase } from '../../machines/policies/outcomes.ts';
import { enterPhase, initialState, isPhase } from '../../machines/policies/progress.ts';
import { YIELD_RULES, type YieldRule } from '../../machines/policies/yield-rules.ts';
import {
  aCapabilityResult,
  aChainInput,
  aMessage,
  aPassage,
  failed,
  someLimits,
  succeeded,
} from './contract-samples.ts';

/** Ids that operations aim at: few, so that they often hit, and one that is never there. */
const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
const target = fc.constantFrom(...ids, 'nobody');

export const unit = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
const wordArbitrary = fc.constantFrom(
  'bridge',
  'opened',
  'year',
  'harbour',
  'cost',
  'steel',
  'the',
  'of',
  'naïve',
  '1932',
  '🌉',
);
export const prose = fc.array(wordArbitrary, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '));
/** Any text that says something: blank texts have tests of their own. */
export const anyText = fc.oneof(
  prose,
  fc.string({ unit: 'grapheme', maxLength: 300 }).filter((text) => text.trim() !== ''),
);

const tags = fc.subarray(['draft', 'pinned', 'critical', 'important', 'kept-by-user']);
const linkArbitrary = fc.record({ to: target, relation: fc.constantFrom('supports', 'contradicts'), strength: unit });

const messageArbitrary = (id: string): fc.Arbitrary<Message> =>
  fc
    .record({
      role: fc.constantFrom('user' as const, 'assistant' as const, 'search' as const),
      phase: fc.option(fc.constantFrom(...PHASES)),
      content: fc.oneof(
        { weight: 6, arbitrary: anyText },
        { weight: 2, arbitrary: prose.map((text) => `${text} `.repeat(8)) },
        { weight: 1, arbitrary: fc.constant('') },
      ),
      cycle: fc.integer({ min: 0, max: 8 }),
      tags,
      importance: unit,
      links: fc.array(linkArbitrary, { maxLength: 3 }),
      references: fc.array(target, { maxLength: 3 }),
    })
    .map((changes) => aMessage({ id, ...changes }));

/** A context of up to eight messages with ids of their own, in any order. */
export const contextArbitrary: fc.Arbitrary<readonly Message[]> = fc
  .shuffledSubarray([...ids])
  .chain((chosen) => fc.tuple(...chosen.map(messageArbitrary)));

const operationFields = {
  id: fc.constant('o'),
  target,
  code: fc.constant('related' as const),
  reason: fc.constant('why'),
  metadata: fc.constant({}),
};

export const operationArbitrary: fc.Arbitrary<ContextOperation> = fc.oneof(
  target.chain((id) =>
    messageArbitrary(id).map(
      (message): ContextOperation => ({
        operation: 'ADD',
        id: 'o',
        target: id,
        data: { message },
        code: 'search_result',
        reason: 'why',
        metadata: {},
      }),
    ),
  ),
  fc.record({
    operation: fc.constant('TAG' as const),
    ...operationFields,
    data: fc.record({ tags: fc.constant<string[]>(['x', 'y']) }),
  }),
  fc.record({ operation: fc.constant('PRUNE' as const), ...operationFields, data: fc.constant({}) }),
  fc.record({
    operation: fc.constant('TRANSFORM' as const),
    ...operationFields,
    data: fc.record({
      transformation: fc.constant('summarize' as const),
      content: fc.constant('short'),
      maxChars: fc.constant(100),
      originalChars: fc.constant(1_000),
    }),
  }),
  fc.record({ operation: fc.constant('LINK' as const), ...operationFields, data: linkArbitrary }),
  fc.record({
    operation: fc.constant('PRIORITIZE' as const),
    ...operationFields,
    data: fc.record({ importance: unit }),
  }),
);

/** Replies as a model may give them: valid by their schemas, with ids that are there and ids that are not. */

const replyText = fc.oneof({ weight: 5, arbitrary: anyText }, { weight: 1, arbitrary: fc.constantFrom('', '  ') });
const messageId = fc.constantFrom('request', 's1.m1', 's1.m2', 's2.m1', 's4.m1', 's6.m1', 'p1', 'p2', 'nobody');
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 4 });

const passagesArbitrary = fc
  .subarray(['p1', 'p2', 'p3'])
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) => fc.record({ text: anyText, relevance: unit }).map((rest) => aPassage({ id, ...rest }))),
    ),
  );

export const replyArbitraries: { readonly [P in Phase]: fc.Arbitrary<unknown> } = {
  action: fc.record({
    reply: fc.record({
      response: replyText,
      confidence: unit,
      calls: fc.array(fc.record({ capability: fc.string(), arguments: fc.json() }), { maxLength: 3 }),
    }),
    prose: fc.boolean(),
    problem: fc.option(fc.string()),
    results: few(
      fc
        .record({ success: fc.boolean(), output: replyText })
        .map(({ success, output }) => aCapabilityResult({ success, output, error: success ? null : 'it broke' })),
    ),
    runs: fc.nat(5),
    stopReason: fc.constantFrom('nothing_to_run', 'done', 'limit_reached', 'invalid_next_step'),
    memory: fc.constant([]),
  }),
  experience: fc.record({
    summary: replyText,
    relevantPassageIds: few(messageId),
    missing: few(replyText),
    confidence: unit,
  }),
  intention: fc.record({
    goal: replyText,
    alternatives: few(replyText),
    clarity: unit,
    unclearIntent: fc.boolean(),
    alignment: few(fc.record({ messageId, score: unit })),
  }),
  observation: fc.record({
    insights: few(replyText),
    undigested: fc.boolean(),
    entities: few(fc.record({ name: replyText, messageIds: few(messageId) })),
    connections: few(fc.record({ from: messageId, to: messageId, relation: replyText, strength: unit })),
    importance: few(fc.record({ messageId, score: unit })),
  }),
  understanding: fc.record({
    integrated: replyText,
    assessments: few(fc.record({ messageId, relevance: unit, reason: replyText })),
  }),
  yield: fc.record({
    answer: replyText,
    confidence: unit,
    taskComplete: fc.boolean(),
    informationSufficiency: unit,
    needsTools: fc.boolean(),
    proposedPhase: fc.option(fc.oneof(fc.constantFrom<string>(...PHASES), fc.string())),
    rationale: replyText,
    usedMessageIds: few(messageId),
    noEvidence: fc.boolean(),
    notes: replyText,
  }),
};

export const synthesisReplyArbitrary = fc.record({
  answerText: anyText.map((text) => text.trim()),
  confidence: unit,
  usedMessageIds: few(messageId),
  usedStepIds: few(fc.constantFrom('s1', 's3', 's6', 'nobody')),
  notes: replyText,
});

/** What happens to one phase of a run. */
type Step = {
  readonly how: 'value' | 'failure' | 'late';
  readonly found: ReturnType<typeof retrievalOf>;
  readonly values: Values;
};
type Values = { readonly [P in Phase]: unknown };

const retrievalOf = (all: unknown) => ({ found: { query: 'q', passages: all as [], widened: false }, failure: null });

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  how: fc.constantFrom('value', 'value', 'value', 'value', 'failure', 'late'),
  found: passagesArbitrary.map(retrievalOf),
  values: fc.record(replyArbitraries) as fc.Arbitrary<Values>,
});

const RULES = Object.keys(YIELD_RULES) as YieldRule[];

/** The run after some steps, as the chart would lead it: a failed phase is skipped, a complete one goes no further. */
function runSteps(start: ChainState, steps: readonly Step[]): ChainState {
  let state = start;
  const change = (changes: Partial<ChainState>) => {
    state = { ...state, ...changes };
  };
  let phase: Phase = state.direction;
  for (const { how, found, values } of steps) {
    change(enterPhase(state, phase));
    if (phase === 'experience') change({ retrieval: found });
    if (how === 'late') change(timeOutPhase(state, phase));
    else if (how === 'failure') change(finishPhase(state, phase, failed()));
    else if (phase === 'understanding') {
      change(recordEvaluation(state, succeeded(values.understanding as UnderstandingReply)));
      change(applyEvaluation(state));
    } else if (phase === 'yield') change(finishPhase(state, 'yield', succeeded(values.yield)));
    else change(finishPhase(state, phase, succeeded(values[phase])));
    if (phase !== 'yield') {
      phase = PHASES[PHASES.indexOf(phase) + 1] ?? 'action';
      continue;
    }
    if (how !== 'value') return { ...state, interruption: { kind: 'phase_failed' } };
    const rule = RULES.find((name) => YIELD_RULES[name].evaluate(state).holds);
    if (rule !== undefined) return { ...state, ...decideToComplete(state, rule) };
    const proposal = state.assessment?.proposal ?? '';
    phase = isPhase(proposal) ? proposal : 'action';
    change(decideToContinue(state, isPhase(proposal) ? 'nextPhaseChosen' : 'nextPhaseInvalid', phase));
  }
  return state;
}

const interruptionArbitrary: fc.Arbitrary<Interruption | null> = fc.option(
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
const synthesisOutcomeArbitrary: fc.Arbitrary<SynthesisOutcome> = fc.oneof(
  fc.record({
    type: fc.constant('written' as const),
    prose: fc.constant(false),
    reply: synthesisReplyArbitrary as fc.Arbitrary<SynthesisReply>,
    usage: fc.constant(usage),
  }),
  fc.record({
    type: fc.constant('failed' as const),
    fallback: fc.constantFrom('prompt', 'model', 'validation', 'other'),
    error: fc.constantFrom('it timed out', 'the reply did not validate'),
    usage: fc.constant(usage),
  }),
);

/** States that a run can be in when its answer is composed, from nothing done at all to several cycles. */
export const chainStateArbitrary: fc.Arbitrary<ChainState> = fc
  .record({
    input: inputArbitrary,
    steps: fc.array(stepArbitrary, { maxLength: 16 }),
    interrupted: interruptionArbitrary,
    written: fc.option(synthesisOutcomeArbitrary),
  })
  .map(({ input, steps, interrupted, written }) => {
    const state = runSteps(initialState(input), steps);
    return {
      ...state,
      interruption: state.decision?.complete ? null : (interrupted ?? state.interruption),
      written,
    };
  });
