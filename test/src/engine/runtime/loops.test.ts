import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { entriesOf, rulesOf, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

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
  it.each([
    [
      'A → B → A',
      [
        [1, 'experience'],
        [2, 'observation'],
      ],
    ],
    [
      'A → B → A within one phase',
      [
        [1, 'action'],
        [2, 'action'],
      ],
    ],
    [
      'A → B → C → A',
      [
        [1, 'experience'],
        [2, 'observation'],
        [3, 'understanding'],
      ],
    ],
    [
      'A → B → C → D → A',
      [
        [1, 'yield'],
        [2, 'intention'],
        [3, 'yield'],
        [4, 'action'],
      ],
    ],
  ] as const)('[Y7] [Y8] with %s is stopped when the loop closes, and says so', async (_, turns) => {
    const { run } = startScripted(round(turns), { limits: MANY, thresholds });
    const { metadata, status } = await run.answer;
    expect(rulesOf(run)).toEqual([...turns.map(() => 'nextPhaseChosen'), 'loopDetected']);
    expect(decisionsOf(run).at(-1)).toMatchObject({
      complete: true,
      nextPhase: null,
      inputs: { repeats: 1, loopRepeats: 2 },
    });
    expect({ status, reason: metadata.reason }).toEqual({ status: 'degraded', reason: 'loop_detected' });
  });

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
      { numRuns: 25 },
    );
  });

  it('[Y7] with other word forms, case, and punctuation is the same loop', async () => {
    const said = ['It was opened in May.', 'Nobody knows.', 'it was  OPENED in May!'];
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(0, { answer: said[call - 1] }) },
      { limits: MANY, thresholds },
    );
    await run.answer;
    expect(rulesOf(run)).toEqual(['nextPhaseChosen', 'nextPhaseChosen', 'loopDetected']);
  });

  it('[Y7] may repeat as often as `loopRepeats` allows', async () => {
    const { run } = startScripted(
      round([
        [1, 'action'],
        [2, 'action'],
      ]),
      { limits: MANY, thresholds: { ...thresholds, loopRepeats: 4 } },
    );
    await run.answer;
    expect(rulesOf(run)).toHaveLength(7);
    expect(rulesOf(run).at(-1)).toBe('loopDetected');
  });

  it('[Y7] is not detected for the same answer toward another phase, or another answer toward the same phase', async () => {
    const turns = [
      [1, 'experience'],
      [2, 'action'],
      [1, 'observation'],
      [3, 'action'],
      [1, 'intention'],
      [4, 'experience'],
    ] as const;
    const { run } = startScripted(round(turns), { limits: { ...MANY, maxCycles: turns.length }, thresholds });
    await run.answer;
    expect(rulesOf(run)).toEqual([...turns.slice(1).map(() => 'nextPhaseChosen'), 'cycleLimitReached']);
  });

  it('[Y4] [Y7] is not detected when the user directs it', async () => {
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(call % 2) },
      { limits: MANY, thresholds },
      { mode: 'manual' },
    );
    for (const phase of ['yield', 'intention', 'yield', 'observation'] as const) {
      await settle();
      if (run.actor.getSnapshot().status === 'active') run.send({ type: 'run.directed', phase });
    }
    await settle();
    expect(rulesOf(run).slice(0, 4)).toEqual(Array(4).fill('directedByUser'));
    run.cancel();
    await run.answer;
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
