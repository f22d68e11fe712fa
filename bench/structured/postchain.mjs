import { strict as assert } from 'node:assert';
import { createStructuredOutput } from '../../dist/index.js';
import { replySchema } from '../stream/reply-schema.mjs';
import { createReader, longReply } from '../stream/text.mjs';
import { streamingModel } from './streaming-model.mjs';

/**
 * Measures microseconds from the start of one structured output to its value: streamed, partial values delivered and read, validated.
 *
 * @param {{ chars: number }} options
 */
export async function measure({ chars }) {
  const text = longReply(chars);
  const reader = createReader();
  const startedAt = performance.now();
  const output = createStructuredOutput({ model: streamingModel(text), schema: replySchema, prompt: 'Report.' });
  let value;
  for await (const update of output) {
    if (update.type === 'partial') reader.read(update.value);
    else if (update.type === 'value') value = update.value;
  }
  const microseconds = (performance.now() - startedAt) * 1000;
  assert.deepEqual(value, JSON.parse(text));
  assert.deepEqual(
    output.execution.attempts.map(({ failure }) => failure),
    [null],
  );
  return { microseconds, share: reader.partials / Math.ceil(text.length / 4) };
}
