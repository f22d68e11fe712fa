import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { outputShape } from '../../../../src/llm/schemas/output-shape.ts';
import { strictSchema } from '../../../../src/models/openai/strict-schema.ts';

const Person = z.object({
  name: z.string(),
  nick: z.string().optional(),
  role: z.string().default('guest'),
  note: z.string().nullish(),
  boss: z.string().nullable(),
  homes: z.array(z.object({ city: z.string().optional(), since: z.int().nullable() })).optional(),
  pet: z.object({ age: z.number().optional() }).nullable().optional(),
});
const shape = outputShape(Person, 'person');

describe('an optional member sent as null', () => {
  it('counts as omitted, and null is kept where it is allowed', async () => {
    const given = {
      name: 'Ada',
      nick: null,
      role: null,
      note: null,
      boss: null,
      homes: [{ city: null, since: null }],
      pet: { age: null },
    };
    const before = structuredClone(given);
    expect(await shape.validate(shape.unwrap(given))).toEqual({
      ok: true,
      value: { name: 'Ada', role: 'guest', note: null, boss: null, homes: [{ since: null }], pet: {} },
    });
    expect(given).toEqual(before);
  });

  it('is an error if the member is required', async () => {
    expect(await shape.validate(shape.unwrap({ name: null, boss: null }))).toMatchObject({
      ok: false,
      failure: { stage: 'schema', issues: [{ path: 'name' }] },
    });
  });

  it('is kept in a union whose branch is unknown', () => {
    const choice = outputShape(z.object({ of: z.union([z.object({ a: z.string().optional() }), z.string()]) }), 'x');
    expect(choice.unwrap({ of: { a: null } })).toEqual({ of: { a: null } });
  });

  it('leaves every other member unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const kept = outputShape(z.object({ a: z.unknown(), b: z.object({}).optional() }), 'x').unwrap(
          JSON.parse(text),
        );
        const { b, ...wanted } = Object(JSON.parse(text)) as { b?: unknown };
        if (typeof value !== 'object' || value === null || Array.isArray(value)) expect(kept).toEqual(JSON.parse(text));
        else expect(kept).toEqual(b === null || b === undefined ? wanted : { ...wanted, b });
      }),
    );
  });

  it('is how OpenAI strict mode represents optional members', () => {
    expect(strictSchema(shape.jsonSchema)).toMatchObject({
      required: ['name', 'nick', 'role', 'note', 'boss', 'homes', 'pet'],
      properties: { nick: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    });
  });
});
