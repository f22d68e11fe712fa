import { createPassageIndex, createPostChain, memoryJournals, readRun, replay } from 'postchain';
import { openaiModel } from 'postchain/openai';
import { createStructuredOutput } from 'postchain/structured-output';
import * as z from 'zod';

const text = 'The Yield phase decides whether another cycle helps. It grades the answer first.';
const block = { text, heading: ['Yield'], startLine: 1, endLine: 1, kind: 'prose', lines: [1] };

const PROGRESS = ['reply.started', 'reply.progressed'];

/**
 * Whether an entry exists only if a reply arrives in several turns of the event loop (a piece of its text, its progress, or the delay after
 * it), or is a transition: the search and Action's call run at the same time, and may end in either order.
 */
const dependsOnTiming = ({ type, event }) =>
  ['text-delta', 'transition', 'timer-start'].includes(type) || PROGRESS.includes(event?.type);

/** Runs a chain with a journal in memory, replays it, and gets one typed value, all from the model server at `baseURL`. */
export async function runProgram(baseURL) {
  const model = openaiModel({ model: 'good', baseURL });
  const journals = memoryJournals();
  const documents = createPassageIndex([{ path: 'yield.md', blocks: [block] }]);
  const chain = createPostChain({ model, documents, journals });
  const run = chain.run({ request: 'What does the Yield phase decide?' });
  const events = [];
  for await (const event of run.events) events.push(event.type);
  const answer = await run.answer;
  const entries = await readRun(journals.read(run.id));
  const { divergence } = replay(entries);

  const recipe = createStructuredOutput({
    model,
    name: 'recipe',
    schema: z.object({ title: z.string(), minutes: z.int(), steps: z.array(z.string()) }),
    prompt: 'How do I make pancakes?',
  });
  const titles = [];
  for await (const update of recipe) if (update.type === 'partial') titles.push(update.value.title);
  return {
    status: answer.status,
    answerText: answer.answerText,
    sources: answer.sources.map(({ path }) => path),
    events: [...new Set(events)].sort(),
    types: entries
      .filter((entry) => !dependsOnTiming(entry))
      .map(({ type }) => type)
      .sort(),
    divergence,
    value: await recipe.value,
    title: titles.at(-1),
  };
}
