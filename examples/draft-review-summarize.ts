import { createPostChain, type DecidingFunction, defineCapability } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const draft = defineCapability({
  name: 'draft',
  description: 'Writes a first draft about a topic.',
  arguments: z.object({ topic: z.string() }),
  execute: async ({ topic }) => `About ${topic}: they dance to show where the flowers are.`,
});
const review = defineCapability({
  name: 'review',
  description: 'Points out what is missing in a text.',
  arguments: z.object({ text: z.string().min(1) }),
  execute: async ({ text }) => (text.includes('sun') ? 'Nothing.' : 'Mention that the dance follows the sun.'),
});
const summarize = defineCapability({
  name: 'summarize',
  description: 'Condenses a text and the remarks about it into one sentence.',
  arguments: z.object({ text: z.string(), remarks: z.string() }),
  execute: async ({ text, remarks }) =>
    `${text.split(':')[0]}, in short (after "${remarks}"): a dance that follows the sun.`,
});
export const capabilities = [draft, review, summarize];

/** Chooses the next step from all results: review the draft, summarize both, stop. A `closing` replaces the summary. */
export function editor(closing: string | null): DecidingFunction {
  return ({ results }) => {
    const outputOf = (name: string): string | undefined =>
      results.findLast(({ capability, success }) => capability === name && success)?.output;
    const text = outputOf('draft');
    const remarks = outputOf('review');
    if (text === undefined) return { done: true };
    if (outputOf('summarize') !== undefined) return { done: true, finalOutput: closing };
    const next =
      remarks === undefined
        ? { capability: 'review', arguments: { text } }
        : { capability: 'summarize', arguments: { text, remarks } };
    return { done: false, next };
  };
}

const call = { capability: 'draft', arguments: '{"topic":"bees"}' };
for (const closing of [null, 'Bees dance by the sun.']) {
  const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
  const run = createPostChain({ model, capabilities, continuation: editor(closing) }).run({
    request: 'Write about bees.',
  });
  for await (const event of run.events) {
    if (event.type === 'capability-end') console.log(`${event.result.capability}: ${event.result.output}`);
    if (event.type === 'capability-stop') console.log(`stopped after ${event.runs} runs: ${event.reason}`);
  }
  const { action } = run.ref.getSnapshot().context.results;
  console.log(`Action result: ${action?.results.at(-1)?.output}`);
}
