import { appendFileSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { createPostChain } from '../../dist/index.js';
import { replies, scriptedModel } from '../../dist/testing.js';
import { dayLongLimits, journalsAt } from './journals-at.mjs';

/**
 * A run with a bit of everything: a model that fails once and answers nonsense once, two capability runs, passages, a question for
 * consent that nobody answers, and two cycles. Every model call and capability run is noted in a file, so that they can be counted over
 * the deaths of processes. Run as a program it kills itself at an entry: `node killed-run.mjs file|sqlite|postgres PLACE COUNTS SEQ`.
 */
export function aChain(kind, place, counts, killAt = Number.POSITIVE_INFINITY) {
  const note = (what) => appendFileSync(counts, `${what}\n`);
  const step = { capability: 'work', arguments: '{}' };
  /** The prompts of the calls: one for several phases asks this model for the reply of each. */
  const prompts = new WeakSet();
  const model = scriptedModel(
    (request) => {
      if (!prompts.has(request.turns)) note('call');
      prompts.add(request.turns);
      note(`model ${request.task}`);
      const count = readFileSync(counts, 'utf8')
        .split('\n')
        .filter((line) => line === `model ${request.task}`).length;
      if (request.task === 'action' && count === 1) return { failure: { code: 'server_error', status: 500 } };
      if (request.task === 'action') return { reply: { ...replies.action, calls: [step] } };
      if (request.task === 'intention' && count === 1) return { text: '{"goal": 3}' };
      const gave = request.turns.flatMap(({ content }) => content.match(/work gave/gu) ?? []).length;
      if (request.task === 'continuation')
        return { reply: { done: gave > 1, finalOutput: null, next: gave > 1 ? [] : [step] } };
      if (request.task === 'yield')
        return { reply: { ...replies.yield, confidence: 0.3, proposedPhase: 'experience' } };
      return { reply: replies[request.task] };
    },
    { chunkChars: 200 },
  );
  const work = {
    name: 'work',
    description: 'Works.',
    arguments: z.object({}),
    execute: () => {
      note('capability');
      return 'done';
    },
  };
  const store = journalsAt(kind, place);
  const chain = createPostChain({
    model,
    consent: 'ask',
    capabilities: [work],
    continuation: 'model',
    documents: { search: async (query) => ({ query, passages: [], widened: false }) },
    limits: { ...dayLongLimits, maxCycles: 2, backoffBaseMs: 1, consentMs: 1 },
    journals: { ...store, create: (runId) => killing(store.create(runId), killAt) },
    newId: () => 'run-1',
  });
  return { chain, store };
}

export const request = {
  request: 'Is it so?',
  history: [{ role: 'user', content: 'A long story. '.repeat(100) }],
};

/** A writer that kills its process after the step that contains the entry of this number. */
function killing(writer, killAt) {
  return {
    get failure() {
      return writer.failure;
    },
    write(entries) {
      const written = writer.write(entries);
      if (!entries.some(({ seq }) => seq === killAt)) return written;
      // SQLite writes later if the file is locked.
      return Promise.resolve(written).then(() => process.kill(process.pid, 'SIGKILL'));
    },
    close: () => writer.close(),
  };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , kind, place, counts, seq] = process.argv;
  await aChain(kind, place, counts, Number(seq)).chain.run(request).answer;
}
