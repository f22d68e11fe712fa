import { createAnthropic } from '@ai-sdk/anthropic';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { aiSdkModel } from '../../../../src/entries/ai-sdk.ts';
import { createCapabilityLoop, replay } from '../../../../src/entries/index.ts';
import { requestDigest } from '../../../../src/llm/request-digest.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { always, type ScriptEntry, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { chatServer, streaming } from '../../../support/chat-server.ts';
import { chainOf, entriesOf } from '../../../support/run-chain.ts';
import {
  anthropicMessages,
  chatCompletions,
  openaiResponses,
  type RecordedReply,
  type WireFormat,
} from '../../models/conformance/wire-formats.ts';

const weather = defineCapability({
  name: 'the weather',
  description: 'Returns the weather of a city.',
  arguments: z.object({ city: z.string() }),
  execute: ({ city }) => {
    if (city === 'Atlantis') throw new Error('no such city');
    return `It rains in ${city}.`;
  },
});

const DIALECTS: readonly [string, WireFormat, (baseURL: string) => ChatModel, string][] = [
  ['chat completions', chatCompletions, (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL }), 'call_'],
  [
    'responses',
    openaiResponses,
    (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL, api: 'responses' }),
    'call_',
  ],
  [
    'the AI SDK',
    anthropicMessages,
    (baseURL) => aiSdkModel(createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5')),
    'toolu_',
  ],
];

describe.each(DIALECTS)('a loop that the model continues, over %s', (_, wire, create, prefix) => {
  it('[C4] [R2] answers native calls, also failed ones, with native messages, and replays identically', async () => {
    const cities = ['Bergen', 'Atlantis', 7];
    const called: RecordedReply = {
      calls: cities.map((city) => ({ name: 'the_weather', arguments: [JSON.stringify({ city })] })),
      finish: 'tool-calls',
    };
    const done = JSON.stringify({ done: true, finalOutput: null, next: [] });
    let task = '';
    const asked: unknown[] = [];
    const server = await chatServer(({ body, response }) => {
      if (task === 'continuation') asked.push(body);
      const reply = task === 'continuation' ? done : JSON.stringify(replies[task as keyof typeof replies]);
      const events = wire.events(task === 'action' ? called : { text: [reply], finish: 'stop' }, body);
      streaming(response).end(events.join(''));
    });
    const inner = create(server.baseURL);
    const digests: string[] = [];
    const model: ChatModel = {
      ...inner,
      stream(request, options) {
        task = request.task;
        digests.push(requestDigest(request));
        return inner.stream(request, options);
      },
    };
    const run = chainOf(model, { capabilities: [weather], continuation: 'model' }).run({
      request: 'Do I need an umbrella?',
    });
    await run.answer;
    expect(asked.length).toBeGreaterThan(0);
    for (const body of asked) {
      expect(wire.toolTurns(body)).toEqual([
        ['call', `${prefix}0`, { city: 'Bergen' }],
        ['call', `${prefix}1`, { city: 'Atlantis' }],
        ['call', `${prefix}2`, { city: 7 }],
        ['result', `${prefix}0`, 'It rains in Bergen.'],
        ['result', `${prefix}1`, 'Error: no such city'],
        ['result', `${prefix}2`, expect.stringMatching(/^Error: city: /u)],
      ]);
      expect(JSON.stringify(body)).not.toContain('Steps so far');
    }
    expect(entriesOf(run, 'prompt').map(({ digest }) => digest)).toEqual(digests);
    const stored = JSON.parse(JSON.stringify(run.entries));
    expect(replay(stored).divergence).toBeNull();
  });
});

