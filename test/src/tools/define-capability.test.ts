import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { scope, type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import * as z from 'zod';
import { z as mini } from 'zod/mini';
import { capabilityDescriptorSchema } from '../../../machines/contracts/capability.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { type Capability, defineCapability, describe as described } from '../../../src/tools/capability.ts';
import { currentTime } from '../../../src/tools/current-time.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { errorOf } from '../../support/errors.ts';

const base = { name: 'weather', description: 'Tells the weather.', execute: () => 'rain' };
const city = z.object({ city: z.string() });

describe('defining a capability', () => {
  it('[R10] describes rules that its JSON Schema cannot express', () => {
    const stay = z
      .object({
        from: z.iso.date(),
        to: z.optional(z.iso.date().refine((day) => day !== '', 'must not be a Sunday')),
        rooms: z.array(z.object({ beds: z.number().refine((beds) => beds !== 13, 'must not be 13') })),
        code: z.string().superRefine(() => {}),
        guests: z.number().refine((guests) => guests < 9, {
          error: ({ input }) => `must be less than ${(input as number).toFixed()}`,
        }),
      })
      .refine(({ from, to }) => to === undefined || from < to, { path: ['to'], message: 'must be after from' });
    expect(described({ ...base, arguments: stay }).description).toBe(
      'Tells the weather.\nRules for the arguments: to: must be after from; to: must not be a Sunday; rooms[].beds: must not be 13',
    );
    const small = mini.object({ city: mini.string().check(mini.refine((city) => city !== '', 'must exist')) });
    const jsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    expect(described({ ...base, arguments: small, jsonSchema }).description).toContain('city: must exist');
    expect(described({ ...base, arguments: type({ city: 'string' }) }).description).toBe(base.description);
  });

  it('[R10] infers argument types from zod: the output of the schema, not its input', () => {
    defineCapability({
      ...base,
      arguments: z.object({ day: z.iso.date().transform((text) => new Date(text)), days: z.int().default(1) }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ day: Date; days: number }>(),
    });
  });

  it('[R10] infers argument types from arktype and valibot', () => {
    defineCapability({
      ...base,
      arguments: type({ city: 'string', 'days?': 'number' }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number }>(),
    });
    defineCapability({
      ...base,
      arguments: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 1) })),
      execute: (args, { signal, now, sessionId }) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(now).toEqualTypeOf<() => number>();
        expectTypeOf(sessionId).toEqualTypeOf<string | null>();
      },
    });
  });

  it('[R10] fails to compile with an argument that is not in its schema', () => {
    // @ts-expect-error: the schema has no property town
    defineCapability({ ...base, arguments: city, execute: ({ town }) => town });
    expectTypeOf(defineCapability({ ...base, arguments: city })).toEqualTypeOf<Capability>();
  });

  test.each<[string, Capability['arguments'], Capability['jsonSchema']?]>([
    ['zod', city],
    ['arktype', type({ city: 'string' })],
    ['valibot', toStandardJsonSchema(v.object({ city: v.string() }))],
    ['zod/mini with a JSON Schema', mini.object({ city: mini.string() }), z.toJSONSchema(city)],
    ['valibot with a JSON Schema', v.object({ city: v.string() }), z.toJSONSchema(city)],
    ['a recursive arktype', scope({ place: { city: 'string', 'near?': 'place' } }).export().place],
  ])('[R10] is described with the JSON Schema of %s, an object at its root', (_, schema, jsonSchema) => {
    const descriptor = described(defineCapability({ ...base, arguments: schema, jsonSchema }));
    expect(descriptor).toMatchObject({
      name: 'weather',
      description: 'Tells the weather.',
      arguments: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      timeoutMs: null,
    });
    expect(capabilityDescriptorSchema.parse(descriptor)).toEqual(descriptor);
    expect(JSON.parse(JSON.stringify(descriptor))).toEqual(descriptor);
  });

  it('[R10] is accepted by a chain', () => {
    const capabilities = [defineCapability({ ...base, arguments: type({ city: 'string' }) }), currentTime()];
    expect(() => createPostChain({ capabilities })).not.toThrow();
    expect(() => createPostChain({ capabilities: [{ ...base, arguments: {} as never }] })).toThrowError(
      /capabilities\.0\.arguments: expected a Standard Schema.*; received an object with no keys/,
    );
  });

  test('[R10] is described with its own timeout if it has one', () => {
    expect(described({ ...base, arguments: city, timeoutMs: 90_000 }).timeoutMs).toBe(90_000);
  });
});

