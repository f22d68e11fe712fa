import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { eventFields, eventOf, fieldKey } from '../../../inspector/fold/event-fields.ts';

const fieldsOf = (schema: z.ZodType) => eventFields(z.toJSONSchema(schema) as Readonly<Record<string, unknown>>) ?? [];
const textsOf = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([path, text]) => [fieldKey({ path: path.split('.') }), text]));

describe('the form of an event', () => {
  it('has a field for each member, including those of nested objects; other values are entered as JSON', () => {
    const schema = z.object({
      name: z.string().describe('who'),
      count: z.int(),
      ok: z.boolean(),
      kind: z.enum(['a', 'b']),
      where: z.object({ city: z.string() }),
      tags: z.array(z.string()),
      note: z.optional(z.string()),
      any: z.union([z.string(), z.number()]),
    });
    expect(fieldsOf(schema).map(({ path, kind, isRequired }) => [path.join('.'), kind, isRequired])).toEqual([
      ['name', 'text', true],
      ['count', 'number', true],
      ['ok', 'boolean', true],
      ['kind', 'choice', true],
      ['where.city', 'text', true],
      ['tags', 'json', true],
      ['note', 'text', false],
      ['any', 'json', true],
    ]);
  });

  it('builds an event from the typed values and omits empty optional members', () => {
    const fields = fieldsOf(
      z.object({ a: z.object({ b: z.number(), c: z.optional(z.string()) }), d: z.boolean(), e: z.string() }),
    );
    expect(eventOf('go', fields, textsOf({ 'a.b': '1.5' }))).toEqual({
      event: { type: 'go', a: { b: 1.5 }, d: false, e: '' },
    });
    expect(eventOf('go', fields, textsOf({ 'a.b': 'x' }))).toMatchObject({ problem: 'Enter a number.' });
    expect(eventOf('go', fields, {})).toMatchObject({ problem: 'Enter a value.' });
  });

  it('begins with the defaults of a schema, and names the limits of values', () => {
    const fields = fieldsOf(
      z.object({
        currency: z.enum(['EUR', 'USD']).default('USD'),
        amount: z.number().positive().max(1_000),
        reason: z.string().min(3).default('none'),
        count: z.int(),
        level: z.literal([1, 2, 3]).default(1),
        urgent: z.boolean().default(true),
      }),
    );
    expect(fields.map(({ description, initial }) => [description, initial])).toEqual([
      ['', '1'],
      ['more than 0, at most 1000', ''],
      ['at least 3 characters', 'none'],
      ['', ''],
      ['', '0'],
      ['', 'true'],
    ]);
    const texts = textsOf({ amount: '5', count: '1' });
    expect(eventOf('pay', fields, texts)).toEqual({
      event: { type: 'pay', currency: 'USD', amount: 5, reason: 'none', count: 1, level: 1, urgent: true },
    });
    expect(eventOf('pay', fields, { ...texts, ...textsOf({ currency: '' }) })).toMatchObject({
      problem: 'Choose a value.',
    });
    expect(eventFields({ type: 'object', properties: { k: { enum: ['a'], default: 'z' } } })?.[0]?.initial).toBe('');
  });

  it('keeps the type of the event, whatever a member is called', () => {
    const fields = fieldsOf(z.object({ type: z.string(), ['__proto__']: z.string() }));
    const made = eventOf('go', fields, textsOf({ type: 'other', __proto__: 'x' }));
    expect(JSON.parse(JSON.stringify(made))).toMatchObject({ event: { type: 'go' } });
    expect(Object.getPrototypeOf(Object(made).event)).toBe(Object.prototype);
  });

  it('falls back to JSON for hostile and unusual schemas, and never throws', () => {
    const deep = Array.from({ length: 50 }).reduce<object>(
      (inner) => ({ type: 'object', properties: { x: inner }, required: ['x'], additionalProperties: false }),
      {},
    );
    const schemas: readonly unknown[] = [
      {},
      { type: 'object', properties: null },
      { type: 'object', properties: { a: null, b: 7, c: { enum: 'no' } }, required: 'all' },
      { type: 'object', properties: { a: { enum: [] } } },
      { type: 'object', properties: {}, additionalProperties: true },
      { type: 'array' },
      { $ref: '#/definitions/none' },
      deep,
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`m${at}`, {}])) },
    ];
    const results = schemas.map((schema) => eventFields(schema as never)?.map(({ kind }) => kind) ?? null);
    expect(results).toEqual([null, null, ['json', 'json', 'json'], ['json'], null, null, null, ['json'], null]);
    expect(eventFields({ type: 'object', properties: {}, additionalProperties: false })).toEqual([]);
  });
});
