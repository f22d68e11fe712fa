import { strict as assert } from 'node:assert';
import { createStructuredOutput } from '../../dist/index.js';
import { replySchema } from '../stream/reply-schema.mjs';
import { measureReading } from '../stream/text.mjs';
import { streamingModel } from './streaming-model.mjs';

/**
 * Reads one structured output: all partial values, then the validated value.
 *
 * @param {string} text
 * @param {ReturnType<typeof import('../stream/text.mjs').createReader>} reader
 */
export async function read(text, reader) {
  const output = createStructuredOutput({ model: streamingModel(text), schema: replySchema, prompt: 'Report.' });
  let value;
  for await (const update of output) {
    if (update.type === 'partial') reader.read(update.value);
    else if (update.type === 'value') value = update.value;
  }
  const failures = output.execution.attempts.map(({ failure }) => failure);
  assert.deepEqual(failures, [null]);
  return value;
}

/**
 * Measures microseconds from the start of one structured output to its value: streamed, partial values delivered and read, validated.
 *
 * @param {{ chars: number }} options
 */
export const measure = ({ chars }) => measureReading(chars, read);
