import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { argumentsPart, readAll, streamOf } from '../support/model-streams.ts';

const FOLDER = join(import.meta.dirname, '../../../shared/data/json-test-suite/test_parsing');
const isThere = existsSync(FOLDER);
if (!isThere) process.stderr.write(`JSONTestSuite is not measured: there is no ${FOLDER}\n`);

/** Above this size in bytes a file is split at this many evenly spaced positions, below it at every position. */
const LARGE_BYTES = 2_000;
const CUTS_OF_LARGE = 200;

interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Decodes like an HTTP client: replaces invalid UTF-8 and drops a byte order mark. */
  readonly text: string;
}

const samples: readonly Sample[] = (isThere ? readdirSync(FOLDER) : []).sort().map((name) => {
  const bytes = readFileSync(join(FOLDER, name));
  return { name, bytes, text: new TextDecoder().decode(bytes) };
});

/** Returns the text of these bytes in chunks split at these positions, also within a character. */
function piecesOf(bytes: Uint8Array, places: readonly number[]): readonly string[] {
  const decoder = new TextDecoder();
  const pieces = [0, ...places].map((from, index) =>
    decoder.decode(bytes.subarray(from, places[index] ?? bytes.length), { stream: true }),
  );
  return [...pieces, decoder.decode()];
}

function everyCutting({ bytes }: Sample): readonly (readonly number[])[] {
  const { length } = bytes;
  const each = Array.from({ length: Math.max(0, length - 1) }, (_, at) => at + 1);
  if (length <= LARGE_BYTES) return [[], ...each.map((at) => [at]), each];
  return [
    [],
    ...Array.from({ length: CUTS_OF_LARGE }, (_, n) => [Math.floor(((n + 1) * length) / (CUTS_OF_LARGE + 1))]),
    each,
  ];
}

/** Returns the result of JSON.parse, or null if it throws. */
function known(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

const readArguments = (pieces: readonly string[]) =>
  readAll(streamOf(pieces.map((piece) => argumentsPart(piece))), { form: 'tool-call', onPartial: () => {} });
const readText = (pieces: readonly string[]) => readAll(streamOf(pieces), { onPartial: () => {} });

/** Compares including the sign of zero, the own key `__proto__`, and the order of keys. */
function expectSame(value: unknown, wanted: unknown, name: string): void {
  expect(value, name).toStrictEqual(wanted);
  expect(orderOf(value), name).toBe(orderOf(wanted));
}

/** Whether a text contains a number whose digits JSON.parse does not keep: a long integer, or one beyond all numbers. */
const hasLongNumber = (text: string): boolean =>
  [...text.matchAll(/-?(\d+(?:\.\d+)?)([eE][+-]?\d+)?/gu)].some(([number, digits = '', exponent]) => {
    const value = Math.abs(Number(number));
    const isRounded = exponent === undefined || digits.replace(/^0+|\./gu, '').length > 15;
    return value > Number.MAX_SAFE_INTEGER && (isRounded || !Number.isFinite(value));
  });

const orderOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (Object.is(one, -0) ? '-0' : one));

describe.skipIf(!isThere)('JSONTestSuite', () => {
  test('is complete, and JSON.parse agrees with the file names', () => {
    expect(samples).toHaveLength(318);
    for (const { name, text } of samples)
      if (!name.startsWith('i_')) expect(known(text) !== null, name).toBe(name.startsWith('y_'));
  });

  test.each(['y_', 'n_', 'i_'])(
    '[A12] tool-call arguments: the %s files match JSON.parse, split at any position and byte by byte',
    async (kind) => {
      for (const sample of samples.filter(({ name }) => name.startsWith(kind))) {
        const wanted = known(sample.text);
        for (const places of everyCutting(sample)) {
          const { value, failure } = await readArguments(piecesOf(sample.bytes, places));
          const what = `${sample.name} cut at ${places.slice(0, 3)}`;
          const isLong = wanted !== null && hasLongNumber(sample.text);
          expect(failure === null, what).toBe(wanted !== null && !isLong);
          // JSON.parse would round it.
          if (isLong) continue;
          if (wanted === null)
            expect({ value, stage: failure?.stage }, what).toEqual({ value: null, stage: 'extraction' });
          else expectSame(value, wanted.value, what);
        }
      }
    },
  );

  test('[A12] JSON in text: every object of the suite is the value, split at any position and byte by byte', async () => {
    const objects = samples.filter(({ name, text }) => name.startsWith('y_') && text.trim().startsWith('{'));
    expect(objects.length).toBeGreaterThan(10);
    for (const sample of objects)
      for (const places of everyCutting(sample)) {
        const { value, failure } = await readText(piecesOf(sample.bytes, places));
        expect(failure, sample.name).toBeNull();
        expectSame(value, JSON.parse(sample.text), sample.name);
      }
  });

  test('[A10] JSON in text: only the valid part of invalid JSON is used, from a bracket on', async () => {
    for (const sample of samples.filter(({ name }) => name.startsWith('n_')))
      for (const places of everyCutting(sample)) {
        const { value, failure } = await readText(piecesOf(sample.bytes, places));
        if (failure === null) expect(parts(sample.text), sample.name).toContainEqual(value);
        else expect({ value, stage: failure.stage }, sample.name).toEqual({ value: null, stage: 'extraction' });
      }
  });
});

/** Returns every valid value in a text that spans from a bracket to a bracket. */
function parts(text: string): readonly unknown[] {
  const places = (brackets: RegExp): readonly number[] => [...text.matchAll(brackets)].map(({ index }) => index);
  const ends = places(/[}\]]/g);
  return places(/[{[]/g)
    .flatMap((from) => ends.filter((to) => to > from).map((to) => known(text.slice(from, to + 1))))
    .flatMap((found) => (found === null ? [] : [found.value]));
}
