import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Every requirement by its id: the rooms of the product and how many rows each has. */
const ROWS = { C: 8, U: 14, Y: 12, R: 10, E: 10, A: 13 };
const ids = Object.entries(ROWS).flatMap(([room, rows]) =>
  Array.from({ length: rows }, (_, row) => `${room}${row + 1}`),
);

/** Not yet proved by a test, with the issue that will. This list only ever gets shorter. */
const pending: Readonly<Record<string, number>> = {};

/**
 * Proved in part: tests name the row, and the rest of it waits for its issue. A row stands here or in `pending`, never in both;
 * this list, too, only ever gets shorter.
 */
const partly: Readonly<Record<string, { readonly issue: number; readonly missing: string }>> = {};

const proved = new Set(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && file !== 'requirements.test.ts')
    .flatMap((file) => [...readFileSync(join('test', file), 'utf8').matchAll(/\[([CUYREA]\d+)\b/g)])
    .map(([, id]) => id),
);

describe('the requirements', () => {
  it.each(ids)('%s is named by a test, or listed with the issue that will prove it', (id) => {
    expect(proved.has(id) !== id in pending).toBe(true);
  });

  it.each(Object.keys(partly))('%s, proved in part, is a row that a test names', (id) => {
    expect(ids).toContain(id);
    expect(proved.has(id)).toBe(true);
  });

  it('are all that tests name', () => {
    expect([...proved].filter((id) => !ids.includes(id as string))).toEqual([]);
  });
});
