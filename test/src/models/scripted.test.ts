import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { failureSchema } from '../../../machines/contracts/failure.ts';
import type { ModelPart } from '../../../machines/contracts/model.ts';
import { always, type ScriptedReply, scriptedModel } from '../../../src/models/scripted.ts';
import { modelRequest, partsOf, textOf } from '../../support/model-streams.ts';

const finish: ModelPart = { type: 'finish', reason: 'stop', usage: null };
const usage = { inputTokens: 10, outputTokens: 5, estimated: false };
const onAction = (reply: ScriptedReply, options = {}) => partsOf(scriptedModel({ action: [reply] }, options));
const texts = async (model: ReturnType<typeof scriptedModel>, task: 'action' | 'yield', times: number) => {
  const all: string[] = [];
  for (let call = 0; call < times; call += 1) all.push(textOf(await partsOf(model, modelRequest({ task }))));
  return all;
};

describe('the scripted model', () => {
  test('a reply object is streamed as JSON, in chunks', async () => {
    expect(await onAction({ response: 'Hi' }, { chunkChars: 10 })).toEqual([
      { type: 'text-delta', text: '{"response' },
      { type: 'text-delta', text: '":"Hi"}' },
      finish,
    ]);
  });

  test('each task has its own queue, and every request is recorded', async () => {
    const model = scriptedModel({ action: [{ text: 'a1' }, { text: 'a2' }], yield: [{ text: 'y1' }] });
    expect(await texts(model, 'action', 1)).toEqual(['a1']);
    expect(await texts(model, 'yield', 1)).toEqual(['y1']);
    expect(await texts(model, 'action', 1)).toEqual(['a2']);
    expect(model.calls.map(({ task }) => task)).toEqual(['action', 'yield', 'action']);
    expect(model.calls[0]).toEqual(modelRequest());
  });

  test('an entry wrapped in always is repeated, alone or at the end of a queue', async () => {
    const model = scriptedModel({
      action: [{ text: 'first' }, always({ text: 'then' })],
      yield: always({ text: 'ever' }),
    });
    expect(await texts(model, 'action', 4)).toEqual(['first', 'then', 'then', 'then']);
    expect(await texts(model, 'yield', 3)).toEqual(['ever', 'ever', 'ever']);
  });

  test('an entry, or the whole script, may be a function of the request', async () => {
    const model = scriptedModel({ action: [always(({ task }) => ({ text: task }))] });
    expect(await texts(model, 'action', 2)).toEqual(['action', 'action']);
    const counting = scriptedModel(({ task }, call) => ({ text: `${task} ${call}` }));
    expect(await texts(counting, 'action', 2)).toEqual(['action 1', 'action 2']);
    expect(await texts(counting, 'yield', 1)).toEqual(['yield 1']);
  });

  test('a directive determines how the reply ends', async () => {
    expect(await onAction({ text: 'no JSON', reason: 'length', usage })).toEqual([
      { type: 'text-delta', text: 'no JSON' },
      { type: 'finish', reason: 'length', usage },
    ]);
    expect((await onAction({ reply: { a: 1 }, usage: null }, { usage })).at(-1)).toEqual(finish);
    expect((await onAction({ a: 1 }, { usage })).at(-1)).toEqual({ ...finish, usage });
    expect(await onAction({ text: '' })).toEqual([finish]);
  });

  test('an object that only looks like a directive is a reply', async () => {
    for (const reply of [{ text: 'a', more: 1 }, { text: 1 }, { hang: 'on' }, { failure: null }, { usage: 1 }, {}]) {
      expect(textOf(await onAction(reply))).toBe(JSON.stringify(reply));
    }
    expect(textOf(await onAction({ reply: { text: 'a' } }))).toBe('{"text":"a"}');
  });

  test('a failure is completed according to the contract', async () => {
    const [part] = await onAction({ failure: { code: 'rate_limited', retryAfterMs: 5, status: 429 } });
    expect(part).toMatchObject({
      type: 'failure',
      failure: { code: 'rate_limited', retryable: true, retryAfterMs: 5 },
    });
    expect(part?.type === 'failure' && failureSchema.parse(part.failure)).toEqual(
      part?.type === 'failure' && part.failure,
    );
  });

  test('[A10] a truncated reply ends in a retryable failure', async () => {
    const parts = await onAction({ reply: { response: 'Hi' }, cut: 5 }, { chunkChars: 3 });
    expect(textOf(parts)).toBe('{"res');
    expect(parts.at(-1)).toMatchObject({ failure: { stage: 'transport', code: 'stream_cut', retryable: true } });
  });

  test('a hanging call sends its text, then nothing until it is aborted, and leaves no listener', async () => {
    const controller = new AbortController();
    const stream = scriptedModel({ action: [{ hang: true, text: 'so' }] }).stream(modelRequest(), controller);
    const iterator = stream[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual({ type: 'text-delta', text: 'so' });
    const pending = iterator.next();
    controller.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(await partsOf(scriptedModel({ action: [{ hang: true }] }), modelRequest(), AbortSignal.abort())).toEqual([]);
  });

  test('an abort between two chunks ends the stream without a final part', async () => {
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    for await (const part of scriptedModel({ action: [{ text: 'x'.repeat(99) }] }).stream(modelRequest(), controller)) {
      parts.push(part);
      controller.abort();
    }
    expect(parts).toHaveLength(1);
  });

  test('a call without a scripted reply throws from the iterator and says what to script', async () => {
    const model = scriptedModel({ action: [{ text: 'only' }] });
    await partsOf(model);
    const rejected = expect(partsOf(model)).rejects;
    await rejected.toBeInstanceOf(PostChainError);
    const unscripted = expect.objectContaining({
      code: 'unscripted_call',
      message: expect.stringContaining('call 3 of the task "action"'),
    });
    await expect(partsOf(model)).rejects.toEqual(unscripted);
    await expect(partsOf(model, modelRequest({ task: 'synthesis' }))).rejects.toMatchObject({
      message: expect.stringContaining(
        'call 1 of the task "synthesis" has no reply; add one to the script, or use synthesis: always(reply)',
      ),
    });
    await expect(partsOf(scriptedModel(() => undefined))).rejects.toMatchObject({ code: 'unscripted_call' });
    expect(model.calls).toHaveLength(4);
  });

  test('an empty chunk size is rejected', () => {
    expect(() => scriptedModel({}, { chunkChars: 0 })).toThrowError(
      /chunkChars: expected an integer of at least 1; received 0/,
    );
  });
});
