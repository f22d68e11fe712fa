import { describe, expect, it } from 'vitest';

import type { Message } from '../../../../machines/contracts/message.ts';
import type { ChatModel, EmbeddingModel } from '../../../../machines/contracts/model.ts';
import { createAnswerComparer, createContextMeasurer } from '../../../../src/chain/runtime/context-measures.ts';
import { aMessage } from '../../../support/contract-samples.ts';
import { throwing } from '../../../support/errors.ts';

const said = (content: string): Message => aMessage({ content });
const { signal } = new AbortController();

/** A model whose tokens are words; `counted` lists the texts of each call. */
function wordModel(countTokens?: NonNullable<ChatModel['countTokens']>) {
  const counted: (readonly string[])[] = [];
  const words = async (texts: readonly string[]) => {
    counted.push(texts);
    return texts.map((text) => text.split(' ').length);
  };
  const model: ChatModel = {
    id: 'words',
    contextWindowTokens: 1_000,
    stream: throwing('nobody asks for a reply'),
    countTokens: countTokens ?? words,
  };
  return { model, counted };
}

/** Vectors that count the letters a, b, and c of a text. */
function letterEmbeddings(embed?: EmbeddingModel['embed']) {
  const embedded: (readonly string[])[] = [];
  const letters: EmbeddingModel['embed'] = async (texts) => {
    embedded.push(texts);
    return texts.map((text) => ['a', 'b', 'c'].map((letter) => text.split(letter).length - 1));
  };
  const embeddings: EmbeddingModel = { id: 'letters', embed: embed ?? letters };
  return { embeddings, embedded };
}

const unmeasured = (model: ChatModel): ChatModel => {
  const { countTokens: _, ...rest } = model;
  return rest;
};

