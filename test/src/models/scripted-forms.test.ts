import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ModelPart } from '../../../machines/contracts/model.ts';
import { maxCorrections } from '../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../src/llm/attempts/structured-output.ts';
import { always, type ScriptedModelOptions, type ScriptedReply, scriptedModel } from '../../../src/models/scripted.ts';
import { modelRequest, partsOf, replyOf } from '../../support/model-streams.ts';

const wantsCall = modelRequest({ replyForm: 'tool-call' });
const usage = { inputTokens: 10, outputTokens: 5, estimated: false };
const inText = (reply: ScriptedReply, options?: ScriptedModelOptions) =>
  partsOf(scriptedModel({ action: [reply] }, options));
const inCall = (reply: ScriptedReply, options?: ScriptedModelOptions) =>
  partsOf(scriptedModel({ action: [reply] }, options), wantsCall);
const call = (text: string, name = 'action_reply') => ({ name, arguments: text });
const finish = (reason: 'stop' | 'tool-calls'): ModelPart => ({ type: 'finish', reason, usage: null });

describe('the scripted model with tool calls', () => {
  test('[A12] returns a reply object as one call of the tool, in chunks', async () => {
    expect(await inCall({ response: 'Hi' }, { chunkChars: 10 })).toEqual([
      { type: 'tool-call-delta', index: 0, name: 'action_reply', arguments: '{"response' },
      { type: 'tool-call-delta', index: 0, name: 'action_reply', arguments: '":"Hi"}' },
      finish('tool-calls'),
    ]);
  });

  test('returns a text as it is, if prose is requested', async () => {
    for (const reply of [{ text: 'Hi' }, { reply: 'Hi' }]) {
      const model = scriptedModel({ action: [reply] });
      const parts = await partsOf(model, modelRequest({ replyForm: 'prose', outputSchema: {} }));
      expect(replyOf(parts)).toMatchObject({ text: 'Hi', end: 'stop' });
    }
  });

  test('[A12] returns the same content in both reply forms', async () => {
    for (const reply of [{ a: 1 }, { reply: { a: 1 } }, { text: '{"a":1}' }]) {
      expect(replyOf(await inText(reply))).toEqual({ text: '{"a":1}', reasoning: '', calls: [], end: 'stop' });
      expect(replyOf(await inCall(reply))).toEqual({
        text: '',
        reasoning: '',
        calls: [call('{"a":1}')],
        end: 'tool-calls',
      });
    }
    expect(replyOf(await inCall({ text: '{"a', reason: 'length' }))).toMatchObject({
      calls: [call('{"a')],
      end: 'length',
    });
    expect(replyOf(await inCall({ reply: { a: 1 }, cut: 3 }))).toMatchObject({
      calls: [call('{"a')],
      end: 'stream_cut',
    });
    expect(replyOf(await inCall({ text: '' })).calls).toEqual([call('')]);
  });

  test('[A12] can be scripted as a model that replies in text regardless of the requested form', async () => {
    expect(replyOf(await inCall({ text: 'I would rather talk.', replyForm: 'text' }))).toMatchObject({
      text: 'I would rather talk.',
      calls: [],
      end: 'stop',
    });
  });

  test('sends the text of a hanging call in the requested form', async () => {
    const model = scriptedModel({ action: [{ hang: true, text: 'so', reasoning: 'Hm.' }] });
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    for await (const part of model.stream(wantsCall, controller)) {
      parts.push(part);
      if (part.type === 'tool-call-delta') queueMicrotask(() => controller.abort());
    }
    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Hm.' },
      { type: 'tool-call-delta', index: 0, name: 'action_reply', arguments: 'so' },
    ]);
  });
});

