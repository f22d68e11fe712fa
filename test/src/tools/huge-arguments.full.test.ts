import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { checkArguments } from '../../../src/tools/check-arguments.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

const check = (schema: z.ZodType, text: string) =>
  checkArguments(createRegistry([{ name: 'work', description: 'Works.', arguments: schema, execute: () => '' }]), {
    capability: 'work',
    arguments: text,
  });

describe('huge arguments', () => {
  it.each([
    ['objects', '{"a":', '}'],
    ['arrays', '[', ']'],
  ])('[R5] are rejected without a stack overflow if they are nested in 100,000 %s', async (_, open, close) => {
    const text = `{"a":${open.repeat(100_000)}1${close.repeat(100_000)}}`;
    for (const schema of [z.looseObject({}), z.object({ a: z.any() }), z.object({ a: z.json() })]) {
      const found = await check(schema, text);
      expect(found).toMatchObject({
        ok: false,
        code: 'arguments_misfit',
        problem: expect.stringMatching(/^….{1,80}: nested more than 200 levels deep$/),
      });
    }
  });

  it('[R2] are accepted with 199 levels of nesting', async () => {
    const text = `{"a":${'['.repeat(199)}${']'.repeat(199)}}`;
    expect(await check(z.object({ a: z.json() }), text)).toMatchObject({ ok: true });
  });

  it('[R2] of 10 MB are searched once: an unknown key at the end is found', async () => {
    const items = z.object({ list: z.array(z.object({ n: z.int() })) });
    const text = `{"list":[${'{"n":1},'.repeat(1_250_000)}{"n":1,"m":2}]}`;
    expect(text.length).toBeGreaterThan(10_000_000);
    expect(await check(items, text)).toMatchObject({
      code: 'arguments_misfit',
      problem: 'list.1250000: unknown key "m"; expected one of: n',
    });
    const keys = Array.from({ length: 100_000 }, (_, at) => `"key${at}":${at}`).join();
    expect(await check(z.object({ by: z.record(z.string(), z.int()) }), `{"by":{${keys}}}`)).toMatchObject({
      ok: true,
    });
  });

  it('[R2] with one long string are accepted', async () => {
    expect(await check(z.object({ a: z.string() }), JSON.stringify({ a: 'x'.repeat(10_000_000) }))).toMatchObject({
      ok: true,
    });
  });
});
