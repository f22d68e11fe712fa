import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { answerAsMarkdown } from '../../../../src/chain/presentation/answer-as-markdown.ts';
import { answerAsText } from '../../../../src/chain/presentation/answer-as-text.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import type { AnswerSchema } from '../../../../src/chain/runtime/run-options.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { anError } from '../../../support/errors.ts';
import { killedAfter } from '../../../support/journal-files.ts';
import { type Plan, scriptedChain, settle, startScripted } from '../../../support/run-chain.ts';

const Weather = z.object({ city: z.string(), days: z.array(z.int().check(z.gte(1))) });
const OSLO = { city: 'Oslo', days: [1, 2] };
const PRICED = {
  prices: { currency: 'EUR', models: { scripted: { inputPerMillion: 0, outputPerMillion: 1_000 } } },
  limits: { maxCost: 1_000 },
} as const;

const BROKEN = {
  ...prompts.value,
  user: () => {
    throw new TypeError('no template');
  },
};

const start = (plan: Plan, options = {}, answer: AnswerSchema = Weather) => startScripted(plan, options, { answer });

describe('the value of an answer', () => {
  it('is stated from the final text, corrected, validated and typed, and counted in the usage', async () => {
    const { chain, model } = scriptedChain({
      value: (call: number) => (call === 1 ? { text: '{"city":"Oslo","days":[0]}' } : OSLO),
    });
    const answer = await chain.run({ request: 'Is it so?', answer: Weather }).answer;
    expectTypeOf(answer.value).toEqualTypeOf<z.output<typeof Weather> | undefined>();
    expect(answer).toMatchObject({ status: 'completed', value: OSLO, metadata: { usage: { modelCalls: 9 } } });
    for (const shown of [answerAsText(answer), answerAsMarkdown(answer)]) expect(shown).toContain('"city": "Oslo"');
    const [call] = model.calls.filter(({ task }) => task === 'value');
    expect(call?.turns[1]?.content).toContain(answer.answerText);
    expect(call?.outputSchema).toMatchObject({ required: ['city', 'days'] });
  });

  it.each([
    ['JSON Schema', { type: 'object', properties: { id: { type: 'string', pattern: '^[A-Z]+$' } } }, { id: 'A' }],
    ['JSON Schema of an array', { type: 'array', items: { enum: ['a', 'b'] } }, ['b']],
    ['JSON Schema with references', { $ref: '#/$defs/n', $defs: { n: { type: 'integer', maximum: 3 } } }, 3],
    ['Standard Schema with a JSON Schema', { schema: z.custom((given) => given === 2), jsonSchema: {} }, 2],
    ['Standard Schema with a rule', z.object({ n: z.int() }).refine(({ n }) => n === 1), { n: 1 }],
    ['Standard Schema with a default', z.object({ n: z.int().default(5) }), { n: 5 }, { n: null }],
  ])('has a %s', async (_, schema, value, reply: unknown = value) => {
    expect((await start({ value: { reply } }, {}, schema).run.answer).value).toEqual(value);
  });

  it.each([
    ['the reply stays invalid', { value: { text: '{"city":1,"days":[]}' } }, {}, 'one place (city)'],
    ['a broken rule of the schema', { value: { text: '{"city":"Oslo","days":[0]}' } }, {}, '(days.0)'],
    [
      'the model cannot be reached',
      { value: { failure: { message: 'nobody is there', retryable: false } } },
      {},
      'nobody is there',
    ],
    ['the prompt fails', {}, { prompts: { value: BROKEN } }, 'no template'],
    ['no tokens are reserved', {}, { limits: { synthesisReserveTokens: 0 } }, 'no tokens are reserved'],
    ['the reserve is too small', {}, { limits: { synthesisReserveTokens: 500 } }, 'does not fit'],
    ['the cost limit is near', {}, { ...PRICED, limits: { maxCost: 128_001 / 1_000 } }, 'cost limit'],
  ] as const)('is missing, with the reason, if %s', async (_, plan, options, why) => {
    const { answerText, value, status, reasons } = await start(plan, options).run.answer;
    expect({ value, status }).toEqual({ value: undefined, status: 'degraded' });
    expect(answerText).toContain('so');
    expect(reasons.find(({ code }) => code === 'value_missing')?.message).toContain(why);
  });

  it('is missing without a language model, and for each kind of stop, without a call', async () => {
    const offline = await createPostChain().run({ request: 'Is it so?', answer: Weather }).answer;
    expect(offline.reasons[0]).toMatchObject({ code: 'value_missing', message: /no language model/u });
    for (const type of ['run.cancelled', 'run.interrupted'] as const) {
      const { run, model } = start({ yield: { hang: true } });
      await settle();
      run.send({ type });
      expect((await run.answer).reasons.map(({ code }) => code)).toContain('value_missing');
      expect(model.calls.map(({ task }) => task)).not.toContain('value');
    }
  });

  it('is missing if the model takes too long, or the run is stopped meanwhile; the text remains', async () => {
    const late = start({ value: { hang: true } });
    await settle();
    late.clock.increment(60_000);
    expect(await late.run.answer).toMatchObject({ answerText: /for certain/u, metadata: { reason: 'value_missing' } });
    const stopped = start({ value: { hang: true } });
    await settle();
    stopped.run.ref.stop();
    expect(await stopped.run.answer).toMatchObject({
      answerText: /for certain/u,
      reasons: [{ code: 'interrupted' }, { code: 'value_missing' }],
    });
  });

  it('survives a kill of its process, and replays', async () => {
    const plan: Plan = { value: (call: number) => (call === 1 ? { text: '{}' } : OSLO) };
    const whole = start(plan);
    const { value } = await whole.run.answer;
    const { entries: journal } = whole.run;
    expect(replay(journal)).toMatchObject({ divergence: null, answer: { value } });
    const from = journal.findIndex((entry) => entry.type === 'attempt-start' && entry.task === 'value');
    for (let cut = from; cut < journal.length; cut += 5) {
      const { chain } = scriptedChain({ value: OSLO }, { journals: killedAfter(journal.slice(0, cut)) });
      const resumed = await chain.resume('run-1');
      expect((await resumed.answer).value).toEqual(OSLO);
      expect(replay(resumed.entries).divergence).toBeNull();
    }
  });

  it.each([
    [7, /Standard Schema/u],
    ['x', /Standard Schema/u],
    [z.object({ at: z.date() }), /date/iu],
  ])('rejects the schema %j before anything starts', (schema, why) => {
    expect(() => start({}, {}, schema as AnswerSchema)).toThrow(anError('invalid_schema', why));
  });
});
