import { runInNewContext } from 'node:vm';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import { listOf } from '../../../../src/llm/schemas/list-of.ts';
import { validate } from '../../../../src/llm/schemas/output-shape.ts';
import { settle } from '../../../../src/testing/settle.ts';

/** A schema whose validation returns the result of this function. */
const schemaOf = (answer: (value: unknown) => unknown): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'hand', validate: answer as StandardSchemaV1['~standard']['validate'] },
});
const refused = { issues: [{ message: 'bad' }] };

/** Thenables that settle later and are not promises of this realm. */
const later: readonly [string, (value: unknown) => unknown][] = [
  // biome-ignore lint/suspicious/noThenProperty: it stands for the promises of other libraries
  ['a foreign promise', () => ({ then: (settled: (given: unknown) => void) => settled(refused) })],
  ['a promise of another realm', runInNewContext('async () => ({ issues: [{ message: "bad" }] })')],
];

describe('an asynchronous schema', () => {
  it.each(later)('[A10] with %s is awaited: what it rejects is rejected', async (_, answer) => {
    expect(await validate(schemaOf(answer), 'x', 1)).toMatchObject({ ok: false, failure: { stage: 'schema' } });
    expect(await validate(listOf(schemaOf(answer)), 'x', [1])).toMatchObject({
      ok: false,
      failure: { issues: [{ path: '0', message: 'bad' }] },
    });
  });

  it.each([[{}], [undefined], [null], [true]])(
    '[A10] that resolves to %s has not accepted the value',
    async (answer) => {
      expect(
        await validate(
          schemaOf(() => answer),
          'x',
          1,
        ),
      ).toMatchObject({ ok: false });
      expect(
        await validate(
          schemaOf(async () => answer),
          'x',
          1,
        ),
      ).toMatchObject({ ok: false });
    },
  );

  it('in a list has all its rejections handled when some items throw and others reject', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const item = schemaOf((value) => {
      if (value === 1) return Promise.reject(new Error('later'));
      throw new Error('at once');
    });
    expect(await validate(listOf(item), 'x', [1, 2, 1])).toMatchObject({
      ok: false,
      failure: { stage: 'transformation' },
    });
    await settle(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
