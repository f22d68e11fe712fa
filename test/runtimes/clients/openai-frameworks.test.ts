import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { always, type Script, scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, startServer } from '../../support/chain-server.ts';
import { installClients } from '../../support/client-packages.ts';

interface Structured {
  invoke(request: string): Promise<unknown>;
}
/** The parts of LangChain and of OpenAI's Agents SDK that these tests use. They are not development dependencies. */
interface LangChain {
  readonly ChatOpenAI: new (options: object) => { withStructuredOutput(schema: unknown, options: object): Structured };
}
interface Result {
  readonly finalOutput: unknown;
  readonly history: readonly object[];
  readonly lastAgent: { readonly name: string };
}
interface Agents {
  readonly Agent: new (options: object) => object;
  readonly OpenAIResponsesModel: new (client: OpenAI, model: string) => object;
  readonly OpenAIChatCompletionsModel: new (client: OpenAI, model: string) => object;
  tool(options: object): object;
  run(agent: object, input: string | readonly object[]): Promise<Result>;
  setTracingDisabled(disabled: boolean): void;
}

const PACKAGES = [
  '@langchain/openai@1.5.8',
  '@langchain/core@1.4.0',
  '@openai/agents@0.20.0',
  'openai@6.49.0',
  'zod@4.6.7',
];
const load = installClients('openai-frameworks', PACKAGES);

const Place = z.object({ city: z.string(), days: z.number() });
const OSLO = { city: 'Oslo', days: 2 };

async function serve(script: Script = {}): Promise<string> {
  const model = scriptedModel({ value: always({ reply: OSLO }), ...script } as Script, { otherwise: replies });
  return `${(await startServer({ chain: { model } })).url}/v1`;
}

describe.each([false, true])('LangChain (Responses API: %s)', (useResponsesApi) => {
  it.each(['jsonSchema', 'functionCalling', 'jsonMode'])('gets a structured output by %s', async (method) => {
    const { ChatOpenAI } = await load<LangChain>('@langchain/openai');
    const configuration = { baseURL: await serve() };
    const model = new ChatOpenAI({ model: 'postchain', apiKey: ALICE, useResponsesApi, maxRetries: 0, configuration });
    expect(await model.withStructuredOutput(Place, { method, name: 'place' }).invoke('Where to?')).toEqual(OSLO);
  });
});

describe.each(['OpenAIResponsesModel', 'OpenAIChatCompletionsModel'] as const)('the Agents SDK (%s)', (api) => {
  const calls = (capability: string, args = '{"city":"Oslo"}') => ({
    action: [{ ...replies.action, calls: [{ capability, arguments: args }] }, always(replies.action)],
  });

  it('gets the output type of an agent, with and without tools, in a later turn and after a handoff', async () => {
    const { Agent, run, tool, setTracingDisabled, ...models } = await load<Agents>('@openai/agents');
    setTracingDisabled(true);
    const modelAt = async (script?: Script) =>
      new models[api](new OpenAI({ baseURL: await serve(script), apiKey: ALICE, maxRetries: 0 }), 'postchain');
    const typed = { name: 'typed', outputType: Place };
    const agent = new Agent({ ...typed, model: await modelAt() });
    const first = await run(agent, 'Where to?');
    expect(first.finalOutput).toEqual(OSLO);
    expect((await run(agent, [...first.history, { role: 'user', content: 'Sure?' }])).finalOutput).toEqual(OSLO);
    const got: unknown[] = [];
    const execute = (given: unknown): string => `${got.push(given)}`;
    const parameters = z.object({ city: z.string() });
    const weather = tool({ name: 'weather', description: 'Weather.', parameters, execute });
    const withTools = new Agent({ ...typed, tools: [weather], model: await modelAt(calls('weather')) });
    expect((await run(withTools, 'Where to?')).finalOutput).toEqual(OSLO);
    expect(got).toEqual([{ city: 'Oslo' }]);
    const model = await modelAt(calls('transfer_to_typed', '{}'));
    const handing = new Agent({ name: 'first', handoffs: [new Agent({ ...typed, model })], model });
    expect(await run(handing, 'Where to?')).toMatchObject({ finalOutput: OSLO, lastAgent: { name: 'typed' } });
  });

  it('runs a tool that the client requires', async () => {
    const { Agent, run, tool, ...models } = await load<Agents>('@openai/agents');
    const client = new OpenAI({ baseURL: await serve(), apiKey: ALICE, maxRetries: 0 });
    const got: unknown[] = [];
    const execute = (given: unknown): string => `${got.push(given)}`;
    const tools = [tool({ name: 'visit', description: 'Visits.', parameters: Place, execute })];
    const modelSettings = { toolChoice: 'required' };
    const agent = new Agent({ name: 'a', tools, modelSettings, model: new models[api](client, 'postchain') });
    expect((await run(agent, 'Where to?')).finalOutput).toBe('It is so.');
    expect(got).toEqual([OSLO]);
  });
});
