import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { payloadsOf } from '../../../../src/testing/system/payloads.ts';
import type { Payload } from '../../../../src/testing/system/system-options.ts';
import { caughtError } from '../../../support/errors.ts';

const sample = (payload: Payload) => fc.sample(payloadsOf(fc, 'ADD', payload), 60);
const refusal = (payload: Payload) => caughtError(() => sample(payload))?.message;

describe('payloads from schemas', () => {
  it.each([
    ['strings', z.object({ a: z.string().min(2).max(4), b: z.string().regex(/^[A-Z]{2}\d+$/u) })],
    [
      'formats',
      z.object({
        a: z.email(),
        b: z.uuid(),
        c: z.url(),
        d: z.iso.date(),
        e: z.iso.datetime(),
        f: z.ipv4(),
        g: z.ipv6(),
      }),
    ],
    [
      'numbers',
      z.object({
        a: z.int(),
        b: z.int().gt(3).lt(9),
        c: z.number().min(0).max(1),
        d: z.number().gt(0).multipleOf(0.5).max(4),
        e: z.number().lt(-2),
      }),
    ],
    ['choices', z.object({ a: z.enum(['x', 'y']), b: z.literal(3), c: z.union([z.string(), z.int()]), d: z.null() })],
    ['optional and nullable members', z.object({ a: z.optional(z.boolean()), b: z.nullable(z.int()) })],
    [
      'lists',
      z.object({
        a: z.array(z.boolean()).min(1).max(3),
        b: z.tuple([z.string(), z.int()]),
        c: z.record(z.string(), z.int()),
      }),
    ],
    ['nested objects', z.object({ a: z.object({ b: z.array(z.object({ c: z.int() })) }) })],
    ['intersections', z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() }))],
    [
      'unions of objects',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b'), n: z.int() })]),
    ],
    ['anything', z.object({ a: z.any() })],
    ['rules that few values break', z.object({ a: z.int() }).refine(({ a }) => a % 2 === 0)],
  ])('are valid: %s', (_, schema) => {
    for (const value of sample(schema)) expect(schema.safeParse(value).error).toBeUndefined();
  });

  it('differ in what a schema leaves open', () => {
    const values = sample(z.object({ a: z.optional(z.int()), b: z.array(z.enum(['x', 'y'])) }));
    expect(values.some((value) => !('a' in value))).toBe(true);
    expect(new Set(values.map((value) => JSON.stringify(value))).size).toBeGreaterThan(30);
  });

  it('come from schemas of valibot and arktype, too', () => {
    const valibot = v.object({ count: v.pipe(v.number(), v.integer(), v.minValue(1)) });
    for (const value of sample(toStandardJsonSchema(valibot) as never)) expect(v.is(valibot, value)).toBe(true);
    const ark = type({ count: 'number.integer > 0', 'note?': 'string' });
    for (const value of sample(ark)) expect(ark(value)).toEqual(value);
  });

  it('are what the schema returns, and shrink to the smallest', () => {
    const schema = z.object({ count: z.int().min(2).default(2), to: z.string().transform((text) => text.length) });
    expect(sample(schema)[0]).toEqual({ count: expect.any(Number), to: expect.any(Number) });
    const result = fc.check(fc.property(payloadsOf(fc, 'ADD', schema), (value) => (value as { to: number }).to < 3));
    expect(result.counterexample).toEqual([{ count: expect.any(Number), to: 3 }]);
  });

  it('come from an arbitrary as they are', () => {
    expect(sample(fc.constant({ count: 1 }))[0]).toEqual({ count: 1 });
  });

  it.each([
    [
      z.object({
        tree: z.object({
          get parts() {
            return z.array(Part);
          },
        }),
      }),
      /^"walks\.payloads\.ADD": no values can be generated, because tree\.parts\.items\.parts\.items is \{"\$ref":"[^"]+"\}; pass a fast-check arbitrary of the payload instead, for example fc\.record\(\{ … \}\)$/u,
    ],
    [z.object({ a: z.string().regex(/^(?=x)y/u) }), /because a is \{"pattern":/u],
    [
      z.object({ a: z.date() }),
      /^"walks\.payloads\.ADD": schema: zod cannot convert it to JSON Schema .*; pass a fast-check/u,
    ],
    [
      z.object({ a: z.int() }).refine(() => false, 'never'),
      /rejects 1000 generated payloads in a row \(never\); pass a fast-check/u,
    ],
    [z.object({ a: z.int() }).refine(async () => true), /the schema validates asynchronously; pass a fast-check/u],
    [z.int(), /the payload must be an object, without the type; the schema returns -?\d+; pass a fast-check/u],
  ])('name the part of a schema that is not supported', (schema, message) => {
    expect(refusal(schema as Payload)).toMatch(message);
  });
});

const Part = z.object({
  get parts() {
    return z.array(Part);
  },
});
