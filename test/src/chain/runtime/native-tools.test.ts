import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ReplyForm } from '../../../../machines/contracts/model.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { always, type ScriptEntry, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { type Capability, defineCapability } from '../../../../src/tools/capability.ts';
import {
  type ChatBody,
  chatServer,
  chunk,
  completion,
  event,
  streaming,
  taskOf,
  toolChunk,
} from '../../../support/chat-server.ts';
import { chainOf, entriesOf } from '../../../support/run-chain.ts';

const FORMS: readonly ReplyForm[] = ['text', 'tool-call'];
const weather = defineCapability({
  name: 'the weather',
  description: 'Tells the weather of a city.',
  arguments: z.object({ city: z.string() }),
  execute: ({ city }) => `It rains in ${city}.`,
});
const calls = (toolCall: unknown, more: object = {}): ScriptEntry => ({ toolCall, name: 'the weather', ...more });

interface Scene {
  readonly action: readonly ScriptEntry[];
  readonly replyForm?: ReplyForm;
  readonly nativeTools?: boolean;
  readonly capabilities?: readonly Capability[];
}

/** A run on a scripted model whose Action replies with this first, and then with a valid reply. */
function start({ action, replyForm = 'text', nativeTools = true, capabilities = [weather] }: Scene) {
  const script = { action: [...action, always({ ...replies.action })] };
  const model = scriptedModel(script, { nativeTools, otherwise: replies });
  const run = chainOf(model, { capabilities, replyForm }).run({
    request: 'Do I need an umbrella in Bergen?',
  });
  return { run, actions: () => model.calls.filter(({ task }) => task === 'action'), model };
}

describe('a chain on a model with native tool calling', () => {
  it.each([
    ['non-JSON arguments', '{"city":', 'the arguments must be a JSON object'],
    ['a list', '["Bergen"]', 'the arguments must be a JSON object'],
    ['a misfit', '{"city":7}', /^city: /],
    ['missing arguments', '', /^city: /],
  ])('[R5] rejects %s in the chart, and the run continues', async (_, text, problem) => {
    const { run } = start({ action: [calls(text)] });
    expect((await run.answer).reasons.map(({ code }) => code)).toEqual(['capability_failed']);
    const [stop] = entriesOf(run, 'capability-stop');
    expect(stop).toMatchObject({ reason: 'invalid_next_step', runs: 0 });
    expect(stop?.problem).toMatch(problem);
  });

  it.each(FORMS)('[A9] corrects a call of an unknown capability (%s)', async (replyForm) => {
    const { run, actions } = start({ action: [calls({}, { name: 'forecast' })], replyForm });
    expect((await run.answer).status).toBe('completed');
    const [voided] = entriesOf(run, 'attempt-end');
    expect(voided?.failure).toMatchObject({ stage: 'extraction', code: 'no_tool_call' });
    expect(actions()[1]?.turns.at(-1)?.content).toContain('“forecast”');
    expect(entriesOf(run, 'capability-stop')).toMatchObject([{ reason: 'nothing_to_run' }]);
  });

  it.each(FORMS)(
    '[A9] [C4] corrects a call cut off by the output limit and shows it to the model (%s)',
    async (replyForm) => {
      const action = [calls('{"city":"Ber', { reason: 'length', text: 'So:' }), calls({ city: 'Bergen' })];
      const { run, actions } = start({ action, replyForm });
      expect((await run.answer).status).toBe('completed');
      expect(entriesOf(run, 'attempt-end')[0]?.failure).toMatchObject({ code: 'truncated' });
      expect(actions()[1]?.turns.at(-2)?.content).toBe(
        'So:\n[called the tool the weather with the arguments {"city":"Ber]',
      );
      expect(entriesOf(run, 'capability-end')).toHaveLength(1);
    },
  );

  it('[A12] streams the call as partials and journals the text beside it', async () => {
    const { run } = start({ action: [calls({ city: 'Bergen' }, { text: 'I look.' })] });
    const shown: unknown[] = [];
    for await (const heard of run.events)
      if (heard.type === 'partial' && heard.task === 'action') shown.push(heard.value.calls?.[0]?.arguments);
    expect(shown.at(-1)).toBe('{"city":"Bergen"}');
    const texts = entriesOf(run, 'text-delta').filter(({ attemptId }) => attemptId.endsWith('action'));
    expect(texts.map(({ text }) => text).join('')).toBe('I look.{"city":"Bergen"}');
  });

  const written = '{"name":"the_weather","arguments":{"city":"Bergen"}}';
  it.each([
    ['in tags', `I look.\n<tool_call>\n${written}\n</tool_call>`],
    ['with tags for each argument', '<function=the weather>\n<parameter=city>\nBergen\n</parameter>\n</function>'],
    ['with arguments as JSON', '<function=the weather>{"city":"Bergen"}</function>'],
    ['after a token', `[TOOL_CALLS][${written}]`],
    ['as an object of the API', `{"tool_calls":[{"id":"a","type":"function","function":${written}}]}`],
    ['as nearly JSON', "{'tool': 'The-Weather', 'parameters': {'city': 'Bergen'},}"],
  ])('[C4] runs a call that the model writes into its text %s, with or without native tools', async (_, text) => {
    for (const nativeTools of [true, false]) {
      const { run } = start({ action: [{ text }], nativeTools });
      expect((await run.answer).status).toBe('completed');
      expect(entriesOf(run, 'capability-end')).toMatchObject([
        { result: { capability: 'the weather', arguments: { city: 'Bergen' }, success: true } },
      ]);
      const [ended, ...others] = entriesOf(run, 'attempt-end').filter(({ task }) => task === 'action');
      expect(ended).toMatchObject({ failure: null, repaired: ['tool-call'] });
      expect(others).toEqual([]);
    }
  });

  it.each(FORMS)(
    '[R5] a name like that of one capability is that capability when it is approved (%s)',
    async (replyForm) => {
      const pay = { ...weather, name: 'pay_out', approval: 'always' as const };
      const questions = new Set<string>();
      for (const name of ['pay_out', 'functions.Pay-Out']) {
        const { run } = start({ action: [calls({ city: 'Bergen' }, { name })], capabilities: [pay], replyForm });
        for await (const heard of run.events) {
          if (heard.type !== 'approval-asked') continue;
          questions.add(JSON.stringify([heard.capability, heard.arguments]));
          run.send({ type: 'approval.given', questionId: heard.questionId, digest: heard.digest, decision: 'approve' });
        }
        expect(entriesOf(run, 'capability-end')).toMatchObject([{ result: { capability: 'pay_out', success: true } }]);
      }
      expect([...questions]).toEqual(['["pay_out",{"city":"Bergen"}]']);
    },
  );

  it('accepts a capability with the name of the reply tool', async () => {
    const same = { ...weather, name: 'chain_reply' };
    const { run, actions } = start({
      action: [{ toolCall: { city: 'Bergen' }, name: 'chain_reply' }],
      capabilities: [same],
      replyForm: 'tool-call',
    });
    await run.answer;
    expect(actions()[0]).toMatchObject({ schemaName: 'chain_reply_' });
    expect(actions()[0]?.turns[0]?.content).toContain('"chain_reply_"');
    expect(entriesOf(run, 'capability-end')).toHaveLength(1);
  });
});

