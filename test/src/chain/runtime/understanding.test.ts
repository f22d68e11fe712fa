import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Message } from '../../../../machines/contracts/message.ts';
import type { ChatModel, EmbeddingModel } from '../../../../machines/contracts/model.ts';
import { contextOf } from '../../../../machines/policies/context.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import type { RunOptions } from '../../../../src/chain/runtime/run-options.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage, sourceOf } from '../../../support/contract-samples.ts';
import {
  eager,
  entriesOf,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
  worthASummary,
} from '../../../support/run-chain.ts';

/** A run on a scripted model with its own tokenizer or window. */
function startMeasured(
  model: Partial<ChatModel>,
  options: Partial<PostChainOptions> = {},
  run: Partial<RunOptions> = {},
) {
  const scripted = scriptedModel(({ task }) => replies[task as keyof typeof replies]);
  const chain = createPostChain({
    consent: 'ask',
    newId: () => 'r',
    clock: new SimulatedClock(),
    ...options,
    model: { ...scripted, ...model },
  });
  return { run: chain.run({ request: 'Is it so?', ...run }), scripted };
}

const long = (words: string, times = 400) => `${words} `.repeat(times).trim();
/** Large enough to need exact counting for a window of 2,000 tokens, but within the limit. */
const worthALot = { ...(worthASummary[0] as Message), content: 'It was so. '.repeat(100) };
const statesOf = (run: ReturnType<typeof startMeasured>['run']) =>
  entriesOf(run, 'transition').flatMap(({ target }) => target.filter((state) => state.includes('understanding')));

describe('measurements of Understanding', () => {
  it('[U10] use the tokenizer of the model if the context may be over its limit', async () => {
    const countTokens = async (texts: readonly string[]) => texts.map(({ length }) => length);
    const history = [
      { role: 'assistant', content: long('so', 1_000) } as const,
      { role: 'assistant', content: 'So.' } as const,
    ];
    const { run } = startMeasured({ countTokens, contextWindowTokens: 3_000 }, {}, { history });
    await run.answer;
    const [evaluated] = entriesOf(run, 'context-evaluated');
    expect(evaluated?.statistics).toMatchObject({ estimated: false, tokensAllowed: 2_100 });
    expect(evaluated?.statistics.tokensAfter).toBeLessThanOrEqual(2_100);
    expect(evaluated?.statistics.tokensBefore).toBeGreaterThan(2_100);
  });

  it('[U10] are estimates, with a notice, if the tokenizer fails', async () => {
    const countTokens = async () => {
      throw new Error('no vocabulary');
    };
    const { run } = startMeasured({ countTokens, contextWindowTokens: 2_000 }, {}, { messages: [worthALot] });
    expect((await run.answer).answerText).not.toBe('');
    const [evaluated] = entriesOf(run, 'context-evaluated');
    expect(evaluated).toMatchObject({
      statistics: { estimated: true },
      problem: expect.stringContaining('no vocabulary'),
    });
  });

  it('[U1] use the similarity of messages to the request if there is an embedding model', async () => {
    const near: EmbeddingModel = {
      id: 'near',
      embed: async (texts) => texts.map((text) => (text.includes('so') ? [1, 0] : [0, 1])),
    };
    const { run } = startMeasured({}, { embeddings: near });
    await run.answer;
    expect(statesOf(run).some((state) => state.includes('measuring'))).toBe(true);
    expect(entriesOf(run, 'context-evaluated')[0]?.problem).toBeNull();
  });
});

describe('summaries', () => {
  const summaryOf = (run: ReturnType<typeof startScripted>['run']) =>
    entriesOf(run, 'operations')
      .flatMap(({ applied }) => applied)
      .find(({ operation }) => operation === 'TRANSFORM');
  const options = { messages: worthASummary };

  it('[U5] by the model are marked as such', async () => {
    const summaries = [{ messageId: 'earlier.long', summary: 'It was so.' }];
    const { run } = startScripted({ summary: { summaries } }, { thresholds: eager }, options);
    await run.answer;
    expect(summaryOf(run)).toMatchObject({ data: { content: 'It was so.' }, metadata: { summaryBy: 'model' } });
  });
});

