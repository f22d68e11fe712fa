import { strict as assert } from 'node:assert';
import { parse } from 'jsonriver';
import { chunks, createReader, longReply } from './text.mjs';

/**
 * Measures microseconds of the incremental parser alone, with its values read and nothing validated.
 *
 * @param {{ chars: number }} options
 */
export async function measure({ chars }) {
  const text = longReply(chars);
  const reader = createReader();
  const startedAt = performance.now();
  let value;
  for await (value of parse(chunks(text))) reader.read(value);
  const microseconds = (performance.now() - startedAt) * 1000;
  assert.deepEqual(value, JSON.parse(text));
  return { microseconds, share: reader.partials / Math.ceil(text.length / 4) };
}