const invalid: [string, Record<string, unknown>, string, RegExp][] = [
  [
    'no schema',
    {},
    'invalid_schema',
    /"weather" is invalid: "arguments" must be a Standard Schema.*; received undefined/,
  ],
  [
    'a JSON Schema instead of a schema',
    { arguments: { type: 'object' } },
    'invalid_schema',
    /must be a Standard Schema/,
  ],
  ['a schema without a JSON Schema', { arguments: v.object({}) }, 'invalid_schema', /valibot.*toStandardJsonSchema/],
  ['a type that JSON Schema does not support', { arguments: z.object({ on: z.date() }) }, 'invalid_schema', /Date/],
  [
    'a string at its root',
    { arguments: z.string() },
    'invalid_schema',
    /must be an object at the root; received string/,
  ],
  ['an array at its root', { arguments: z.array(city) }, 'invalid_schema', /received array/],
  ['a union at its root', { arguments: z.union([city, z.object({})]) }, 'invalid_schema', /a choice/],
  ['any type at its root', { arguments: z.any() }, 'invalid_schema', /any value/],
  [
    'a JSON Schema that is a string',
    { arguments: city, jsonSchema: 'object' },
    'invalid_schema',
    /"jsonSchema" must be a JSON Schema; received "object"/,
  ],
  [
    'a JSON Schema that is not JSON',
    { arguments: city, jsonSchema: { type: 'object', x: 1n } },
    'invalid_schema',
    /BigInt/,
  ],
  ['a JSON Schema of an array', { arguments: city, jsonSchema: { type: 'array' } }, 'invalid_schema', /array/],
  [
    'a property that is rejected in calls',
    { arguments: z.object({ constructor: z.string() }) },
    'invalid_schema',
    /constructor/,
  ],
  [
    'a blank name',
    { arguments: city, name: ' ' },
    'invalid_option',
    /^A capability is invalid: "name" must be a non-empty string.*; received " "/,
  ],
  [
    'an unknown member',
    { arguments: city, approve: 'always' },
    'invalid_option',
    /"approve" is unknown; expected only name, .*approval, execute\.$/,
  ],
  ['no name', { arguments: city, name: undefined }, 'invalid_option', /"name" must be .*; received undefined/],
  ['a name of 65 characters', { arguments: city, name: 'x'.repeat(65) }, 'invalid_option', /at most 64.*received 65/],
  ['a non-ASCII name', { arguments: city, name: '天气' }, 'invalid_option', /ASCII letter or digit/],
  ['a name of two lines', { arguments: city, name: 'wea\nther' }, 'invalid_option', /control characters/],
  [
    'a name with a trailing space',
    { arguments: city, name: 'weather ' },
    'invalid_option',
    /without surrounding spaces/,
  ],
  ['no description', { arguments: city, description: '' }, 'invalid_option', /"description" must be .*; received ""/],
  [
    'no execute',
    { arguments: city, execute: undefined },
    'invalid_option',
    /"execute" must be a function; received undefined/,
  ],
  ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5', null].map(
    (timeoutMs): [string, Record<string, unknown>, string, RegExp] => [
      `a time limit of ${timeoutMs}`,
      { arguments: city, timeoutMs },
      'invalid_option',
      /"timeoutMs" must be a number of milliseconds.*; received/,
    ],
  ),
];

describe('an invalid capability', () => {
  it.each(invalid)('[R10] is rejected with a one-line error: %s', (_, part, code, message) => {
    const given = { ...base, ...part } as unknown as Capability;
    for (const make of [() => defineCapability(given), () => createRegistry([given])]) {
      const error = errorOf(make);
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(error.message).toMatch(/^[^\n]*[^.]\.$/);
    }
  });

  it.each([undefined, null, 5, {}])('is rejected if it is %s', (given) => {
    expect(() => createRegistry([given as unknown as Capability])).toThrowError(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