describe('context measurements', () => {
  it('[U10] [U1] use the tokenizer of the model and embedding similarity to the request', async () => {
    const measure = createContextMeasurer(wordModel().model, letterEmbeddings().embeddings);
    const messages = ['aaa', 'b b', 'a b c d', ''].map(said);
    const { tokens, estimated, similarity, failure } = await measure({ request: 'aa', messages }, signal);
    expect({ tokens, estimated, failure }).toEqual({ tokens: [1, 2, 4, 1], estimated: false, failure: null });
    expect(similarity).toEqual([1, 0, expect.closeTo(1 / Math.sqrt(3), 6), 0]);
  });

  it('[U10] use four characters per token and no similarity without a tokenizer and embeddings', async () => {
    const measure = createContextMeasurer(unmeasured(wordModel().model), null);
    const messages = [said('12345'), said('')];
    expect(await measure({ request: 'r', messages }, signal)).toEqual({
      tokens: [2, 0],
      estimated: true,
      similarity: null,
      failure: null,
    });
  });

  it('[U10] [U1] cost one count and one vector per new message, and none for a tagged one', async () => {
    const { model, counted } = wordModel();
    const { embeddings, embedded } = letterEmbeddings();
    const measure = createContextMeasurer(model, embeddings);
    const messages = Array.from({ length: 200 }, (_, at) => said(`message ${at} a`));
    await measure({ request: 'a', messages }, signal);
    expect(counted.flat()).toHaveLength(200);
    expect(embedded.flat()).toHaveLength(201);

    const tagged = messages.map((message) => ({ ...message, tags: ['important'] }));
    const { tokens, similarity } = await measure({ request: 'a', messages: [...tagged, said('one more b')] }, signal);
    expect(counted.slice(1)).toEqual([['one more b']]);
    expect(embedded.flat().slice(201)).toEqual(['one more b']);
    expect(tokens).toEqual([...Array(200).fill(3), 3]);
    expect(similarity?.at(-1)).toBe(0);
    expect(similarity?.at(0)).toBeGreaterThan(0.5);

    await measure({ request: 'b', messages: tagged }, signal);
    expect(counted.flat()).toHaveLength(201);
    expect(embedded.flat().slice(202)).toEqual(['b']);
  });

  it('[U1] never embed blank text', async () => {
    const { embeddings, embedded } = letterEmbeddings();
    const measure = createContextMeasurer(wordModel().model, embeddings);
    const messages = ['', ' \n', 'a'].map(said);
    expect((await measure({ request: ' ', messages }, signal)).similarity).toEqual([0, 0, 0]);
    expect(embedded).toEqual([['a']]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no vocabulary\nat line 2'))],
    ['throws synchronously', throwing('no vocabulary')],
    ['returns too few counts', async () => []],
    ['returns no counts', async () => null as never],
    ['returns non-numeric counts', async () => [Number.NaN]],
    ['returns negative counts', async () => [-1]],
  ])('[U10] are estimated with a one-line notice if the tokenizer %s', async (_, countTokens) => {
    const measure = createContextMeasurer(wordModel(countTokens).model, null);
    const { tokens, estimated, failure } = await measure({ request: 'r', messages: [said('12345678')] }, signal);
    expect({ tokens, estimated }).toEqual({ tokens: [2], estimated: true });
    expect(failure).toMatch(/^tokens are estimated: (no vocabulary|the model words did not return 1 token counts)$/);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no connection\nat line 2')), /: no connection$/],
    ['returns too few vectors', async () => [], /must return 1 vectors/],
    ['returns no vectors', async () => 'no' as never, /must return 1 vectors/],
    ['returns empty vectors', async () => [[]], /returned an invalid vector at index 0/],
    ['returns non-numeric values', async () => [[1, Number.NaN]], /returned an invalid vector at index 0/],
    ['returns infinite values', async () => [[1, Number.POSITIVE_INFINITY]], /returned an invalid vector at index 0/],
    ['returns strings', async () => [['1', '2']] as never, /returned an invalid vector at index 0/],
    [
      'returns vectors of different lengths across texts',
      async ([text]: readonly string[]) => [Array(text?.length).fill(1)],
      /cannot compare a vector of/,
    ],
  ] as const)('[U1] have no similarity, with a one-line notice, if the embedding model %s', async (_, embed, why) => {
    const measure = createContextMeasurer(wordModel().model, letterEmbeddings(embed).embeddings);
    const measured = await measure({ request: 'a', messages: [said('a b')] }, signal);
    expect(measured).toMatchObject({ tokens: [2], estimated: false, similarity: null });
    expect(measured.failure).toMatch(/^there are no similarities: [^\n]+$/);
    expect(measured.failure).toMatch(why);
  });

  it('[U10] [U1] report both failures and recover when both services do', async () => {
    let isDead = true;
    const countTokens = async (texts: readonly string[]) => (isDead ? [] : texts.map(() => 9));
    const embed = async (texts: readonly string[]) => (isDead ? [] : texts.map(() => [1]));
    const measure = createContextMeasurer(wordModel(countTokens).model, letterEmbeddings(embed).embeddings);
    const input = { request: 'a', messages: [said('a')] };
    expect((await measure(input, signal)).failure).toMatch(/^tokens are estimated: .+; there are no similarities: .+$/);
    isDead = false;
    expect(await measure(input, signal)).toEqual({ tokens: [9], estimated: false, similarity: [1], failure: null });
  });
});

describe('the change between two answers', () => {
  it.each([
    ['aa', 'aaa', 0],
    ['a', 'b', 1],
    ['a', 'ab', 1 - Math.SQRT1_2],
    ['', 'a', 1],
    ['a', ' a\n', 0],
    ['', ' ', 0],
  ])('[Y1] from %j to %j is one minus their similarity', async (previous, current, change) => {
    const compare = createAnswerComparer(letterEmbeddings().embeddings);
    expect(await compare({ previous, current }, signal)).toBeCloseTo(change, 6);
  });

  it('[Y1] costs one vector per further answer', async () => {
    const { embeddings, embedded } = letterEmbeddings();
    const compare = createAnswerComparer(embeddings);
    const answers = ['a', 'ab', 'abc', 'abcc', 'abccc'];
    for (const [at, current] of answers.entries()) {
      const previous = answers[at - 1];
      if (previous !== undefined) await compare({ previous, current }, signal);
    }
    expect(embedded).toEqual([['a', 'ab'], ['abc'], ['abcc'], ['abccc']]);
  });

  it('[Y1] is unknown without embeddings or if they fail', async () => {
    const answers = { previous: 'a', current: 'b' };
    expect(await createAnswerComparer(null)(answers, signal)).toBeNull();
    for (const embed of [() => Promise.reject(new Error('no')), async () => [[1], [1, 2]], async () => []])
      expect(await createAnswerComparer(letterEmbeddings(embed).embeddings)(answers, signal)).toBeNull();
  });
});
