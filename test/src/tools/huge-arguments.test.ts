import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkArguments } from '../../../src/tools/check-arguments.ts';
import { createRegistry, extraKeyFinder } from '../../../src/tools/registry.ts';

const check = (schema: z.ZodType, text: string) =>
  checkArguments(createRegistry([{ name: 'work', description: 'Works.', arguments: schema, execute: () => '' }]), {
    capability: 'work',
    arguments: text,
  });

describe('arguments that are huge', () => {
  it.each([
    ['objects', '{"a":', '}'],
    ['lists', '[', ']'],
  ])('[R5] nested in 100,000 levels of %s do not fit, and overflow nothing', async (_, open, close) => {
    const text = `{"a":${open.repeat(100_000)}1${close.repeat(100_000)}}`;
    for (const schema of [z.looseObject({}), z.object({ a: z.any() }), z.object({ a: z.json() })]) {
      const found = await check(schema, text);
      expect(found).toMatchObject({
        ok: false,
        code: 'arguments_misfit',
        problem: expect.stringMatching(/^….{1,80}: nested in more than 200 levels; wanted fewer$/),
      });
    }
  });

  it('[R2] fit in 199 levels', async () => {
    const text = `{"a":${'['.repeat(199)}${']'.repeat(199)}}`;
    expect(await check(z.object({ a: z.json() }), text)).toMatchObject({ ok: true });
  });

  it('[R2] of 10 MB are looked through once: a wrong key at their end is found', async () => {
    const items = z.object({ list: z.array(z.object({ n: z.int() })) });
    const text = `{"list":[${'{"n":1},'.repeat(1_250_000)}{"n":1,"m":2}]}`;
    expect(text.length).toBeGreaterThan(10_000_000);
    expect(await check(items, text)).toMatchObject({
      code: 'arguments_misfit',
      problem: 'list.1250000: got the key "m"; wanted none but n',
    });
    const keys = Array.from({ length: 100_000 }, (_, at) => `"key${at}":${at}`).join();
    expect(await check(z.object({ by: z.record(z.string(), z.int()) }), `{"by":{${keys}}}`)).toMatchObject({
      ok: true,
    });
  });

  it('[R2] of one long text fit', async () => {
    expect(await check(z.object({ a: z.string() }), JSON.stringify({ a: 'x'.repeat(10_000_000) }))).toMatchObject({
      ok: true,
    });
  });

  it('[R2] that fit both alternatives of a choice at each of 100 levels are looked through once', () => {
    // Without a memory of what was looked at, the last of 2^100 ways would be told from the first.
    const branch = (kind: string) => ({
      type: 'object',
      properties: { next: { $ref: '#' }, [kind]: {} },
    });
    const find = extraKeyFinder({ anyOf: [branch('left'), branch('right')] });
    let value: object = { extra: 1 };
    for (let level = 0; level < 100; level += 1) value = { next: value };
    expect(find(value)?.path.at(-1)).toBe('extra');
  });

  it('[R2] against a schema of more combinations than are worked out are left to the schema', () => {
    const choice = { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] };
    const schema = { type: 'object', allOf: Array.from({ length: 30 }, () => choice) };
    expect(extraKeyFinder(schema)({ a: 1, c: 1 })).toBeNull();
  });
});
