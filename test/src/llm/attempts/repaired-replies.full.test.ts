import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { ModelPart, ReplyForm } from '../../../../machines/contracts/model.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { argumentsPart, finishPart } from '../../../support/model-streams.ts';
import { partModel } from '../../../support/scripted-models.ts';

const loads = vi.hoisted(() => ({ count: 0 }));
vi.mock('jsonrepair', async (original) => {
  loads.count += 1;
  return original();
});

const Capital = z.object({ capital: z.string() });
const paris = { capital: 'Paris' };

/** Gets a value from a model that replies with this text, and with JSON if it is asked again. */
async function valueFrom(
  text: string,
  {
    schema = Capital as z.ZodType,
    reason = 'stop' as 'stop' | 'length' | 'other',
    replyForm = 'text' as ReplyForm,
  } = {},
) {
  const part = (said: string): ModelPart =>
    replyForm === 'text' ? { type: 'text-delta', text: said } : argumentsPart(said, { name: 'output' });
  const half = Math.ceil(text.length / 2);
  const model = partModel(
    [part(text.slice(0, half)), part(text.slice(half)), finishPart(reason)],
    [part('{"capital":"asked again"}'), finishPart()],
  );
  const output = createStructuredOutput({ model, schema, prompt: 'Which?', replyForm });
  const value = await output.value;
  const { attempts } = output.execution;
  return { value, calls: attempts.length, repaired: attempts[0]?.repaired, failure: attempts[0]?.failure };
}

test('a reply that is right at once costs nothing: no repair is recorded, or even loaded', async () => {
  expect(await valueFrom('Sure: ```json\n{"capital":"Paris"}\n```')).toEqual({
    value: paris,
    calls: 1,
    repaired: undefined,
    failure: null,
  });
  expect(loads.count).toBe(0);
});

test('a valid reply is never changed, and a repaired one is always valid', async () => {
  const schema = z.object({ capital: z.string(), sizes: z.optional(z.array(z.number())), note: z.nullish(z.string()) });
  const text = fc.stringMatching(/^[\w ä"'“”,:=#&;(){}[\]/\\\n\u00a0.+-]{0,12}$/u);
  const values = fc.record({
    capital: text,
    sizes: fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true })),
    note: fc.option(text),
  });
  const signs = fc.constantFrom(...'"\'=#()+.,:{}[]&\u00a0\n', ' # ', '=>', '"""', '&quot;', 'nil');
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(2), signs), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(values, fc.constantFrom(0, 2), damage, async (value, indent, places) => {
      const json = JSON.stringify(value, null, indent);
      const said = JSON.parse(json) as unknown;
      expect(await valueFrom(json, { schema })).toMatchObject({ value: said, calls: 1, repaired: undefined });
      const damaged = places.reduce((all, [nat, cut, sign]) => {
        const at = nat % all.length;
        return all.slice(0, at) + sign + all.slice(at + cut);
      }, json);
      const { value: found, calls, repaired } = await valueFrom(damaged, { schema });
      if (repaired !== undefined) expect([calls, schema.safeParse(found).data]).toEqual([1, found]);
    }),
  );
});

describe('a reply that is not what was asked for', () => {
  test.each<[string, string, readonly string[]]>([
    ['nearly JSON', "```\n{'capital': 'Paris',} // done\n```", ['syntax']],
    ['in the notation of another language', '{ # Python\n capital = "Paris" }', ['syntax']],
    ['without its last bracket', '{"capital":"Paris"', ['syntax']],
    ['JSON in a string', JSON.stringify(JSON.stringify(paris)), ['string']],
    ['an array of one', '[{"capital":"Paris"}]', ['single-item']],
    ['in the name of the schema', '{"output":{"capital":"Paris"}}', ['wrapper']],
    [
      'after its schema',
      '{"type":"object","properties":{"capital":{"type":"string"}}}\n{"capital":"Paris"}',
      ['later-value'],
    ],
    ['after reasoning', '<think>{"capital": ?}</think>{capital:"Paris"}', ['syntax']],
    [
      'several of these',
      '[{\'result\': "{\\"capital\\":\\"Paris\\"}",}]',
      ['syntax', 'single-item', 'wrapper', 'string'],
    ],
  ])('is repaired and recorded: %s', async (_, text, repaired) => {
    expect(await valueFrom(text)).toEqual({ value: paris, calls: 1, repaired, failure: null });
  });

  test.each([
    ['the wrong type', "{'capital': 5}", {}],
    ['a missing member', '[{"city":"Paris"}]', {}],
    ['more than was asked for', '{"note":"x","answer":{"capital":"Paris"}}', {}],
    ['cut within a string', '{"capital":"Par', {}],
    ['cut by the output limit', "{'capital':'Paris', 'x':[1", { reason: 'length' as const }],
    ['cut for an unknown reason', "{'capital':'Paris'", { reason: 'other' as const }],
  ])('is requested again if no repair makes it valid: %s', async (_, text, options) => {
    expect(await valueFrom(text, options)).toMatchObject({
      value: { capital: 'asked again' },
      calls: 2,
      repaired: undefined,
      failure: { stage: expect.stringMatching(/extraction|schema/u) },
    });
  });

  test('is repaired in the arguments of its tool, with text around them', async () => {
    for (const text of [
      '```json\n{"capital":"Paris"}\n```',
      '{"capital":"Paris",}',
      JSON.stringify(JSON.stringify(paris)),
    ])
      expect(await valueFrom(text, { replyForm: 'tool-call' })).toMatchObject({ value: paris, calls: 1 });
  });

  test('is repaired if the schema is asynchronous, and the first valid value counts', async () => {
    const schema = Capital.refine(async ({ capital }) => capital !== 'Bonn');
    expect(await valueFrom('[{"capital":"Paris"}]', { schema })).toMatchObject({
      value: paris,
      repaired: ['single-item'],
    });
    expect(await valueFrom("{'capital':'Bonn'} {'capital':'Paris'}", { schema })).toMatchObject({
      value: paris,
      repaired: ['syntax', 'later-value'],
    });
  });

  test('has a last partial value and items that are those of the repaired value', async () => {
    const schema = z.object({ n: z.int() }).array();
    const text = 'For example [{"n":9},{"n":8},{"m":0}], but: [{"n":1},{"n":2},]';
    const model = partModel([...[...text].map((one): ModelPart => ({ type: 'text-delta', text: one })), finishPart()]);
    const output = createStructuredOutput({ model, schema, prompt: 'Which?' });
    const [partials, items]: [unknown[], unknown[]] = [[], []];
    const read = async () => {
      for await (const update of output.elements)
        if (update.type === 'reset') items.length = 0;
        else items.push(update.value);
    };
    const reading = read();
    for await (const update of output) if (update.type === 'partial') partials.push(structuredClone(update.value));
    await reading;
    expect(await output.value).toEqual([{ n: 1 }, { n: 2 }]);
    expect(items).toEqual([{ n: 1 }, { n: 2 }]);
    expect(partials.at(-1)).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
