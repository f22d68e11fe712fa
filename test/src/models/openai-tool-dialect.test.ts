import { describe, expect, test } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { type ChatBody, pickyServer } from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf, replyOf, textOf } from '../../support/model-streams.ts';

const request = modelRequest({ replyForm: 'tool-call' });
const said = (message: string, more: object = {}) => ({ error: { message, ...more } });
const LM_STUDIO = { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" };
const QWEN = said('The tool_choice parameter does not support being set to required or object in thinking mode', {
  param: 'invalid_parameter_error',
});

async function modelOf(complaint: Parameters<typeof pickyServer>[0]) {
  const { baseURL, bodies } = await pickyServer(complaint);
  return { model: openaiModel({ model: 'm', apiKey: 'k', baseURL }), bodies, ways: () => bodies().map(wayOf) };
}

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
