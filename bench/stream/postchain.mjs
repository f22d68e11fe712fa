import { strict as assert } from 'node:assert';
import * as z from 'zod';
import { createPostChain, definePrompt } from '../../dist/index.js';
import { streamingModel } from '../structured/streaming-model.mjs';
import { replySchema } from './reply-schema.mjs';
import { createReader, longReply } from './text.mjs';

/** Yield with a longer reply, read and validated by the real attempt machine. */
const prompt = definePrompt({
  name: 'yield',
  version: 1,
  input: z.unknown(),
  output: replySchema,
  system: () => 'Answer with a report.',
  user: () => 'What does it cost to keep retries bounded?',
});

/**
 * Measures microseconds from the start of a run with one attempt to its answer: streamed, journaled chunk by chunk, partial values
 * delivered and read, validated.
 *
 * @param {{ chars: number }} options
 */
export async function measure({ chars }) {
  const text = longReply(chars);
  const limits = { maxCycles: 1, synthesisReserveTokens: 0 };
  const chain = createPostChain({ model: streamingModel(text), prompts: { yield: prompt }, limits });
  const reader = createReader();
  const startedAt = performance.now();
  const run = chain.run({ request: 'Report.', startAt: 'yield' });
  for await (const event of run.events) if (event.type === 'partial') reader.read(event.value);
  const microseconds = (performance.now() - startedAt) * 1000;

  const attempts = run.entries.filter((entry) => entry.type === 'attempt-end');
  assert.deepEqual(
    attempts.map(({ failure }) => failure),
    [null],
  );
  assert.deepEqual(run.ref.getSnapshot().context.results.yield?.reply, JSON.parse(text));
  const deltas = run.entries.filter((entry) => entry.type === 'text-delta');
  assert.equal(deltas.map((entry) => entry.text).join(''), text);
  return { microseconds, share: reader.partials / deltas.length };
}
