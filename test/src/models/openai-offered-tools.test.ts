import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import {
  type ChatBody,
  chatServer,
  chunk,
  event,
  pickyServer,
  streaming,
  toolChunk,
} from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf, replyOf } from '../../support/model-streams.ts';

const closed = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
const loose = { type: 'object', properties: { q: { type: 'string' }, limit: { type: 'integer' } }, required: ['q'] };
const search = { name: 'search', description: 'Searches.', parameters: closed };
const clock = { name: 'clock', description: 'Tells the time.', parameters: loose };
const turnsWithoutTools = [{ role: 'system' as const, content: 'Tools in words.' }];
const offering = (changes: Partial<ModelRequest> = {}) =>
  modelRequest({ tools: [search, clock], turnsWithoutTools, ...changes });
const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

async function modelOf(complaint: Parameters<typeof pickyServer>[0]) {
  const { baseURL, bodies } = await pickyServer(complaint);
  return { model: openaiModel({ model: 'm', apiKey: 'k', baseURL }), bodies, ways: () => bodies().map(wayOf) };
}

/** Returns how tools were requested: the tool choice, the strictness of each tool, and the response format. */
function wayOf({ tools, tool_choice: choice, response_format: format }: ChatBody): string {
  const named = typeof choice === 'object' ? 'named' : (choice ?? 'unsaid');
  const strictness = tools?.map(({ function: { strict } }) => (strict ? 's' : 'p')).join('') ?? '';
  const asked = format?.type === 'json_schema' && format.json_schema?.strict ? 'strict_schema' : format?.type;
  return `${tools ? `${named} ${strictness}` : 'no tools'}${asked ? ` ${asked}` : ''}`;
}

const repliesOf = async (model: ReturnType<typeof openaiModel>, request: ModelRequest) =>
  replyOf(await partsOf(model, request));

describe('the openai model, offering tools in addition to a reply', () => {
  test('[C4] with a text reply: tools are sent with the response format, and the model may choose one', async () => {
    const { model, bodies } = await modelOf(() => null);
    expect(model.nativeTools).toBe(true);
    expect((await repliesOf(model, offering())).calls).toEqual([{ name: 'clock', arguments: '{"q":"x"}' }]);
    const [body] = bodies();
    expect(body?.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'search',
          description: 'Searches.',
          parameters: { ...closed, additionalProperties: false },
          strict: true,
        },
      },
      { type: 'function', function: { name: 'clock', description: 'Tells the time.', parameters: loose } },
    ]);
    expect(body).toMatchObject({ tool_choice: 'auto', response_format: { type: 'json_schema' } });
    expect(body?.messages).toEqual(modelRequest().turns);
    expect(body).not.toHaveProperty('parallel_tool_calls');
  });

  test('[C4] with a tool-call reply: tools follow the reply’s tool, and one call is required', async () => {
    const { model, bodies } = await modelOf(() => null);
    await partsOf(model, offering({ replyForm: 'tool-call' }));
    const [body] = bodies();
    expect(body?.tools?.map((tool) => tool.function.name)).toEqual(['action_reply', 'search', 'clock']);
    expect(body).toMatchObject({ tool_choice: 'required' });
    expect(body).not.toHaveProperty('response_format');
  });

  test('sends no tools without offered tools, and with nativeTools: false', async () => {
    const { model, ways } = await modelOf(() => null);
    await partsOf(model);
    expect(ways()).toEqual(['no tools strict_schema']);
    expect(openaiModel({ model: 'm', apiKey: 'k', nativeTools: false }).nativeTools).toBe(false);
    expect(() => openaiModel({ model: 'm', apiKey: 'k', nativeTools: 'no' as never })).toThrow(
      /nativeTools: .*expected a boolean.*; received "no"/,
    );
  });

  test('a tool with an optional property is not strict, because it does not accept null', async () => {
    const { model, bodies } = await modelOf(() => null);
    const nested = { type: 'object', properties: { of: loose }, required: ['of'] };
    const tools = [closed, loose, nested, { type: 'object' }].map((parameters, at) => ({
      ...search,
      name: `t${at}`,
      parameters,
    }));
    await partsOf(model, offering({ tools }));
    const sent = bodies()[0]?.tools?.map(({ function: { strict, parameters } }) => [strict, parameters]);
    expect(sent?.[0]?.[0]).toBe(true);
    expect(sent?.slice(1)).toEqual([loose, nested, { type: 'object' }].map((parameters) => [undefined, parameters]));
  });

  test.each(['text', 'tool-call'] as const)(
    'tool names that servers reject are encoded and decoded again (%s)',
    async (replyForm) => {
      const long = 'x'.repeat(70);
      const names = ['a b', 'a_b', 'a.b', long, `${long}y`, 'action_reply?', 'ünder'];
      const back: string[] = [];
      const sent = new Map<string, string>();
      for (const at of names.keys()) {
        const server = await chatServer(({ body, response }) => {
          const wire = body.tools?.slice(-names.length).map((tool) => tool.function.name) ?? [];
          for (const [index, name] of wire.entries()) sent.set(names[index] ?? '', name);
          const call = { index: 0, id: 'a', function: { name: wire[at], arguments: '{}' } };
          streaming(response).end(event(toolChunk(call)) + event(chunk({}, 'tool_calls')));
        });
        const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL });
        const tools = names.map((name) => ({ ...search, name }));
        back.push(...(await repliesOf(model, offering({ replyForm, tools }))).calls.map(({ name }) => name));
      }
      expect(back).toEqual(names);
      const wires = [...sent.values()];
      expect(wires.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
      expect(new Set([...wires, 'action_reply']).size).toBe(names.length + 1);
      expect(sent.get('a_b')).toBe('a_b');
    },
  );
});

