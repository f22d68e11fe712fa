import { createPostChain, type DecidingFunction, defineCapability } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import { z } from 'zod';

const draft = defineCapability({
  name: 'draft',
  description: 'Writes a first text on a topic.',
  arguments: z.object({ topic: z.string() }),
  execute: async ({ topic }) => `Of ${topic}: they dance to say where the flowers are.`,
});
const review = defineCapability({
  name: 'review',
  description: 'Says what a text lacks.',
  arguments: z.object({ text: z.string().min(1) }),
  execute: async ({ text }) => (text.includes('sun') ? 'Nothing.' : 'Say that the dance goes by the sun.'),
});
const summarise = defineCapability({
  name: 'summarise',
  description: 'Puts a text and the remarks on it into one sentence.',
  arguments: z.object({ text: z.string(), remarks: z.string() }),
  execute: async ({ text, remarks }) => `${text.split(':')[0]}, in short (heeding "${remarks}"): a dance by the sun.`,
});
export const capabilities = [draft, review, summarise];

/** Looks at all results so far: reviews a draft, summarises both, and is done; `closing` then takes the summary's place. */
export function editor(closing: string | null): DecidingFunction {
  return ({ results }) => {
    const outputOf = (name: string): string | undefined =>
      results.findLast(({ capability, success }) => capability === name && success)?.output;
    const text = outputOf('draft');
    const remarks = outputOf('review');
    if (text === undefined) return { done: true };
    if (outputOf('summarise') !== undefined) return { done: true, finalOutput: closing };
    const next =
      remarks === undefined
        ? { capability: 'review', arguments: { text } }
        : { capability: 'summarise', arguments: { text, remarks } };
    return { done: false, next };
  };
}

const call = { capability: 'draft', arguments: '{"topic":"bees"}' };
for (const closing of [null, 'Bees dance by the sun.']) {
  const model = scriptedModel({ action: [{ ...replies.action, call }] }, { otherwise: replies });
  const run = createPostChain({ model, capabilities, decider: editor(closing) }).run({ request: 'Write on bees.' });
  for await (const event of run.events) {
    if (event.type === 'capability-end') console.log(`${event.result.capability}: ${event.result.output}`);
    if (event.type === 'capability-stop') console.log(`stopped after ${event.runs} runs: ${event.reason}`);
  }
  const { action } = run.actor.getSnapshot().context.results;
  console.log(`Action came to: ${action?.results.at(-1)?.output}`);
}
