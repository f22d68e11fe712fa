import { strict as assert } from 'node:assert';
import { chunks, createReader, longReply } from './text.mjs';

/**
 * Microseconds of taking the chunks in and parsing once at the end: no partial value, and what no stream can be cheaper than.
 *
 * @param {{ chars: number }} options
 */
export async function measure({ chars }) {
  const text = longReply(chars);
  const reader = createReader();
  const startedAt = performance.now();
  let accumulated = '';
  for await (const chunk of chunks(text)) accumulated += chunk;
  reader.read(JSON.parse(accumulated));
  const microseconds = (performance.now() - startedAt) * 1000;
  assert.equal(accumulated, text);
  return { microseconds, share: reader.partials / Math.ceil(text.length / 4) };
}
