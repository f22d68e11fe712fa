import { describe, expect, test } from 'vitest';
import { jsonInstruction } from '../../../src/internal/json-schema.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { type ChatBody, chatServer, completion, pickyServer, streaming } from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf, replyOf, textOf } from '../../support/model-streams.ts';

const FAST_API = { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] };

async function modelOf(complaint: Parameters<typeof pickyServer>[0]) {
  const { baseURL, bodies } = await pickyServer(complaint);
  const model = openaiModel({ model: 'm', apiKey: 'k', baseURL, maxOutputTokens: 50, temperature: 0.5 });
  return { model, bodies, formats: () => bodies().map(formatOf), ways: () => bodies().map(wayOf) };
}

function formatOf({ response_format: format }: ChatBody): string {
  return format?.json_schema?.strict ? 'strict' : (format?.type ?? 'none');
}

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe('the openai model, requesting JSON', () => {
  test('falls back from JSON schema to JSON object to text, and remembers it', async () => {
    const { model, formats } = await modelOf(({ response_format: format }) => {
      if (format?.type === 'json_schema') return [400, said("'json_schema' response format is not supported")];
      return format ? [422, said('Unknown field', { param: 'response_format' })] : null;
    });
    expect(textOf(await partsOf(model))).toBe('{}');
    expect(formats()).toEqual(['strict', 'json_object', 'none']);
    await partsOf(model, modelRequest({ task: 'yield' }));
    expect(formats()).toEqual(['strict', 'json_object', 'none', 'none']);
  });

  test.each([
    [400, said('This response_format type is unavailable now')],
    [400, { error: "'response_format.type' must be 'json_object' or 'text'" }],
    [404, said('No endpoints found that support the requested structured outputs')],
    [422, { detail: [{ loc: ['body', 'response_format', 'type'], msg: "Input should be 'json_object'" }] }],
    [501, { object: 'error', message: 'guided decoding is off', code: 501 }],
  ])('recognizes a rejected JSON schema: %i %j', async (status, body) => {
    const { model, formats } = await modelOf(({ response_format: format }) =>
      format?.type === 'json_schema' ? [status, body] : null,
    );
    expect(textOf(await partsOf(model))).toBe('{}');
    expect(formats()).toEqual(['strict', 'json_object']);
  });

  test('a schema that is not sent as a parameter is added to the first system turn', async () => {
    const { model, bodies } = await modelOf(({ response_format: format }) =>
      format?.type === 'json_schema' ? [400, said('json_schema?')] : null,
    );
    const { turns, outputSchema } = modelRequest();
    await partsOf(model);
    await partsOf(model, modelRequest({ turns: turns.slice(1) }));
    const [inFull, humbler, alone] = bodies().map(({ messages }) => messages);
    expect(inFull).toEqual(turns);
    expect(humbler).toHaveLength(2);
    expect(humbler?.[0]?.content).toMatch(/^You answer\.\n\nReply with one JSON object/);
    expect(humbler?.[0]?.content).toContain(JSON.stringify(outputSchema));
    expect(alone?.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('a schema that is sent as a parameter is omitted from the prompt', async () => {
    const server = await chatServer(({ response }) => void streaming(response).end(completion('{}')));
    const toServer: typeof fetch = (url, init) =>
      fetch(String(url).replace('https://api.openai.com/v1', server.baseURL), init);
    const openai = openaiModel({ model: 'm', apiKey: 'k', baseURL: 'https://api.openai.com/v1', fetch: toServer });
    const compatible = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL });
    const { outputSchema, turns } = modelRequest();
    const [, user = { role: 'user', content: '' }] = turns;
    const system = { role: 'system', content: `You answer.\n\n${jsonInstruction(outputSchema)}` } as const;
    for (const model of [openai, compatible]) await partsOf(model, modelRequest({ turns: [system, user] }));
    const properties = { day: { type: 'string', format: 'date' } };
    const dated = { type: 'object', properties, required: ['day'], additionalProperties: false } as const;
    const instruction = { role: 'system', content: jsonInstruction(dated) } as const;
    await partsOf(openai, modelRequest({ turns: [instruction, user], outputSchema: dated }));
    expect(server.exchanges.map(({ body }) => formatOf(body))).toEqual(['strict', 'strict', 'strict']);
    expect(server.exchanges.map(({ body }) => body.messages)).toEqual([
      [{ role: 'system', content: 'You answer.\n\nReply with one JSON object and nothing else.' }, user],
      [{ role: 'system', content: 'You answer.\n\nReply with one JSON object and nothing else.' }, user],
      [{ role: 'system', content: 'Reply with one JSON object and nothing else.' }, user],
    ]);
  });

  test('the rejection of one schema is remembered for that schema only', async () => {
    const { model, formats } = await modelOf(({ response_format: format }) =>
      format?.json_schema?.strict && format.json_schema.name === 'odd_reply'
        ? [400, said('Invalid schema for response_format: reference can only point to definitions')]
        : null,
    );
    const odd = modelRequest({
      schemaName: 'odd_reply',
      outputSchema: { ...modelRequest().outputSchema, title: 'odd' },
    });
    const good = modelRequest();
    for (const request of [good, odd, good, structuredClone(odd)]) await partsOf(model, request);
    expect(formats()).toEqual(['strict', 'strict', 'json_schema', 'strict', 'json_schema']);
  });

  test.each([
    ['text', '{"answer":"yes","confidence":23,"sources":[{"score":0.5}]}', true],
    ['text', '{"answer":"yes","confidence":0.5,"sources":[{"score":1.01}', true],
    ['text', '{"answer":"say \\"confidence\\": 23","confidence":0.37,"sources":[]}', false],
    ['json-object', '{"answer":"yes","confidence":23,"sources":[]}', false],
  ] as const)('lists the scores for a server that ignores their limits: %s %s', async (replyForm, text, isListed) => {
    const score = { type: 'number', minimum: 0, maximum: 1 };
    const members = { answer: { type: 'string' }, confidence: score };
    const source = { type: 'object', properties: { score }, required: ['score'], additionalProperties: false };
    const properties = { ...members, sources: { type: 'array', items: source } };
    const outputSchema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
    const { baseURL, bodies } = await pickyServer(() => null, text);
    const model = openaiModel({ model: 'm', apiKey: 'k', baseURL });
    await partsOf(model, modelRequest({ outputSchema, replyForm }));
    await partsOf(model, modelRequest({ outputSchema }));
    const sent = bodies().map(({ response_format: format }) => JSON.stringify(format ?? null));
    expect(sent[0]).not.toContain('"enum"');
    expect(sent[1]?.match(/"enum":\[0,0\.05,.*?,1\]/gu)?.length ?? 0).toBe(isListed ? 2 : 0);
    const again = openaiModel({ model: 'm', apiKey: 'k', baseURL });
    await partsOf(again, modelRequest({ outputSchema, replyForm: 'json-object' }));
    expect(bodies().at(-1)?.response_format).toEqual({ type: 'json_object' });
  });

  test('requires any call from a server that ignores which one was requested (llama.cpp)', async () => {
    const server = await chatServer(({ response }) => void streaming(response).end(completion('The food was cold.')));
    const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL });
    for (const replyForm of ['tool-call', 'tool-call'] as const) await partsOf(model, modelRequest({ replyForm }));
    const choices = server.exchanges.map(({ body }) => body.tool_choice);
    expect(choices).toEqual([{ type: 'function', function: { name: modelRequest().schemaName } }, 'required']);
  });

  test('a schema that cannot be strict is not sent twice', async () => {
    const { model, formats } = await modelOf(({ response_format: format }) =>
      format?.type === 'json_schema' ? [400, said('response_format: strict is not permitted')] : null,
    );
    await partsOf(model, modelRequest({ outputSchema: { type: 'object', additionalProperties: { type: 'string' } } }));
    expect(formats()).toEqual(['json_schema', 'json_object']);
  });

  test('a schema that is already in the turns is not repeated', async () => {
    const { model, bodies } = await modelOf(({ response_format: format }) =>
      format?.type === 'json_schema' ? [400, said('json_schema?')] : null,
    );
    const { outputSchema } = modelRequest();
    const turns = [{ role: 'system' as const, content: `It must fit ${JSON.stringify(outputSchema)}` }];
    await partsOf(model, modelRequest({ turns }));
    expect(bodies().at(-1)?.messages).toEqual(turns);
  });

  test('rejected usage is given up and the JSON schema kept', async () => {
    const { model, bodies, formats } = await modelOf((body) => (body.stream_options ? [422, FAST_API] : null));
    await partsOf(model);
    await partsOf(model);
    expect(formats()).toEqual(['strict', 'strict', 'strict']);
    expect(bodies().map(({ stream_options }) => stream_options)).toEqual([
      { include_usage: true },
      undefined,
      undefined,
    ]);
  });

  test('max_tokens becomes max_completion_tokens if the server requires it', async () => {
    const { model, bodies } = await modelOf((body) =>
      body.max_tokens === undefined
        ? null
        : [400, said("Use 'max_completion_tokens' instead.", { param: 'max_tokens' })],
    );
    await partsOf(model);
    expect(bodies().map(({ max_tokens: old, max_completion_tokens: now }) => old ?? now)).toEqual([50, 50]);
    expect(bodies()[1]).toMatchObject({ max_completion_tokens: 50, temperature: 0.5 });
  });

  test.each([
    ['another parameter', 400, said("Unsupported value: 'temperature' does not support 0.5", { param: 'temperature' })],
    [
      'the length',
      400,
      said("This model's maximum context length is 4096 tokens", { code: 'context_length_exceeded' }),
    ],
    ['the model', 404, said("The model 'm' does not exist")],
    ['the key', 401, said('json_schema is not for you')],
    ['the load', 503, said('json_schema not supported right now')],
  ])('a rejection about something else is not repeated: %s', async (_, status, body) => {
    const { model, formats } = await modelOf(() => [status, body]);
    await failureFrom(model);
    expect(formats()).toEqual(['strict']);
  });

  test('if nothing is accepted, reports the first rejection after a bounded number of calls, and remembers nothing', async () => {
    const { model, formats } = await modelOf((_, index) => [400, said(`not supported, ${index}`)]);
    const failure = await failureFrom(model);
    expect(failure).toMatchObject({ code: 'bad_request', retryable: false });
    expect(failure.message).toContain('not supported, 0');
    expect(formats()).toEqual(['strict', 'json_object', 'none', 'none']);
    await failureFrom(model);
    expect(formats()[4]).toBe('strict');
  });

  test('a busy server during a fallback is a retryable failure', async () => {
    const { model, formats } = await modelOf((_, index) =>
      index === 0 ? [400, said('json_schema?')] : index === 1 ? [503, said('Busy.')] : null,
    );
    expect(await failureFrom(model)).toMatchObject({ code: 'server_error', retryable: true });
    expect(formats()).toEqual(['strict', 'json_object']);
  });
});