describe('directives of the scripted model', () => {
  test('[A12] a tool call has JSON or raw text as arguments, in either form', async () => {
    for (const say of [inText, inCall]) {
      expect(replyOf(await say({ toolCall: { a: 1 } }))).toMatchObject({ calls: [call('{"a":1}')], end: 'tool-calls' });
      expect(replyOf(await say({ toolCall: '{"a', name: 'other' })).calls).toEqual([call('{"a', 'other')]);
      expect(replyOf(await say({ toolCall: {}, text: 'Sure.', reason: 'stop', usage }))).toEqual({
        text: 'Sure.',
        reasoning: '',
        calls: [call('{}')],
        end: 'stop',
      });
    }
  });

  test('[C4] an offered tool is called by name, and the model reports whether it supports tools', async () => {
    const tools = [{ name: 'search', description: 'Searches.', parameters: { type: 'object' } }];
    const model = scriptedModel({ action: [{ toolCall: { q: 1 }, name: 'search' }] }, { nativeTools: true });
    expect(replyOf(await partsOf(model, modelRequest({ tools }))).calls).toEqual([call('{"q":1}', 'search')]);
    expect(model.calls[0]?.tools).toEqual(tools);
    expect([model.nativeTools, scriptedModel({}).nativeTools]).toEqual([true, false]);
  });

  test('reasoning is streamed first, in chunks', async () => {
    expect(await inText({ reasoning: 'Let me see', reply: {} }, { chunkChars: 6 })).toEqual([
      { type: 'reasoning-delta', text: 'Let me' },
      { type: 'reasoning-delta', text: ' see' },
      { type: 'text-delta', text: '{}' },
      finish('stop'),
    ]);
    expect(replyOf(await inCall({ reasoning: 'Hm.', toolCall: {} })).reasoning).toBe('Hm.');
    expect(replyOf(await inText({ reasoning: 'Hm.', failure: {} }))).toMatchObject({ reasoning: 'Hm.' });
  });

  test('[A11] a failed or truncated call may have usage', async () => {
    expect(await inText({ failure: { code: 'refused' }, usage })).toMatchObject([
      { failure: { code: 'refused' }, usage },
    ]);
    expect((await inText({ text: 'ab', cut: 1, usage })).at(-1)).toMatchObject({ type: 'failure', usage });
    expect((await inText({ failure: {} }, { usage })).at(-1)).not.toHaveProperty('usage');
  });

  test('a reply with directive-like words is not a directive', async () => {
    for (const reply of [{ reasoning: 'Because.', response: 'Hi' }, { reasoning: 'Hm.' }, { text: 'a', name: 'b' }]) {
      expect(replyOf(await inText(reply)).text).toBe(JSON.stringify(reply));
    }
  });
});

describe('tasks of the scripted model', () => {
  test('have a list of replies, or one for all calls', () => {
    const script = { action: { response: 'Hi' } } as never;
    expect(() => scriptedModel(script)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: 'script.action: expected a list of replies, or always(reply); received an object with response.',
      }),
    );
    expect(() => scriptedModel({ story: [] }, { otherwise: { title: '' } })).toThrow(
      /^script\.story: unknown task; expected one of action, .*, title \(tasks of the chain and of "otherwise"\)\.$/u,
    );
    expect(() => scriptedModel({ intension: [] })).toThrow(
      /^script\.intension: unknown task; expected one of action, /u,
    );
    expect(() => scriptedModel({ story: [] })).not.toThrow();
  });

  test('without a further reply fail with what was wrong with the last one', async () => {
    const model = scriptedModel({ recipe: [{ minutes: 'soon' }] });
    const { value } = createStructuredOutput({
      model,
      schema: z.object({ minutes: z.int() }),
      name: 'recipe',
      prompt: 'How long?',
      policy: maxCorrections(1),
    });
    await expect(value).rejects.toMatchObject({
      failure: {
        message: expect.stringMatching(/call 2 .* has no reply; .*The previous reply was invalid: .*minutes: Inval/u),
      },
    });
  });

  test('may have any name besides those of the chain', async () => {
    const model = scriptedModel(
      { output: [{ text: 'o1' }], action: always({ text: 'a' }) },
      { otherwise: { extract: { b: 1 }, output: {} } },
    );
    const textOn = async (task: string) => replyOf(await partsOf(model, modelRequest({ task }))).text;
    expect([await textOn('output'), await textOn('action'), await textOn('extract')]).toEqual(['o1', 'a', '{"b":1}']);
    for (const task of ['output', 'toString', 'constructor']) {
      await expect(textOn(task)).rejects.toMatchObject({ code: 'unscripted_call' });
    }
  });
});
