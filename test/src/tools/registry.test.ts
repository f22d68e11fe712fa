import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { PassageSource } from '../../../machines/contracts/passage.ts';
import { defineCapability } from '../../../src/tools/capability.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { searchDocuments } from '../../../src/tools/search-documents.ts';

const named = (name: string, description = `It can ${name}.`) =>
  defineCapability({ name, description, arguments: z.object({ n: z.number().default(1) }), execute: () => name });

describe('the registry of capabilities', () => {
  test.each(['', 'Draft', ' draft', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'prototype'])(
    '[R10] returns undefined for the unknown name %j',
    (name) => {
      expect(createRegistry([named('draft')]).get(name)).toBeUndefined();
      expect(createRegistry([]).get(name)).toBeUndefined();
    },
  );

  test('accepts a capability named like a member of Object.prototype', () => {
    const { get, descriptors } = createRegistry([named('constructor'), named('__proto__')]);
    expect([get('constructor')?.name, get('__proto__')?.name, descriptors.length]).toEqual([
      'constructor',
      '__proto__',
      2,
    ]);
  });

  test('rejects duplicate names', () => {
    const twice = () => createRegistry([named('draft'), named('review'), named('draft')]);
    expect(twice).toThrowError(PostChainError);
    expect(twice).toThrowError(
      expect.objectContaining({ code: 'duplicate_capability', message: expect.stringMatching(/"draft".*rename/) }),
    );
  });

  it.each([
    ['weather.today', 'weather_today'],
    ['weather today', 'weather/today'],
    ['a', 'a'],
  ])('rejects %j next to %j, which are the same on the wire', (first, second) => {
    expect(() => createRegistry([named(first), named('other'), named(second)])).toThrowError(
      expect.objectContaining({
        code: 'duplicate_capability',
        message: expect.stringMatching(/^[^\n]*; names must be unique: rename one\.$/),
      }),
    );
  });

  test('[R10] accepts names that are different on the wire', () => {
    const names = ['weather', 'Weather', 'get-weather_2', 'weather.today', 'Wetter für morgen', 'x'.repeat(64)];
    expect(createRegistry(names.map((name) => named(name))).descriptors.map(({ name }) => name)).toEqual(
      names.toSorted(),
    );
  });
});

describe('searchDocuments', () => {
  const found = { query: 'x', widened: false };
  const passage = (text: string, startLine: number) => ({
    text,
    source: { path: 'a.md', startLine, endLine: startLine + 1 },
  });
  const context = {
    signal: new AbortController().signal,
    now: () => 0,
    sessionId: null,
    idempotencyKey: 'run-1.s1.action.1',
  };

  test('[R10] returns file, lines and text of the matches, and passes on limit and signal', async () => {
    const asked: unknown[] = [];
    const source = {
      search: async (...args: unknown[]) => {
        asked.push(args);
        return { ...found, passages: [passage('One.', 3), passage('Two.', 9)] };
      },
    } as unknown as PassageSource;
    expect(await searchDocuments(source).execute({ query: 'sky', limit: 2 }, context)).toBe(
      'a.md:3-4\nOne.\n\na.md:9-10\nTwo.',
    );
    expect(asked).toEqual([['sky', { limit: 2, minRelevance: 0, signal: context.signal }]]);
  });

  test('reports that nothing was found', async () => {
    const source: PassageSource = { search: async () => ({ ...found, passages: [] }) };
    expect(await searchDocuments(source).execute({ query: 'sky', limit: 5 }, context)).toBe('Nothing was found.');
  });
});
