import { expect, test } from 'vitest';
import * as z from 'zod';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import type { Task } from '../../../../machines/contracts/phase.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { chatServer, streaming } from '../../../support/chat-server.ts';
import { TestClock } from '../../../support/simulated-clock.ts';
import { SUBJECTS, type Subject } from './subjects.ts';
import type { RecordedReply } from './wire-formats.ts';

const calculate = defineCapability({
  name: 'calculate',
  description: 'Calculates an expression.',
  arguments: z.object({ expression: z.string() }),
  execute: () => 42,
});

/** Action calls a tool; every other task replies with JSON, in pieces of this size. */
function replyTo(task: Task, size: number): RecordedReply {
  if (task === 'action') {
    return { calls: [{ name: 'calculate', arguments: ['{"expression":"6*7"}'] }], finish: 'tool-calls' };
  }
  const text = JSON.stringify(replies[task]);
  return { text: text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [], finish: 'stop' };
}

/** Runs the chain on a server that replies to each task in the subject's format. */
async function journalOf(subject: Subject, at: number): Promise<readonly JournalEntry[]> {
  let task: Task = 'action';
  const server = await chatServer(({ body, response }) => {
    streaming(response).end(subject.wire.events(replyTo(task, 7 + at), body).join(''));
  });
  const inner = subject.create(server.baseURL, 'sk-Test-4fQ9zLw0mB7xKc2RtYv8Hn5Jd');
  const model: ChatModel = {
    ...inner,
    stream(request, options) {
      task = request.task as Task;
      return inner.stream(request, options);
    },
  };
  const { countTokens: _, ...withoutTokenizer } = model;
  const chain = createPostChain({
    model: withoutTokenizer,
    capabilities: [calculate],
    clock: new TestClock(),
    newId: () => 'run-1',
  });
  const run = chain.run({ request: 'What is 6 times 7?' });
  expect((await run.answer).status).toBe('completed');
  return run.entries;
}

/**
 * Names of what may differ between providers: the model's id, the ids of tool calls (and digests of inputs that contain them), the usage and what is counted from it, and what depends on the pieces in which
 * a reply arrives (`chars` of its first piece, the numbers of the entries).
 */
const DIFFERENT = new Set(['modelId', 'usage', 'tokens', 'chars', 'seq', 'toolCallId', 'toolCall', 'inputDigest']);

/** Returns the entries without what may differ, and with the deltas of a text as one. */
function comparable(journal: readonly JournalEntry[]): readonly unknown[] {
  const entries = journal.filter(({ type }) => type !== 'text-delta');
  const texts = journal.flatMap((entry) => (entry.type === 'text-delta' ? [entry.text] : []));
  const kept = JSON.parse(JSON.stringify(entries), (name, value) => (DIFFERENT.has(name) ? undefined : value));
  return [...kept, texts.join('')];
}

test('a chain writes the same journal over every provider that gives the same replies', async () => {
  const [first, ...others] = SUBJECTS.filter(({ name }) => !name.startsWith('example'));
  if (first === undefined) throw new Error('no subjects');
  const expected = comparable(await journalOf(first, 0));
  expect(JSON.stringify(expected)).toContain('6*7');
  for (const [at, subject] of others.entries()) {
    expect(comparable(await journalOf(subject, at + 1)), subject.name).toEqual(expected);
  }
});
