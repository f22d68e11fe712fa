import { strict as assert } from 'node:assert';
import { parsePartialJson } from 'ai';
import { chunks, createReader, longReply } from './text.mjs';

/**
 * Measures microseconds of AI SDK's parser, called with the text so far at each chunk, as its object stream does. Nothing is validated.
 *
 * @param {{ chars: number }} options
 */
export async function measure({ chars }) {
  const text = longReply(chars);
  const reader = createReader();
  const startedAt = performance.now();
  let accumulated = '';
  let value;
  for await (const chunk of chunks(text)) {
    accumulated += chunk;
    ({ value } = await parsePartialJson(accumulated));
    reader.read(value);
  }
  const microseconds = (performance.now() - startedAt) * 1000;
  assert.deepEqual(value, JSON.parse(text));
  return { microseconds, share: reader.partials / Math.ceil(text.length / 4) };
}