describe('the prompt of a loop that the model continues', () => {
  const call = (city: unknown): ScriptEntry => ({ toolCall: { city }, name: 'the weather', text: 'I look.' });

  async function turnsAfter(action: ScriptEntry, nativeTools: boolean, calls: object[] = []) {
    const continuation = [call('Oslo'), { done: true, finalOutput: null, next: [] }];
    const inText = {
      done: false,
      finalOutput: null,
      next: [{ capability: 'the weather', arguments: '{"city":"Oslo"}' }],
    };
    const model = scriptedModel(
      { action: [action], continuation: nativeTools ? continuation : [inText, continuation[1] as ScriptEntry] },
      { nativeTools },
    );
    const loop = createCapabilityLoop({ model, capabilities: [weather], continuation: 'model' });
    await loop.run({ request: 'Do I need an umbrella?', ...(calls.length > 0 && { call: calls as never }) }).outcome;
    return model.calls.filter(({ task }) => task === 'continuation').map(({ turns }) => turns);
  }

  it('has ids of the engine if the provider gave none or repeated one', async () => {
    const [, last = []] = await turnsAfter(call('Bergen'), true);
    const result = (id: string, content: string) => ({
      role: 'tool',
      content,
      toolResult: { id, name: 'the weather', isError: false },
    });
    const toolCall = (id: string, city: string) => ({ id, name: 'the weather', arguments: JSON.stringify({ city }) });
    expect(last.slice(2)).toEqual([
      { role: 'assistant', content: 'I look.', toolCalls: [toolCall('call_1', 'Bergen')] },
      result('call_1', 'It rains in Bergen.'),
      { role: 'assistant', content: '', toolCalls: [toolCall('call_2', 'Oslo')] },
      result('call_2', 'It rains in Oslo.'),
    ]);
  });

  it('states earlier calls that were not native as text, and later native ones as messages', async () => {
    const [first = [], last = []] = await turnsAfter(call('Bergen'), true, [
      { capability: 'the weather', arguments: { city: 'Bergen' } },
    ]);
    expect(first.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(last.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(last[1]?.content).toContain('It rains in Bergen.');
  });

  it('is text for a model without native tools', async () => {
    const [, last = []] = await turnsAfter(
      { response: '', confidence: 0.2, calls: [{ capability: 'the weather', arguments: '{"city":"Bergen"}' }] },
      false,
    );
    expect(last.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(last[1]?.content).toContain('It rains in Oslo.');
  });

  const wrote = (capability: string, given: string) => ({
    response: '',
    confidence: 0.2,
    calls: [{ capability, arguments: given }],
  });

  it.each<[string, boolean, ScriptEntry, string, RegExp]>([
    ['unknown name, in words', false, wrote('the forecast', '{"city":"Bergen"}'), '{"city":"Bergen"}', /unknown/],
    ['misfit, in words', false, wrote('the weather', '{"city":7}'), '{"city":7}', /city: /],
    ['not JSON, in words', false, wrote('the weather', '{"city":"Ber'), '{"city":"Ber', /must be a JSON object/],
    ['misfit, native', true, call(7), '{"city":7}', /city: /],
    [
      'not JSON, native',
      true,
      { toolCall: '{"city":"Ber', name: 'the weather' },
      '{"city":"Ber',
      /must be a JSON object/,
    ],
  ])(
    '[R5] has its first call if that was invalid, and the error: %s',
    async (_, nativeTools, action, given, problem) => {
      const done = { done: true, finalOutput: null, next: [] };
      const unsure = (request: { readonly task: string }) => ({
        ...replies.yield,
        confidence: 0.5,
        answer: request.task,
        taskComplete: false,
        proposedPhase: 'action',
      });
      const model = scriptedModel(
        { action: [action], continuation: always(done), yield: [unsure, always({ ...replies.yield })] },
        { nativeTools, otherwise: replies },
      );
      const chain = chainOf(model, { capabilities: [weather], continuation: 'model' });
      await chain.run({ request: 'Do I need an umbrella?' }).answer;
      const { turns = [] } = model.calls.find(({ task }) => task === 'continuation') ?? {};
      const shown = turns
        .slice(1)
        .map(({ content, toolCalls = [] }) => content + toolCalls.map((one) => one.arguments))
        .join('\n');
      expect(shown).toContain(given);
      expect(shown).toMatch(problem);
      expect(turns.at(-1)?.role).toBe(nativeTools ? 'tool' : 'user');
    },
  );
});