describe('a server that does not support tools in addition to a reply', () => {
  const S = 'strict_schema';

  test.each([
    ['no tool support', 400, said('registry.ollama.ai/library/gemma does not support tools')],
    ['no tool support (llama.cpp)', 500, said('tools param requires --jinja flag')],
    [
      'no tool support (vLLM)',
      400,
      said('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
    ],
    ['no tool support (OpenRouter)', 404, said('No endpoints found that support tool use')],
    ['unknown request field', 422, { detail: [{ loc: ['body', 'tools'], msg: 'Extra inputs are not allowed' }] }],
    ['no tools with a response format (Groq)', 400, said('json mode cannot be combined with tool/function calling')],
    ['no tools with a response format (llama.cpp)', 500, said('Cannot use custom grammar constraints with tools.')],
    [
      'no tools with a response format (Gemini)',
      400,
      said("Function calling with a response mime type: 'application/json' is unsupported"),
    ],
    ['something', 400, said('That is unsupported')],
  ])('[C4] is sent tools in the prompt within the same call, and that is remembered: %s', async (_, status, body) => {
    const { model, bodies, ways } = await modelOf(({ tools }) => (tools ? [status, body] : null));
    const request = offering();
    for (let call = 0; call < 2; call += 1)
      expect(await repliesOf(model, request)).toMatchObject({ text: '{}', calls: [], end: 'stop' });
    expect(ways()).toEqual([`auto sp ${S}`, `no tools ${S}`, `no tools ${S}`]);
    expect(bodies().map(({ messages }) => messages?.[0]?.content)).toEqual([
      'You answer.',
      'Tools in words.',
      'Tools in words.',
    ]);
    await partsOf(model);
    expect(ways().at(-1), 'what is asked without tools is asked as ever').toBe(`no tools ${S}`);
    expect(bodies().at(-1)?.messages).toEqual(modelRequest().turns);
  });

  test('[C4] is sent tools without strict schemas if it rejects strict ones', async () => {
    const { model, ways } = await modelOf(({ tools }) =>
      tools?.some((tool) => tool.function.strict)
        ? [400, said("Invalid schema for function 'search'", { param: 'tools[0].function.parameters' })]
        : null,
    );
    const request = offering();
    expect((await repliesOf(model, request)).calls).toHaveLength(1);
    expect((await repliesOf(model, request)).calls).toHaveLength(1);
    expect(ways()).toEqual([`auto sp ${S}`, `auto pp ${S}`, `auto pp ${S}`]);
  });

  test('[C4] a rejected schema does not affect other schemas', async () => {
    const { model, ways } = await modelOf(({ tools }) =>
      tools?.[0]?.function.name === 'bad'
        ? [400, said("Invalid schema for function 'bad': got type 'string'", { param: 'tools[0].function.parameters' })]
        : null,
    );
    const bad = offering({ tools: [{ ...search, name: 'bad', parameters: { ...closed, title: 'bad' } }] });
    expect(await repliesOf(model, bad)).toMatchObject({ text: '{}', calls: [] });
    const other = offering({ outputSchema: { ...bad.outputSchema } });
    expect((await repliesOf(model, other)).calls).toHaveLength(1);
    await partsOf(model, structuredClone(bad));
    expect(ways()).toEqual([
      `auto s ${S}`,
      `auto p ${S}`,
      `auto p ${S}`,
      `no tools ${S}`,
      `auto sp ${S}`,
      `no tools ${S}`,
    ]);
  });

  test('a rejected format is given up before the tools', async () => {
    const { model, ways } = await modelOf(({ response_format: format }) =>
      format?.type === 'json_schema' ? [400, said('response_format json_schema?')] : null,
    );
    expect((await repliesOf(model, offering())).calls).toHaveLength(1);
    expect(ways()).toEqual([`auto sp ${S}`, 'auto sp json_object']);
  });

  test.each([
    ['tool_choice', ['required ssp', 'auto ssp', 'unsaid ssp']],
    ['required', ['required ssp', 'auto ssp']],
  ])('[A12] a call of any tool falls back from the tool choice %s', async (refused, all) => {
    const { model, ways } = await modelOf(({ tool_choice: choice }) =>
      choice === 'required' || (refused === 'tool_choice' && choice !== undefined)
        ? [400, said(`tool_choice ${refused} is not supported`)]
        : null,
    );
    const request = offering({ replyForm: 'tool-call' });
    expect((await repliesOf(model, request)).calls).toHaveLength(1);
    expect((await repliesOf(model, request)).calls).toHaveLength(1);
    expect(ways()).toEqual([...all, all.at(-1)]);
  });

  test('[A12] is sent all but one tool in the prompt if it accepts one, and is reported if it accepts none', async () => {
    const one = await modelOf(({ tools = [] }) => (tools.length > 1 ? [400, said('That is unsupported')] : null));
    const request = offering({ replyForm: 'tool-call' });
    expect((await repliesOf(one.model, request)).calls).toMatchObject([{ name: 'action_reply' }]);
    expect(one.ways()).toEqual(['required ssp', 'named s']);
    const none = await modelOf(({ tools }) => (tools ? [400, said('tools are not supported')] : null));
    expect(await failureFrom(none.model, request)).toMatchObject({ code: 'tools_unsupported', retryable: false });
    expect(none.ways()).toEqual(['required ssp']);
  });

  test.each([
    ['text', ['auto sp', 'auto pp', 'no tools', 'no tools', 'no tools', 'no tools']],
    [
      'tool-call',
      ['required ssp', 'required spp', 'required ppp', 'named p', 'required p', 'auto p', 'unsaid p', 'unsaid p'],
    ],
  ] as const)(
    'is sent a bounded number of requests if it rejects everything, and nothing is remembered (%s)',
    async (replyForm, all) => {
      const { model, ways } = await modelOf(({ tools = [] }) => {
        const isStrict = tools.some((tool) => tool.function.strict);
        return [400, said(`${isStrict ? 'strict' : 'that'}: unsupported`)];
      });
      const request = offering({ replyForm });
      expect((await failureFrom(model, request)).code).toBe('bad_request');
      expect(ways().map((way) => way.replace(/ (strict_schema|json_\w+)$/, ''))).toEqual(all);
      await failureFrom(model, request);
      expect(ways()[all.length]).toBe(ways()[0]);
    },
  );

  test.each([
    ['the length', 400, said("This model's maximum context length is 9 tokens, 3 in functions")],
    ['the key', 401, said('tools are not for you')],
    ['the load', 503, said('tools are not supported right now')],
    ['a crash', 500, said('the tool box fell over')],
    ['another parameter', 400, said('temperature?', { param: 'temperature' })],
  ])('a rejection about something else does not move tools to the prompt: %s', async (_, status, body) => {
    const { model, ways } = await modelOf(() => [status, body]);
    await failureFrom(model, offering());
    expect(ways()).toEqual([`auto sp ${S}`]);
  });
});
