import { strict as assert } from 'node:assert';
import { chunks, createReader, longReply } from './text.mjs';

/**
 * Measures microseconds to read the chunks and parse once at the end, with no partial values: the lower bound for any stream.
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
