import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { synthesisReplySchema } from '../../../machines/contracts/synthesis.ts';
import { strictSchema } from '../../../src/models/openai/strict-schema.ts';

const closed = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

describe('a schema for strict mode', () => {
  // The schema of a value is that of the run.
  const { value: _, ...fixed } = replySchemas;
  test.each(Object.entries({ ...fixed, synthesis: synthesisReplySchema }))(
    'can express every reply of the chain: %s',
    (_, schema) => {
      expect(strictSchema(z.toJSONSchema(schema))).toMatchObject({ type: 'object', additionalProperties: false });
    },
  );

  test('is the schema without keywords that only narrow it', () => {
    const inner = { anyOf: [{ type: 'number', minimum: 0, maximum: 1 }, { type: 'null' }] };
    const schema = closed({
      a: inner,
      b: { type: 'array', items: closed({ c: { enum: ['x'] } }) },
      d: { $ref: '#/$defs/e' },
    });
    expect(strictSchema({ ...schema, $defs: { e: { type: 'string' } } })).toEqual({
      ...schema,
      $defs: { e: { type: 'string' } },
    });
    expect(strictSchema({ $schema: 'x', ...closed({ a: { type: 'string', default: 'y' } }) })).toEqual(
      closed({ a: { type: 'string' } }),
    );
  });

  test('describes the omitted keywords that help a model', () => {
    const code = { type: 'string', pattern: '^[A-Z]{2}\\d+$', maxLength: 9, default: 'y' };
    const tags = {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description: 'Its tags.',
    };
    expect(strictSchema(closed({ code, tags }))).toEqual(
      closed({
        code: { type: 'string', description: 'maxLength: 9, pattern: "^[A-Z]{2}\\\\d+$"' },
        tags: {
          type: 'array',
          items: { type: 'string', description: 'minLength: 1' },
          description: 'Its tags. (uniqueItems: true)',
        },
      }),
    );
  });

  test('closes an object without additionalProperties at any depth', () => {
    const { additionalProperties: _, ...unsaid } = closed({ a: { type: 'string' } });
    const schema = { ...unsaid, properties: { a: { type: 'array', items: unsaid } } };
    expect(strictSchema(schema)).toEqual(closed({ a: { type: 'array', items: closed({ a: { type: 'string' } }) } }));
    const input = z.object({ a: z.object({ b: z.string() }), c: z.union([z.null(), z.object({ d: z.int() })]) });
    expect(strictSchema(z.toJSONSchema(input, { io: 'input' }))).toEqual(strictSchema(z.toJSONSchema(input)));
  });

  test('requests an optional property as nullable', () => {
    const input = z.object({
      a: z.string().optional(),
      b: z.int().default(1),
      c: z.string().nullish(),
      d: z.array(z.object({ e: z.boolean().optional() })),
      f: z.object({ g: z.enum(['x']).optional() }).nullable(),
      h: z.discriminatedUnion('is', [z.object({ is: z.literal('i') }), z.object({ is: z.literal('j') })]),
    });
    const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
    expect(strictSchema(z.toJSONSchema(input, { io: 'input' }))).toMatchObject(
      closed({
        a: orNull({ type: 'string' }),
        b: orNull({ type: 'integer' }),
        c: { type: ['string', 'null'] },
        d: { type: 'array', items: closed({ e: orNull({ type: 'boolean' }) }) },
        f: orNull(closed({ g: orNull({ type: 'string', enum: ['x'] }) })),
        h: { anyOf: [closed({ is: { const: 'i' } }), closed({ is: { const: 'j' } })] },
      }),
    );
  });

  test.each([
    ['a union', closed({ a: { anyOf: [{ ...closed({ b: { type: 'string' } }), required: [] }, { type: 'string' }] } })],
    ['a definition', { ...closed({}), $defs: { e: { ...closed({ b: { type: 'string' } }), required: [] } } }],
  ])('requests an optional property in %s as nullable', (_, schema) => {
    expect(JSON.stringify(strictSchema(schema))).toContain(
      '{"b":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["b"]',
    );
  });

  test('supports nested definitions', () => {
    const $defs = { group: { $defs: { e: closed({ f: { type: 'string', minLength: 1 } }) } }, g: { enum: ['x'] } };
    expect(strictSchema({ ...closed({ a: { $ref: '#/$defs/group/$defs/e' } }), $defs }), 'too deep').toBeNull();
    const strict = strictSchema({ ...closed({ a: { $ref: '#/$defs/g', description: 'b' } }), $defs });
    expect(strict?.['properties']).toEqual({ a: { $ref: '#/$defs/g' } });
    expect(strict?.['$defs']).toEqual({
      group: { $defs: { e: closed({ f: { type: 'string', description: 'minLength: 1' } }) } },
      g: { enum: ['x'] },
    });
    expect(strictSchema({ ...closed({}), $defs: { group: { $defs: { e: {} } } } })).toBeNull();
    expect(strictSchema(closed({ a: { $defs: {} } }))).toBeNull();
  });

  test.each([
    ['an open object', { ...closed({}), additionalProperties: true }],
    ['an object with arbitrary properties', closed({ a: { type: 'object' } })],
    ['an open object inside', closed({ a: { type: 'array', items: { type: 'object', properties: {} } } })],
    ['a property of any type', closed({ a: {} })],
    ['a property that is true', closed({ a: true })],
    ['a record', closed({ a: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} } })],
    ['an open union', closed({ a: { anyOf: [{ type: 'object' }] } })],
    ['a list of any type', closed({ a: { type: 'array' } })],
    ['a reference to another document', closed({ a: { $ref: 'https://example.org/x' } })],
    ['a reference into the schema', closed({ a: { $ref: '#/properties/b' }, b: { type: 'string' } })],
    ['a nullable open object', closed({ a: { type: ['object', 'null'], additionalProperties: true } })],
    ['a union at the root', { ...closed({ a: { type: 'string' } }), anyOf: [{ type: 'object' }] }],
    ['a required but undefined property', { ...closed({ a: { type: 'string' } }), required: ['a', 'b'] }],
    ['an unknown keyword', closed({ a: { type: 'string', contentEncoding: 'base64' } })],
    ['an array at the root', { type: 'array', items: { type: 'string' } }],
  ])('is null for %s', (_, schema) => {
    expect(strictSchema(schema)).toBeNull();
  });
});
