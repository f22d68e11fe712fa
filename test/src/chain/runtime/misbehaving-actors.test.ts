import { describe, expect, it } from 'vitest';
import { journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import type { ChatModel, ModelPart } from '../../../../machines/contracts/model.ts';
import type { Task } from '../../../../machines/contracts/phase.ts';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, settle, startScripted } from '../../../support/run-chain.ts';

const modelOf = (stream: (task: Task) => AsyncIterable<unknown>): ChatModel => ({
  id: 'broken',
  contextWindowTokens: 4_000,
  stream: ({ task }) => stream(task as Task) as AsyncIterable<ModelPart>,
});

async function* saying(task: Task, last: unknown): AsyncGenerator<unknown> {
  yield { type: 'text-delta', text: JSON.stringify(replies[task]) };
  yield last;
}

/** Starts a run and checks that it has a valid answer and journal whatever its actors do. */
async function answered(options: PostChainOptions) {
  const run = createPostChain({ limits: { maxCycles: 2, backoffBaseMs: 0 }, ...options }).run({
    request: 'Is it so?',
  });
  const answer = finalAnswerSchema.parse(await run.answer);
  for (const entry of run.entries) journalEntrySchema.parse(JSON.parse(JSON.stringify(entry)));
  expect(run.entries.at(-1)?.type).toBe('end');
  return { answer, run };
}

describe('an actor that breaks its contract', () => {
  it.each([
    ['no usage', { type: 'finish', reason: 'stop', usage: {} }],
    [
      'negative usage',
      { type: 'finish', reason: 'stop', usage: { inputTokens: -1e6, outputTokens: 1, estimated: false } },
    ],
    ['non-numeric usage', { type: 'finish', reason: 'stop', usage: { inputTokens: 'x', outputTokens: NaN } }],
  ])('[E3] a model with %s is charged with an estimate', async (_, last) => {
    const { answer } = await answered({ model: modelOf((task) => saying(task, last)) });
    expect(answer.status).toBe('completed');
    expect(answer.metadata.usage).toMatchObject({ estimated: true, inputTokens: expect.any(Number) });
    expect(answer.metadata.usage.inputTokens).toBeGreaterThan(0);
  });

  it.each([
    ['an invalid failure', { type: 'failure', failure: 'x' }],
    ['a failure with an invalid delay', { type: 'failure', failure: { retryAfterMs: -5 } }],
    ['non-string text', { type: 'text-delta', text: ['a'] }],
    ['an unknown stream part', { type: 'surprise' }],
    ['null', null],
  ])('[E3] a model that returns %s has failed, and the run still answers', async (_, part) => {
    const { answer } = await answered({
      model: modelOf(async function* () {
        yield part;
      }),
    });
    expect(answer.metadata.failures[0]?.failure).toMatchObject({ code: 'model_threw' });
  });

  it('[C8] a model that streams empty chunks forever still hits its deadlines', async () => {
    const model = modelOf(async function* () {
      for (;;) yield { type: 'text-delta', text: '' };
    });
    const { answer } = await answered({ model, limits: { totalMs: 60 } });
    expect(answer.metadata.reason).toBe('deadline_passed');
  });

  it('a model that ignores its abort signal is abandoned', async () => {
    let open = 0;
    const model = modelOf(async function* () {
      open += 1;
      try {
        for (;;) {
          yield { type: 'text-delta', text: 'x' };
          await settle(1);
        }
      } finally {
        open -= 1;
      }
    });
    const run = createPostChain({ model }).run({ request: 'Is it so?' });
    await settle(3);
    run.cancel();
    expect((await run.answer).status).toBe('cancelled');
    await settle(3);
    expect(open).toBe(0);
  });

  it.each([
    ['thorough', 'intention'],
    ['balanced', 'yield'],
    ['lean', 'experience'],
  ] as const)('[E3] a model that mutates its input changes nothing else (%s, %s)', async (profile, caller) => {
    const model: ChatModel = {
      id: 'vandal',
      contextWindowTokens: 4_000,
      stream: ({ task, input }) => {
        if (task === caller) (input as { messages: unknown[] }).messages.push(null);
        return saying(task as Task, { type: 'finish', reason: 'stop', usage: null }) as AsyncIterable<ModelPart>;
      },
    };
    const { answer } = await answered({ model, profile });
    expect(answer.status).toBe('completed');
  });

  it('[C5] a source that returns an invalid retrieval result counts as failed', async () => {
    const { run } = startScripted({}, { documents: { search: async () => ({ passages: [{ id: 1 }] }) as never } });
    expect((await run.answer).metadata).toMatchObject({ degraded: true, reason: 'search_failed' });
    expect(entriesOf(run, 'retrieval')).toMatchObject([
      { passages: 0, failure: expect.stringContaining('invalid retrieval') },
    ]);
  });
});
