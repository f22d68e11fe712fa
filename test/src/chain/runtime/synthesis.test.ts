import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { type AnswerMaterial, type FinalAnswer, finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { definePrompt } from '../../../../src/chain/prompts/prompt.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  entriesOf,
  type ScriptedRun,
  settle,
  startBareChain,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

const unsure = { yield: (call: number) => unsureAnswer(call) };
const same = { yield: () => ({ ...unsureAnswer(1), taskComplete: false }) };
const hanging = { observation: { hang: true } } as const;

/** Every way to end the loop, and the expected status and reason. */
const EXITS: readonly [string, () => ScriptedRun, (started: ScriptedRun) => void, Partial<FinalAnswer['metadata']>][] =
  [
    ['a rule of Yield', () => startScripted(), () => {}, { reason: null, cycles: 1 }],
    [
      'the cycle limit',
      () => startScripted(unsure, { limits: { maxCycles: 2 } }),
      () => {},
      { reason: 'cycle_limit_reached', cycles: 2 },
    ],
    [
      'the budget',
      () => startScripted(unsure, { limits: { maxModelCalls: 8 } }),
      () => {},
      { reason: 'budget_exhausted' },
    ],
    ['a loop', () => startScripted(same, { thresholds: { change: 0 } }), () => {}, { reason: 'loop_detected' }],
    [
      'the deadline',
      () => startScripted(hanging, { limits: { totalMs: 4_000 } }),
      ({ clock }) => clock.increment(3_000),
      { reason: 'deadline_passed' },
    ],
    ['a user cancellation', () => startScripted(hanging), ({ run }) => run.cancel(), { reason: 'cancelled' }],
    [
      'a host interruption',
      () => startScripted(hanging),
      ({ run }) => run.send({ type: 'run.interrupted' }),
      { reason: 'interrupted' },
    ],
    [
      'a user request for the answer',
      () => startScripted(hanging),
      ({ run }) => run.send({ type: 'run.finished' }),
      { reason: 'zero_passes' },
    ],
    [
      'an unavailable model',
      () => startScripted({ intention: { failure: { retryable: false } } }),
      () => {},
      { reason: 'model_unavailable' },
    ],
    ['a failing Yield', () => startScripted({ yield: { text: '{}' } }), () => {}, { reason: 'incomplete_state' }],
    ['a stopped actor', () => startScripted(hanging), ({ run }) => run.actor.stop(), { reason: 'interrupted' }],
  ];

describe('the end of a run', () => {
  it.each(EXITS)('[E3] [E7] by %s has an answer in its result and journal', async (_, start, end, wanted) => {
    const started = start();
    await settle();
    end(started);
    const answer = await started.run.answer;
    expect(finalAnswerSchema.parse(answer)).toEqual(answer);
    expect(answer.metadata).toMatchObject(wanted);
    expect(entriesOf(started.run, 'answer').map((entry) => entry.answer)).toEqual([answer]);
  });

  it('[E2] passes the results of all its cycles to synthesis', async () => {
    const { run, model } = startScripted(unsure, { limits: { maxCycles: 2 } });
    await run.answer;
    const { input } = model.calls.at(-1) ?? {};
    const { steps } = input as AnswerMaterial;
    const ran = entriesOf(run, 'phase-start').map(({ phase }) => phase);
    expect(ran.length).toBeGreaterThan(PHASES.length);
    expect(steps.map(({ phase }) => phase)).toEqual(ran);
    expect(new Set(steps.map(({ stepId }) => stepId)).size).toBe(ran.length);
  });

  it('[E10] returns plain data with the exact text of the model', async () => {
    const answerText = '# Yes\n\n*It is so*: \u001b[31m1932\u001b[0m <b>a</b>';
    const { run } = startScripted({ synthesis: { ...replies.synthesis, answerText } });
    const answer = await run.answer;
    expect(answer.answerText).toBe(answerText);
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
  });

  it('[E4] [E8] with a prompt that throws composes the answer and differs from a failing model', async () => {
    const synthesis = definePrompt({
      ...prompts.synthesis,
      system: () => {
        throw new Error('the template is broken');
      },
    });
    const { run, model } = startScripted({}, { prompts: { synthesis } });
    expect((await run.answer).metadata).toMatchObject({
      reason: 'synthesis_failed',
      synthesis: { writtenBy: 'engine', fallback: 'prompt', error: 'the template is broken' },
    });
    expect(model.calls.some(({ task }) => task === 'synthesis')).toBe(false);
  });
});

describe('the budget of a run', () => {
  const usage = { inputTokens: 100, outputTokens: 20, estimated: false };
  const costing = Object.fromEntries(
    Object.entries(replies).map(([task, reply]) => [task, { text: JSON.stringify(reply), usage }]),
  );

  it('[E2] [E9] counts the usage of the phases and of the synthesis separately', async () => {
    const { run } = startScripted(costing, { limits: { maxTokens: 1_000, maxModelCalls: 10 } });
    const { metadata } = await run.answer;
    expect(metadata.usage).toEqual({
      modelCalls: 7,
      inputTokens: 700,
      outputTokens: 140,
      estimated: false,
      cost: null,
    });
    expect(metadata.budget).toEqual({
      tokens: { limit: 1_000, used: 720, left: 280 },
      modelCalls: { limit: 10, used: 6, left: 4 },
      cost: null,
      totalMs: { limit: 600_000, used: 0 },
      ttl: { limit: 5, used: 1, left: 4 },
      synthesisReserveTokens: { limit: 32_000, used: 120 },
    });
    expect(metadata.cost).toBeNull();
    expect(entriesOf(run, 'run-end')[0]?.usage).toEqual(metadata.usage);
  });

  it('[E2] includes the synthesis in the cost, in the currency of the prices', async () => {
    const prices = [{ inputPerMillion: 1_000, outputPerMillion: 10_000 }];
    const { state } = await startBareChain({ prices, currency: 'EUR' }, costing);
    const { cost, usage: used } = state().answer?.metadata ?? {};
    expect(cost?.currency).toBe('EUR');
    expect(cost?.amount).toBeCloseTo(7 * (0.1 + 0.2));
    expect(used?.cost).toBe(cost?.amount);
  });

  it.each([
    ['cancelled', { reason: 'cancelled', synthesis: { fallback: null, error: null } }],
    ['late', { reason: 'synthesis_failed', synthesis: { fallback: 'model', error: 'it timed out' } }],
  ])('[E9] counts an aborted call: %s', async (how, wanted) => {
    const { run, clock, model } = startScripted({
      ...costing,
      synthesis: { hang: true, text: '{"answerText": "It w' },
    });
    await settle();
    if (how === 'cancelled') run.cancel();
    else clock.increment(60_000);
    const { metadata } = await run.answer;
    expect(metadata).toMatchObject(wanted);
    expect(metadata.usage.modelCalls).toBe(model.calls.length);
    expect(metadata.budget.modelCalls.used).toBe(6);
    expect(metadata.budget.synthesisReserveTokens.used).toBeGreaterThan(0);
    expect(metadata.budget.totalMs.used).toBe(how === 'cancelled' ? 0 : 60_000);
  });

  it('[E9] composes the answer with a reason if its prompt does not fit into the reserve', async () => {
    const limits = { synthesisReserveTokens: 400 };
    const { run, model } = startScripted({}, { limits });
    const answer = await run.answer;
    expect(answer).toMatchObject({
      answerText: replies.yield.answer,
      status: 'completed',
      notes: 'The answer was composed without a model: the prompt does not fit into the 400 tokens reserved for it.',
      metadata: {
        synthesis: { writtenBy: 'engine', fallback: null },
        budget: { synthesisReserveTokens: { limit: 400, used: 0 } },
      },
    });
    expect(model.calls.some(({ task }) => task === 'synthesis')).toBe(false);
  });

  it('[E9] shortens a long context so that prompt and reply fit into the reserve', async () => {
    const history = Array.from({ length: 60 }, (_, at) => ({
      role: 'assistant' as const,
      content: `Report ${at}. ${'It rained, and the tide was low. '.repeat(20)}`,
    }));
    const { run, model } = startScripted({}, { limits: { synthesisReserveTokens: 3_000 } }, { history });
    const answer = await run.answer;
    const call = model.calls.find(({ task }) => task === 'synthesis');
    const chars = call?.turns.reduce((sum, { content }) => sum + content.length, 0) ?? Number.NaN;
    expect(chars / 4).toBeLessThan(3_000 * 0.75);
    expect(answer.metadata.synthesis.writtenBy).toBe('model');
  });
});
