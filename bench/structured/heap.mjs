import { strict as assert } from 'node:assert';
import { createStructuredOutput } from '../../dist/index.js';
import { collectGarbage } from '../growth/collect-garbage.mjs';
import { replySchema } from '../stream/reply-schema.mjs';
import { createReader, longReply } from '../stream/text.mjs';
import { streamingModel } from './streaming-model.mjs';

const SAMPLES = 20;

/**
 * Measures the peak heap that one structured output retains, and the size of its value, in bytes per character of the text. The heap is
 * measured after a full collection, so that garbage does not count: twenty times during the stream, once during validation, after the
 * schema has made its copy, and once with the final value. The text itself exists before the first measurement and does not count.
 *
 * @param {{ chars: number }} options
 */
export async function measure({ chars }) {
  const text = longReply(chars);
  const chunks = Math.ceil(text.length / 4);
  const sampleEvery = Math.floor(chunks / SAMPLES);
  const baseline = heapBytes();
  let peak = 0;
  const sample = () => {
    peak = Math.max(peak, heapBytes() - baseline);
    return true;
  };
  const { value, partials } = await streamed(text, sample, sampleEvery);
  const before = heapBytes();
  const expected = JSON.parse(text);
  const weight = heapBytes() - before;
  assert.deepEqual(value, expected);
  return { peak: peak / text.length, weight: weight / text.length, share: partials / chunks };
}

/**
 * @param {string} text
 * @param {() => boolean} sample
 * @param {number} sampleEvery
 */
async function streamed(text, sample, sampleEvery) {
  const reader = createReader();
  const output = createStructuredOutput({
    model: streamingModel(text, (chunk) => chunk % sampleEvery === 0 && sample()),
    schema: replySchema.refine(sample),
    prompt: 'Report.',
    limits: { maxReplyChars: text.length },
  });
  let value;
  for await (const update of output) {
    if (update.type === 'partial') reader.read(update.value);
    else if (update.type === 'value') value = update.value;
  }
  sample();
  assert.equal(output.execution.attempts.length, 1);
  return { value, partials: reader.partials };
}

function heapBytes() {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
