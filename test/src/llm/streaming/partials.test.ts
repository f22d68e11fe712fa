import { describe, expect, test } from 'vitest';
import { argumentsPart, readAll, streamOf } from '../../../support/model-streams.ts';

/** Freezes a value deeply, as state stores do. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const one of Object.values(value)) freeze(one);
}

/** Deletes all content of a value. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const one of Object.values(value)) spoil(one);
  for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
  if (Array.isArray(value)) value.length = 0;
  else Object.assign(value, { a: 'spoilt', items: null, __proto__: null });
}

/** Replaces members with accessors that throw. */
function trap(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value))
    Reflect.defineProperty(value, key, {
      get: () => {
        throw new Error('trapped');
      },
    });
}

const pieces = ['{"a":{"b":[1,', '{"c":"d', 'e"}],"f', '":"g"},"h":', '[2,3', '],"i":4', '}', ' So.'];
const value = { a: { b: [1, { c: 'de' }], f: 'g' }, h: [2, 3], i: 4 };

const forms = [
  ['text', (all: readonly string[]) => streamOf(all)],
  ['tool-call', (all: readonly string[]) => streamOf(all.map((piece) => argumentsPart(piece)))],
] as const;

describe.each(forms)('a %s partial that a consumer changes', (form, streamOf) => {
  const given = form === 'text' ? pieces : pieces.slice(0, -1);
  const shallow = (it: unknown): unknown => Object.freeze(it);

  test.each<[string, (partial: unknown) => void]>([
    ['freezes it deeply', freeze],
    ['freezes its root', shallow],
    ['seals it', (it) => Object.seal(it)],
    ['deletes its members', spoil],
    ['sets throwing accessors on it', trap],
    ['gives it a never-settling then method', (it) => Reflect.set(it as object, 'then', () => {})],
  ])('[A12] %s: does not affect the value, which equals the result of JSON.parse', async (_, onPartial) => {
    const read = await readAll(streamOf(given), { form, onPartial });
    expect(read.failure).toBeNull();
    expect(read.value).toStrictEqual(value);
    expect(Object.isFrozen(read.value)).toBe(false);
  });

  test('[A7] ends the partials if it was frozen, except for the last one, a copy of the whole value', async () => {
    const seen: unknown[] = [];
    const read = await readAll(streamOf(given), {
      form,
      onPartial: (it) => {
        freeze(it);
        seen.push(it);
      },
    });
    expect(seen).toEqual([{ a: { b: [1] } }, value]);
    expect(seen.at(-1)).not.toBe(read.value);
  });
});

describe('partials that nobody reads at first', () => {
  test('include the whole value so far when the first reader comes', async () => {
    let chunks = 0;
    const seen: unknown[] = [];
    const read = await readAll(streamOf(pieces), {
      onText: () => {
        chunks += 1;
      },
      isWatched: () => chunks > 2,
      onPartial: (it) => void seen.push(structuredClone(it)),
    });
    expect(seen[0]).toEqual({ a: { b: [1, { c: 'de' }] } });
    expect(seen.at(-1)).toEqual(value);
    expect(read.value).toStrictEqual(value);
  });

  test('are not parsed at all without a reader', async () => {
    const read = await readAll(streamOf(['[1] ', ...pieces]), { isWatched: () => false });
    expect(read.partials).toEqual([]);
    expect(read.value).toStrictEqual(value);
  });
});

describe('an observer that throws', () => {
  const error = new Error('the observer’s own');
  const fail = (): never => {
    throw error;
  };

  test.each([{ onText: fail }, { onAlive: fail }, { onPartial: fail }])(
    '[A2] stops the stream with its error: %o',
    async (observer) => {
      let closed = false;
      async function* parts() {
        try {
          for (;;) yield* streamOf(['', '{"a":1}', ' and']);
        } finally {
          closed = true;
        }
      }
      await expect(readAll(parts(), observer)).rejects.toBe(error);
      expect(closed).toBe(true);
    },
  );
});