describe('a user history that is over the limit from the start', () => {
  const words = 'The pump in the cellar hums at night and nobody knows why. '.repeat(16);
  const history = Array.from({ length: 40 }, (_, at) => ({ role: 'user', content: `Day ${at}. ${words}` }) as const);
  const start = (choice: string) => {
    const started = startMeasured({ contextWindowTokens: 8_000 }, {}, { request: 'How is the pump?', history });
    started.run.ref.on('consent-asked', () =>
      queueMicrotask(() => sendAnswer(started.run, { type: 'consent.given', choice })),
    );
    return started;
  };

  it('[U8] [U10] is kept in full if the user keeps everything, and the answer explains why there is none', async () => {
    const { run } = start('keep');
    const answer = await run.answer;
    expect(entriesOf(run, 'context-evaluated')[0]?.statistics).toMatchObject({ pruned: 0, summarized: 0 });
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'incomplete_state' } });
    expect(answer.notes).toContain('tokens over its limit');
    expect(entriesOf(run, 'consent-asked')).toHaveLength(1);
  });
});

describe('a conversation in which user messages leave little space for the others', () => {
  const words = (about: string) => `${about} was on everyone’s mind that day, and nobody knew what to do. `.repeat(12);
  const history = Array.from({ length: 20 }, (_, at) => [
    { role: 'user', content: `Day ${at}. ${words('The weather')}` } as const,
    { role: 'assistant', content: `Day ${at}. ${words(at === 3 ? 'The pump in the cellar' : 'A meal')}` } as const,
  ]).flat();
  const answered = async (choice: string) => {
    const { run } = startMeasured({ contextWindowTokens: 8_000 }, {}, { request: 'How is the pump?', history });
    run.ref.on('consent-asked', () => queueMicrotask(() => sendAnswer(run, { type: 'consent.given', choice })));
    await run.answer;
    const [evaluated] = entriesOf(run, 'context-evaluated');
    const contents = new Map(contextOf(contextHistory(run.entries)).map(({ id, content }) => [id, content]));
    return { run, evaluated, contents };
  };

  it('[U8] [U14] the user is asked, and relevant assistant messages stay whole if they agree', async () => {
    const { evaluated, contents, run } = await answered('remove');
    expect(contents.get('earlier.h8')).toBe(history[7]?.content);
    expect(entriesOf(run, 'consent-resolved')[0]?.removed).toBeLessThan(10);
    expect(evaluated?.statistics.tokensAfter).toBeLessThanOrEqual(5_600);
  });

  it('[U8] [U10] the context fits its limit even if they keep everything, and no operation is lost or doubled', async () => {
    const { evaluated, run } = await answered('keep');
    expect(evaluated?.statistics.tokensOver).toBe(0);
    expect(evaluated?.pruningLog.filter(({ role }) => role === 'user')).toEqual([]);
    const ids = entriesOf(run, 'operations').flatMap(({ applied }) => applied.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    const lost = evaluated?.pruningLog.map(({ messageId }) => messageId) ?? [];
    expect(new Set(lost).size).toBe(lost.length);
    expect(contextOf(contextHistory(run.entries))).toEqual(run.ref.getSnapshot().context.messages);
  });
});

describe('a run stopped while answers are compared', () => {
  const hanging: EmbeddingModel = {
    id: 'hanging',
    embed: (texts) => (texts.length === 2 ? new Promise(() => {}) : Promise.resolve(texts.map(() => [1, 0]))),
  };

  it.each(['run.finished', 'run.cancelled', 'run.interrupted'] as const)(
    '[U12] by %s has reported every applied operation',
    async (type) => {
      const plan = { yield: (call: number) => ({ ...unsureAnswer(call), answer: `Answer ${'x'.repeat(call)}.` }) };
      const { run } = startScripted(plan, { embeddings: hanging });
      await settle();
      expect(JSON.stringify(run.ref.getSnapshot().value)).toContain('comparing');
      run.send({ type });
      await run.answer;
      const { messages } = run.ref.getSnapshot().context;
      expect(contextOf(contextHistory(run.entries))).toEqual(messages);
    },
  );
});

const QUESTION = 'When was the harbor bridge opened?';
const FOUND = 'The harbor bridge was opened on 19 March 1932.';
const turns = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ role: 'user' as const, content: `Note ${at}: buy milk.` }));
const documents = sourceOf(aPassage({ id: 'p', text: FOUND }));

describe('a long history with space left in the context window', () => {
  it('[U10] leaves room for the passages that the run finds, so that the answer uses them', async () => {
    const run = createPostChain({ documents }).run({ request: QUESTION, history: turns(198) });
    const answer = await run.answer;
    expect(answer.answerText).toContain('19 March 1932');
    expect(answer.status).toBe('completed');
  });
});
