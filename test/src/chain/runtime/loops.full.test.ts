import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { entriesOf, rulesOf, sendAnswer, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

/** Never large enough for Understanding to be selected. */
const thresholds = { crowdedMessages: 1_000 };
const MANY = { maxCycles: 60, maxModelCalls: 1e6, maxTokens: 1e9 };
const decisionsOf = (run: ReturnType<typeof startScripted>['run']) =>
  entriesOf(run, 'decision').map(({ decision }) => decision);

/** Answers that repeat after this many cycles, each with a next phase. */
const round = (turns: readonly (readonly [number, string])[], changes: (call: number) => object = () => ({})) => ({
  yield: (call: number) => {
    const [words, proposedPhase] = turns[(call - 1) % turns.length] ?? [0, 'action'];
    return unsureAnswer(words, { proposedPhase, ...changes(call) });
  },
});

describe('a looping run', () => {
  it('[Y7] of any length is stopped after one round, unlike a run that only visits the same phases', async () => {
    const target = fc.constantFrom(...PHASES);
    await fc.assert(
      fc.asyncProperty(fc.array(target, { minLength: 2, maxLength: 9 }), fc.nat(4), async (targets, start) => {
        const turns = targets.map((name, at) => [at, name] as const);
        const lead = round(turns, (call) => (call <= start ? unsureAnswer(100 + call) : {}));
        const { run } = startScripted({ yield: (call: number) => lead.yield(call) }, { limits: MANY, thresholds });
        await run.answer;
        const last = rulesOf(run).length;
        expect(rulesOf(run).at(-1)).toBe('loopDetected');
        expect(last).toBeGreaterThan(turns.length);
        expect(last).toBeLessThanOrEqual(turns.length + start + 1);
      }),
      { numRuns: sampleSize('loops', 8, 200) },
    );
  });

  it('[Y4] [Y7] is not detected when the user directs it', async () => {
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(call % 2) },
      { limits: MANY, thresholds },
      { mode: 'manual' },
    );
    for (const phase of ['yield', 'intention', 'yield', 'observation'] as const) {
      await settle();
      if (run.ref.getSnapshot().status === 'active') sendAnswer(run, { type: 'run.directed', phase });
    }
    await settle();
    expect(rulesOf(run).slice(0, 4)).toEqual(Array(4).fill('directedByUser'));
  });
});

describe('several applicable completion rules', () => {
  const sure = { confidence: 0.95, taskComplete: true };
  it.each([
    ['cycleLimitReached', { maxCycles: 2, maxModelCalls: 11 }, {}, sure],
    ['budgetExhausted', { maxModelCalls: 11 }, {}, sure],
    ['confidenceReached', {}, {}, sure],
    ['answerConverged', {}, {}, { ...sure, confidence: 0.9 }],
    ['taskComplete', {}, { change: 0 }, { ...sure, confidence: 0.9 }],
    ['loopDetected', {}, { change: 0 }, { confidence: 0.9 }],
  ])('[Y2] %s has priority over all that follow it', async (rule, limits, thresholds, second) => {
    const plan = { yield: (call: number) => unsureAnswer(1, call === 1 ? {} : second) };
    const { run } = startScripted(plan, { limits, thresholds });
    await run.answer;
    expect(rulesOf(run)).toEqual(['nextPhaseChosen', rule]);
    expect(decisionsOf(run)[1]).toMatchObject({
      complete: true,
      nextPhase: null,
      rationale: expect.stringMatching(/\(.*\d.*\)/),
    });
  });
});

describe('a loop of reworded answers', () => {
  const ANSWERS = [
    'The lantern was lit by the keeper at dusk.',
    'The diary of the harbor mentions no keeper, only a fisherman with a lantern.',
    'At dusk, the keeper lit the lantern.',
    'Only a fisherman with a lantern, and no keeper, is mentioned in the diary of the harbor.',
  ];
  const startWith = (answers: readonly string[], options: object = {}) =>
    startScripted(
      { yield: (call: number) => unsureAnswer(0, { answer: answers[(call - 1) % answers.length] }) },
      { limits: MANY, thresholds, ...options },
    ).run;

  it('[Y7] A/B/A/B is stopped when the first answer returns in other words', async () => {
    const run = startWith(ANSWERS);
    const { metadata } = await run.answer;
    expect(rulesOf(run)).toEqual(['nextPhaseChosen', 'nextPhaseChosen', 'loopDetected']);
    expect(metadata.reason).toBe('loop_detected');
  });
});

describe('a decision to continue', () => {
  it('[Y6] has the continuation prompt of the next cycle; one to complete has none', async () => {
    const { run, model } = startScripted({ yield: (call: number) => unsureAnswer(call) }, { limits: { maxCycles: 2 } });
    await run.answer;
    const prompts = entriesOf(run, 'decision').map(({ continuationPrompt }) => continuationPrompt);
    expect(prompts).toEqual(['Is it so?\nAnswer again with what is known now.', null]);
    expect(model.calls.findLast(({ task }) => task === 'yield')?.input).toMatchObject({ prompt: prompts[0] });
  });
});

describe('an answer that is good when the cycle limit is reached', () => {
  it('[E5] [Y2] is complete, and its notes say that the limit was reached', async () => {
    const { run } = startScripted({ yield: unsureAnswer(1, { confidence: 0.99 }) }, { limits: { maxCycles: 1 } });
    const { status, ttlExhausted, notes, metadata } = await run.answer;
    expect({ status, ttlExhausted, reason: metadata.reason, rule: metadata.decision?.rule }).toEqual({
      status: 'completed',
      ttlExhausted: true,
      reason: null,
      rule: 'cycleLimitReached',
    });
    expect(notes).toBe('The limit of 1 cycle was reached.');
  });
});