const request = modelRequest({ replyForm: 'tool-call' });
const LM_STUDIO = { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" };
const QWEN = said('The tool_choice parameter does not support being set to required or object in thinking mode', {
  param: 'invalid_parameter_error',
});

function wayOf({ tools, tool_choice: choice, stream_options: usage }: ChatBody): string {
  const named = typeof choice === 'object' ? 'named' : (choice ?? 'unsaid');
  return `${tools ? named : 'no tools'}${tools?.[0]?.function.strict ? ' strict' : ''}${usage ? '' : ' uncounted'}`;
}

const callOf = async (model: ReturnType<typeof openaiModel>) => replyOf(await partsOf(model, request)).calls;
const CALL = [{ name: 'action_reply', arguments: '{"q":"x"}' }];

describe('the openai model, requesting a tool call', () => {
  test('[A12] sends the schema as one strict tool with its name as the choice, and no response format', async () => {
    const { model, bodies } = await modelOf(() => null);
    expect(await callOf(model)).toEqual(CALL);
    const [body] = bodies();
    expect(body?.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'action_reply',
          description: 'Returns the complete reply.',
          parameters: request.outputSchema,
          strict: true,
        },
      },
    ]);
    expect(body?.tool_choice).toEqual({ type: 'function', function: { name: 'action_reply' } });
    expect(body?.messages).toEqual(request.turns);
    for (const absent of ['response_format', 'parallel_tool_calls']) expect(body).not.toHaveProperty(absent);
  });

  test('[A12] a schema that strict mode cannot express is sent unchanged, with its description as the tool’s', async () => {
    const { model, bodies } = await modelOf(() => null);
    const outputSchema = { type: 'object', description: 'What to do next.', additionalProperties: true };
    await partsOf(model, modelRequest({ replyForm: 'tool-call', outputSchema }));
    const tool = bodies()[0]?.tools?.[0]?.function;
    expect(tool).toEqual({ name: 'action_reply', description: 'What to do next.', parameters: outputSchema });
  });

  test.each([
    [LM_STUDIO, 'string', ['named strict', 'required strict', 'required strict']],
    [QWEN, 'auto', ['named strict', 'required strict', 'auto strict', 'auto strict']],
    [
      { detail: [{ loc: ['body', 'tool_choice'], msg: 'Extra inputs are not permitted' }] },
      'none',
      ['named strict', 'required strict', 'auto strict', 'unsaid strict', 'unsaid strict'],
    ],
  ])('[A12] a rejected tool choice is weakened, and that is remembered: %j', async (body, takes, ways) => {
    const subject = await modelOf(({ tool_choice: choice }) => {
      const isTaken = choice === undefined || choice === takes || (takes === 'string' && typeof choice === 'string');
      return isTaken ? null : [400, body];
    });
    expect(await callOf(subject.model)).toEqual(CALL);
    expect(await callOf(subject.model)).toEqual(CALL);
    expect(subject.ways()).toEqual(ways);
  });

  test('[A12] if the call is not forced, the prompt asks for it', async () => {
    const { model, bodies } = await modelOf((body) => (body.tool_choice === 'auto' ? null : [400, QWEN]));
    await partsOf(model, request);
    expect(bodies().at(-1)?.messages?.[0]?.content).toBe(
      'You answer.\n\nReply with one call of the tool action_reply and nothing else.',
    );
  });

  test.each([
    [400, said("Invalid schema for function 'action_reply'", { param: 'tools[0].function.parameters' })],
    [422, { detail: [{ loc: ['body', 'tools', 0, 'function', 'strict'], msg: 'Extra inputs are not permitted' }] }],
    [400, said('That is unsupported')],
  ])('[A12] rejected strict mode is given up, and the forced choice kept: %i %j', async (status, body) => {
    const { model, ways } = await modelOf(({ tools }) => (tools?.[0]?.function.strict ? [status, body] : null));
    expect(await callOf(model)).toEqual(CALL);
    expect(await callOf(model)).toEqual(CALL);
    expect(ways()).toEqual(['named strict', 'named', 'named']);
  });

  test('[A12] the fallback of one reply form does not affect the other', async () => {
    const { model, bodies, ways } = await modelOf(({ tools, tool_choice: choice, response_format: format }) => {
      if (tools) return typeof choice === 'object' ? [400, LM_STUDIO] : null;
      return format?.type === 'json_schema' ? [400, said('json_schema?')] : null;
    });
    await partsOf(model, request);
    expect(textOf(await partsOf(model))).toBe('{}');
    await partsOf(model, request);
    await partsOf(model);
    expect(ways()).toEqual(['named strict', 'required strict', 'no tools', 'no tools', 'required strict', 'no tools']);
    expect(bodies().map(({ response_format: format }) => format?.type)).toEqual([
      undefined,
      undefined,
      'json_schema',
      'json_object',
      undefined,
      'json_object',
    ]);
  });

  test.each([
    [400, said('registry.ollama.ai/library/gemma does not support tools')],
    [404, said('No endpoints found that support tool use')],
    [500, said('tools param requires --jinja flag')],
    [500, said('Unsupported param: tools')],
    [422, { detail: [{ loc: ['body', 'tools'], msg: 'Extra inputs are not permitted' }] }],
    [501, said('Function calling is not supported')],
  ])(
    '[A12] a server without tools gets no other form; the failure names the alternative: %i %j',
    async (status, body) => {
      const { model, ways } = await modelOf(({ tools }) => (tools ? [status, body] : null));
      const failure = await failureFrom(model, request);
      expect(failure).toMatchObject({ code: 'tools_unsupported', retryable: false, status, stage: 'transport' });
      expect(failure.message).toMatch(
        /^this model does not seem to support tool calls; use replyForm: 'text' instead \(/,
      );
      for (const way of ways()) expect(way).not.toContain('no tools');
    },
  );

  test('[A12] if nothing is accepted, gives up one feature at a time in a bounded number of calls, and remembers nothing', async () => {
    const { model, ways } = await modelOf((_, index) => [400, said(`unsupported, ${index}`)]);
    const failure = await failureFrom(model, request);
    expect(failure).toMatchObject({ code: 'bad_request', retryable: false });
    expect(failure.message).toContain('unsupported, 0');
    const all = ['named strict', 'named', 'required', 'auto', 'unsaid', 'unsaid uncounted'];
    expect(ways()).toEqual(all);
    await failureFrom(model, request);
    expect(ways()[all.length]).toBe('named strict');
  });

  test.each([
    ['the model made no call', 400, said('Tool choice is required, but model did not call a tool')],
    ['the length', 400, said("This model's maximum context length is 9 tokens. Functions are not supported to help.")],
    ['another parameter', 400, said('temperature is not supported', { param: 'temperature' })],
    ['the key', 401, said('tool_choice is not for you')],
    ['the load', 503, said('tools are not supported right now')],
  ])('a rejection about something else is not repeated: %s', async (_, status, body) => {
    const { model, ways } = await modelOf(() => [status, body]);
    expect((await failureFrom(model, request)).code).not.toBe('tools_unsupported');
    expect(ways()).toEqual(['named strict']);
  });
});
