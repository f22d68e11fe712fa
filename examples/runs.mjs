// Ten recorded runs on scripted models, one for each way in which a run can go. The site shows them in the inspector.
import { createPassageIndex, createPostChain, defineCapability, memoryJournals } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const documents = createPassageIndex([
  { path: 'hours.md', text: 'The library opens at nine, and at eleven on Sundays.' },
  { path: 'books.md', text: 'A reader can borrow ten books for four weeks.' },
]);

const refund = defineCapability({
  name: 'refund',
  description: 'Refunds an order.',
  arguments: z.object({ order: z.string(), euros: z.number() }),
  approval: ({ euros }) => euros > 50,
  execute({ order, euros }) {
    if (order !== 'A7') throw new Error(`There is no order ${order}.`);
    return `Refunded ${euros} euros for ${order}.`;
  },
});

const request = 'How do I get to the library?';
const WAYS = [
  'On foot along the river',
  'By tram, unless it snows',
  'With the early ferry',
  'Bicycles cross the hill faster',
  'Somebody drives you there',
  'Roller skates, perhaps',
  'Two buses and a lift',
];
const unsure = WAYS.map((answer) => ({ ...replies.yield, answer, confidence: 0.4 }));

/** Returns the options of a chain that makes one call per phase. `script` has the replies of a task; the last one repeats. */
function scripted(script, answerText = 'Take tram 4 to the market.', options = {}) {
  const usual = {
    ...replies,
    yield: { ...replies.yield, answer: answerText },
    synthesis: { ...replies.synthesis, answerText },
  };
  const model = scriptedModel(({ task }, call) => {
    const entries = script[task] ?? [usual[task]];
    return entries[Math.min(call, entries.length) - 1];
  });
  return { model, profile: 'thorough', ...options };
}

function refunding(order, euros, answerText) {
  const call = { capability: 'refund', arguments: JSON.stringify({ order, euros }) };
  const action = [{ ...replies.action, calls: [call] }, replies.action];
  return {
    options: scripted({ action }, answerText, { capabilities: [refund] }),
    run: { request: `Refund ${euros} euros for order ${order}.` },
  };
}

function deny({ type, questionId, digest }, run) {
  if (type === 'approval-asked') run.send({ type: 'approval.given', questionId, digest, decision: 'deny' });
}

function direct({ type, questionId, cycle }, run) {
  if (type !== 'direction-asked') return;
  run.send(
    cycle === 1 ? { type: 'run.directed', phase: 'intention', questionId } : { type: 'run.finished', questionId },
  );
}

const failed = { failure: { code: 'rate_limited', retryAfterMs: 30 } };
const RUNS = {
  'An answer from documents, without an LLM': {
    options: { documents },
    run: { request: 'When does the library open?' },
  },
  'An answer that the documents do not support': {
    options: scripted({}, 'Ask the night porter for a silver key.', { documents }),
    run: { request: 'When does the library open?' },
  },
  'Stopped by the cycle limit': { options: scripted({ yield: unsure }, undefined, { limits: { maxCycles: 2 } }) },
  'The same run, forked with a lower confidence threshold': { fork: { 'thresholds.confidence': 0.3 } },
  'A busy server, and a reply that is corrected': {
    options: scripted({ intention: [failed, replies.intention], yield: [{ text: '{"answer": 3}' }, replies.yield] }),
  },
  'A tool that fails': refunding('B2', 20, 'There is no order B2.'),
  'A tool call that a person denies': { ...refunding('A7', 80, 'I may not refund order A7.'), on: deny },
  'Canceled in its third phase': {
    options: scripted({}),
    on: ({ phase }, run) => phase === 'intention' && run.cancel(),
  },
  'Eight cycles until the answer is good': {
    options: scripted({ yield: [...unsure, replies.yield] }, undefined, {
      limits: { maxCycles: 9 },
    }),
  },
  'Directed by a person': { options: scripted({ yield: unsure }), run: { request, mode: 'manual' }, on: direct },
};

/** Returns the title and the journal of each run. */
export async function recordRuns() {
  const recorded = [];
  let chain;
  for (const [title, { options, run = { request }, on, fork }] of Object.entries(RUNS)) {
    const newId = () => `run-${recorded.length + 1}`;
    const before = recorded.at(-1)?.journal;
    if (options !== undefined) chain = createPostChain({ ...options, journals: memoryJournals(), newId });
    const started = fork
      ? await chain.fork(before[0].input.runId, { at: before.find(({ type }) => type === 'decision').seq, set: fork })
      : chain.run(run);
    for await (const event of started.events) on?.(event, started);
    await started.answer;
    recorded.push({ title, journal: started.entries });
  }
  return recorded;
}
