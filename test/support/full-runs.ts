import fc from 'fast-check';
import { z } from 'zod';
import type { Message } from '../../machines/contracts/message.ts';
import { createPassageIndex } from '../../src/documents/passage-index.ts';
import { memorySessions } from '../../src/engine/runtime/memory-sessions.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import { defineCapability } from '../../src/tools/capability.ts';
import { wish } from './every-task.ts';
import { LONG_HISTORY } from './journal-file.ts';
import { aRandomRun, limitsOf, planOf } from './random-runs.ts';
import { scriptedChain, worthASummary } from './run-chain.ts';

const outcomes = fc.infiniteStream(fc.constantFrom('works', 'works', 'works', 'fails', 'limited', 'hangs'));

/** A random run of a chain that has everything there is: documents, a session, embeddings, a fallback, tools; each may fail. */
export const aFullRun = fc.record({
  random: aRandomRun,
  searches: outcomes,
  embeds: outcomes,
  works: outcomes,
  remembers: outcomes,
  replyForm: fc.constantFrom('text' as const, 'tool-call' as const),
  before: fc.constantFrom('nothing', 'long turns', 'messages'),
});
export type FullRun = typeof aFullRun extends fc.Arbitrary<infer Value> ? Value : never;

function worldOf(stream: Iterable<string>) {
  const next = stream[Symbol.iterator]();
  return async <Value>(signal: AbortSignal, act: () => Value | Promise<Value>): Promise<Value> => {
    switch (next.next().value) {
      case 'fails':
        throw new Error('it\u001b[31m is dead');
      case 'limited':
        throw Object.assign(new Error('too many requests'), { status: 429, retryAfterMs: 1000 });
      case 'hangs':
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
        );
      default:
        return act();
    }
  };
}

const text = 'It is so, and it was so in winter.';
const index = createPassageIndex([
  { path: 'a.md', blocks: [{ text, heading: ['A'], startLine: 1, endLine: 1, kind: 'prose', lines: [1] }] },
]);

export function fullChain(full: FullRun, options: Parameters<typeof scriptedChain>[1] = {}) {
  const [searches, embeds] = [worldOf(full.searches), worldOf(full.embeds)];
  const [works, remembers] = [worldOf(full.works), worldOf(full.remembers)];
  const store = memorySessions();
  const work = defineCapability({
    name: 'work',
    description: 'Works.',
    arguments: z.object({}),
    execute: (_, { signal }) => works(signal, () => 'done'),
  });
  return scriptedChain(planOf(full.random), {
    capabilities: [work],
    documents: { search: (query, how) => searches(how.signal, () => index.search(query, how)) },
    embeddings: {
      id: 'lengths',
      embed: (texts, { signal }) => embeds(signal, () => texts.map(({ length }) => [length, 1])),
    },
    sessions: {
      recall: (id, how) => remembers(how.signal, () => store.recall(id, how)),
      append: (id, turn, how) => remembers(how.signal, () => store.append(id, turn, how)),
    },
    fallbackModels: [scriptedModel({}, { id: 'second', nativeTools: true, otherwise: replies })],
    prices: { currency: 'EUR', models: { scripted: { inputPerMillion: 1, outputPerMillion: 2 } } },
    decider: async ({ results }) => ({ done: results.length > 1, next: wish, finalOutput: null }),
    replyForm: full.replyForm,
    ...options,
    limits: { ...limitsOf(full.random), consentMs: 5000 },
  });
}

export function fullRunOptions({ random: { startAt, mode }, before }: FullRun) {
  const messages: readonly Message[] = worthASummary;
  return {
    request: 'Is it so?',
    startAt,
    mode,
    sessionId: 's',
    ...(before === 'long turns' && { history: LONG_HISTORY }),
    ...(before === 'messages' && { messages }),
  };
}
