import { describe, expect, test } from 'vitest';
import { jsonInstruction } from '../../../src/internal/json-schema.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { type ChatBody, chatServer, completion, pickyServer, streaming } from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf, textOf } from '../../support/model-streams.ts';

const FAST_API = { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] };

async function modelOf(complaint: Parameters<typeof pickyServer>[0]) {
  const { baseURL, bodies } = await pickyServer(complaint);
  const model = openaiModel({ model: 'm', apiKey: 'k', baseURL, maxOutputTokens: 50, temperature: 0.5 });
  return { model, bodies, formats: () => bodies().map(formatOf) };
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

  test('a schema that is already in the turns is not repeated', async () => {
    const { model, bodies } = await modelOf(({ response_format: format }) =>
      format?.type === 'json_schema' ? [400, said('json_schema?')] : null,
    );
    const { outputSchema } = modelRequest();
    const turns = [{ role: 'system' as const, content: `It must fit ${JSON.stringify(outputSchema)}` }];
    await partsOf(model, modelRequest({ turns }));
    expect(bodies().at(-1)?.messages).toEqual(turns);
  });

  test('a schema that strict mode rejects is sent again without strict', async () => {
    const { model, formats } = await modelOf(({ response_format: format }) =>
      format?.json_schema?.strict
        ? [
            400,
            said("Invalid schema for response_format 'x': 'minimum' is not permitted", { param: 'response_format' }),
          ]
        : null,
    );
    await partsOf(model);
    expect(formats()).toEqual(['strict', 'json_schema']);
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
