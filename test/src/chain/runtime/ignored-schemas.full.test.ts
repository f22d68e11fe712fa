import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { aiSdkModel } from '../../../../src/entries/ai-sdk.ts';
import { createPostChain, createStructuredOutput, replay } from '../../../../src/entries/index.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { chatServer, streaming } from '../../../support/chat-server.ts';
import { entriesOf, ONE_CALL_PER_PHASE } from '../../../support/run-chain.ts';
import { chatCompletions, openaiResponses, type WireFormat } from '../../models/conformance/wire-formats.ts';

const DIALECTS: readonly [string, WireFormat, (baseURL: string) => ChatModel][] = [
  ['chat completions', chatCompletions, (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL })],
  ['responses', openaiResponses, (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL, api: 'responses' })],
  [
    'the AI SDK',
    chatCompletions,
    (baseURL) => aiSdkModel(createOpenAICompatible({ name: 'x', baseURL, supportsStructuredOutputs: true })('m')),
  ],
];

const inWords = (body: unknown): boolean => JSON.stringify(body).includes('must match this JSON Schema');

describe.each(DIALECTS)('the schema of a reply, over %s', (_, wire, create) => {
  /** A server that gives the right reply if `understands` allows it, and otherwise this one. */
  async function startServer(understands: (body: unknown) => boolean, other: string, right: () => string) {
    const server = await chatServer(({ body, response }) => {
      const text = understands(body) ? right() : other;
      streaming(response).end(wire.events({ text: [text], finish: 'stop' }, body).join(''));
    });
    const sent = (member: string) =>
      server.exchanges.map(({ body }) => [wire.asksFor(body, member) ? 'parameter' : '', inWords(body) ? 'words' : '']);
    return { baseURL: server.baseURL, sent };
  }

  async function runOn(understands: (body: unknown) => boolean, other: string) {
    let task = '';
    const { baseURL, sent } = await startServer(understands, other, () =>
      JSON.stringify(replies[task as keyof typeof replies]),
    );
    const inner = create(baseURL);
    const model: ChatModel = {
      ...inner,
      stream(request, options) {
        task = request.task;
        return inner.stream(request, options);
      },
    };
    const chain = createPostChain({ profile: ONE_CALL_PER_PHASE, model });
    const runOnce = async () => {
      const run = chain.run({ request: 'Why is the sky blue?' });
      const { status } = await run.answer;
      expect(replay(JSON.parse(JSON.stringify(run.entries))).divergence).toBeNull();
      return { status, run, sent: sent('confidence') };
    };
    return { ...(await runOnce()), runOnce, chain };
  }

  it('is sent once per call, as a parameter', async () => {
    const { status, sent } = await runOn(() => true, '');
    expect(status).toBe('completed');
    expect(sent).toEqual(Array(7).fill(['parameter', '']));
  });

  it.each([
    ['prose', 'Light scatters.'],
    ['other members', '{"result":"Light scatters."}'],
    ['other types', '{"action":{"response":"Light scatters.","confidence":"high","calls":"none"}}'],
  ])(
    '[A9] is stated in words after a reply that ignores it (%s), and the chain remembers that',
    async (_case, other) => {
      const { status, sent, run, runOnce, chain } = await runOn(inWords, other);
      expect(status).toBe('completed');
      expect(sent).toEqual([['parameter', ''], ...Array(7).fill(['', 'words'])]);
      expect(entriesOf(run, 'model-status').map(({ change }) => change)).toEqual(['without_json', 'json']);
      const later = await runOnce();
      expect(later.status).toBe('completed');
      expect(later.sent.slice(sent.length)).toEqual(Array(7).fill(['', 'words']));
      expect(entriesOf(later.run, 'model-status')).toEqual([]);
      const [{ seq: at = 0 } = {}] = entriesOf(later.run, 'decision');
      const fork = await chain.fork(later.run.entries, { at, set: { 'thresholds.confidence': 0.1 } });
      expect((await fork.answer).status).toBe('completed');
    },
  );

  it('stays a parameter after a reply that only breaks a rule', async () => {
    const tired = JSON.stringify({ action: { ...replies.action, confidence: 7 } });
    let calls = 0;
    const { status, sent } = await runOn(() => {
      calls += 1;
      return calls > 1;
    }, tired);
    expect(status).toBe('completed');
    expect(sent).toEqual(Array(8).fill(['parameter', '']));
  });

  it('[A9] is stated in words for one structured output, too', async () => {
    const { baseURL, sent } = await startServer(inWords, '{"colour":1}', () => '{"color":"blue"}');
    const schema = z.object({ color: z.string() });
    const model = create(baseURL);
    expect(await createStructuredOutput({ model, schema, prompt: 'The sky?' }).value).toEqual({ color: 'blue' });
    expect(sent('color')).toEqual([
      ['parameter', ''],
      ['', 'words'],
    ]);
  });
});