describe('a chain on an OpenAI-compatible server', () => {
  const isAction = (body: ChatBody): boolean => taskOf(body) === 'action';

  /** Runs a chain with the capability and returns the request bodies of Action. */
  async function runOn(answer: Parameters<typeof chatServer>[0], options: object = {}, replyForm: ReplyForm = 'text') {
    const server = await chatServer(answer);
    const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, ...options });
    const chain = chainOf(model, { capabilities: [weather], replyForm });
    const run = chain.run({ request: 'Do I need an umbrella in Bergen?' });
    const { status } = await run.answer;
    const actions = server.exchanges.map(({ body }) => body).filter(isAction);
    return { status, actions, outputs: entriesOf(run, 'capability-end').map(({ result }) => result.output) };
  }

  it.each(FORMS)('[C4] runs a capability with the arguments of a native call over HTTP (%s)', async (replyForm) => {
    const { status, actions, outputs } = await runOn(
      ({ body, response }) => {
        const name = isAction(body) ? 'the_weather' : body.tools?.[0]?.function.name;
        const given = isAction(body) ? { city: 'Bergen' } : replies[taskOf(body)];
        const call = { index: 0, id: 'a', function: { name, arguments: JSON.stringify(given) } };
        if (name === undefined) streaming(response).end(completion(JSON.stringify(given)));
        else streaming(response).end(event(toolChunk(call)) + event(chunk({}, 'tool_calls')));
      },
      {},
      replyForm,
    );
    expect({ status, outputs }).toEqual({ status: 'completed', outputs: ['It rains in Bergen.'] });
    expect(actions).toHaveLength(1);
    expect(actions[0]?.tools?.at(-1)?.function).toMatchObject({ name: 'the_weather', strict: true });
    expect(actions[0]?.messages?.[0]?.content).not.toContain('Tells the weather');
  });
});
