import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { PHASES, TASKS, type Task } from '../../../../machines/contracts/phase.ts';
import { createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { always, type ScriptEntry, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { anError } from '../../../support/errors.ts';
import { entriesOf, ONE_CALL_PER_PHASE } from '../../../support/run-chain.ts';

const NO_WAIT = { backoffBaseMs: 0, backoffMaxMs: 0 };
const refused = { failure: { code: 'unauthorized', message: 'the key was refused', retryable: false, status: 401 } };
const dead = { failure: { code: 'connection_failed', message: 'nobody is there' } };
const usage = { inputTokens: 1_000, outputTokens: 100, estimated: false };

/** A model that sends the same reply for every task without a valid reply. */
const model = (id: string, entry?: ScriptEntry, only?: Task) =>
  scriptedModel(
    entry === undefined
      ? {}
      : Object.fromEntries(
          TASKS.filter((task) => only === undefined || task === only).map((task) => [task, always(entry)]),
        ),
    { id, otherwise: replies, usage },
  );

function start(options: PostChainOptions) {
  return createPostChain({
    profile: ONE_CALL_PER_PHASE,
    clock: new SimulatedClock(),
    ...options,
    limits: { ...NO_WAIT, ...options.limits },
  }).run({ request: 'Is it so?' });
}

describe('a chain with fallback models', () => {
  it.each([
    ['cannot be reached', dead, 4, 0],
    ['rejects every call', refused, 1, 0],
    // The first reply shows that the model ignores the schema, which counts as no correction.
    ['never returns a valid reply', { text: '{"no": "field"}' }, 3, 1],
    ['is stopped by a content filter', { text: '{}', reason: 'content-filter' as const }, 1, 0],
  ])('[C4] uses the next model for each call when a model %s', async (_, entry, callsEach, ignored) => {
    const [first, second] = [model('first', entry), model('second')];
    const run = start({ model: first, fallbackModels: [second] });
    expect(await run.answer).toMatchObject({
      status: 'completed',
      answerText: replies.synthesis.answerText,
      metadata: { degraded: false, synthesis: { writtenBy: 'model' }, failures: [] },
    });
    const tasks = [...PHASES, 'synthesis'];
    expect(second.calls.map(({ task }) => task)).toEqual(tasks);
    // The final answer has at most one retry of each kind.
    const last = Math.min(2, callsEach);
    expect(first.calls).toHaveLength(PHASES.length * callsEach + last + ignored);
    const takenOver = entriesOf(run, 'attempt-retry').filter((entry_) => entry_.model === 1);
    expect(takenOver).toHaveLength(tasks.length);
    expect(entriesOf(run, 'recovery')).toEqual([]);
  });

  it('charges each call with the price of its own model', async () => {
    const prices = {
      currency: 'EUR',
      models: {
        first: { inputPerMillion: 1, outputPerMillion: 10 },
        second: { inputPerMillion: 100, outputPerMillion: 1_000 },
        other: { inputPerMillion: 7, outputPerMillion: 7 },
      },
    };
    const wrong = { text: 'no JSON', usage };
    const options = { fallbackModels: [model('second')], limits: { maxCorrections: 0 }, prices };
    const { metadata } = await start({ ...options, model: model('first', wrong) }).answer;
    // Three calls of the first model, one in each reply form, at 0.002; seven of the second, at 0.2.
    expect(metadata.usage.cost).toBeCloseTo(3 * 0.002 + 7 * 0.2, 10);
    const unpriced = await start({ ...options, model: model('toString', wrong) }).answer;
    expect(unpriced.metadata.usage.cost).toBeNull();
    const other = createBareChain({ ...options, model: model('toString') });
    expect(other.createInput({ request: 'x' })).toMatchObject({
      prices: [null, prices.models.second],
      currency: 'EUR',
    });
    expect(createBareChain().createInput({ request: 'x' })).toMatchObject({ prices: [], currency: null });
  });

  it.each([
    [
      { fallbackModels: [{}] },
      /fallbackModels\.0: expected a model with a stream method.*; received an object with no keys/,
    ],
    [{ fallbackModels: model('m') }, /fallbackModels: .*; received an object/],
    [{ prices: { currency: '', models: {} } }, /prices\.currency: .*; received ""/],
    [
      { prices: { currency: 'EUR', models: { m: { inputPerMillion: -1, outputPerMillion: 1 } } } },
      /inputPerMillion: .*; received -1/,
    ],
  ])('rejects invalid options: %#', (options, said) => {
    expect(() => createPostChain(options as never)).toThrow(anError('invalid_option', said));
  });
});
