import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { eventsIn, startServer } from '../../support/chain-server.ts';
import { eventSchemaOf, responseSchema } from '../../support/open-responses.ts';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const say = (role: string, content: unknown) => ({ type: 'message', role, content });

/** The kinds of requests that the compliance suite of the specification sends. */
const REQUESTS = {
  'a text': [say('user', 'Is it so?')],
  'a system prompt': [say('system', 'Answer like a sailor.'), say('user', 'Is it so?')],
  'an image': [
    say('user', [
      { type: 'input_text', text: 'What is in this image?' },
      { type: 'input_image', image_url: PIXEL },
    ]),
  ],
  'several turns': [say('user', 'I am Ada.'), say('assistant', 'Hello Ada.'), say('user', 'Who am I?')],
};

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' } },
    required: ['location'],
  },
};
const TOOL_REQUEST = { input: [say('user', "What's the weather like in San Francisco?")], tools: [WEATHER] };

const startAccepting = (script: Parameters<typeof scriptedModel>[0] = {}) =>
  startServer({
    chain: { model: scriptedModel(script, { otherwise: replies, chunkChars: 4, accepts: ['image/png'] }) },
  });

const callingTool = () => {
  const calls = [{ capability: 'get_weather', arguments: '{"location":"San Francisco, CA"}' }];
  return startAccepting({ action: [{ ...replies.action, calls }] });
};

describe('a response to a request of the Open Responses suite', () => {
  it.each(Object.entries(REQUESTS))('has the format that the specification requires: %s', async (_, input) => {
    const { post } = await startAccepting();
    const response = await (await post('/v1/responses', { model: 'postchain', input, stream: false })).json();
    const { status, output, error } = responseSchema.parse(response);
    expect([status, error]).toEqual(['completed', null]);
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
  });

  it('has a call of the tool of the client', async () => {
    const { post } = await callingTool();
    const response = await (await post('/v1/responses', { model: 'postchain', ...TOOL_REQUEST, stream: false })).json();
    const { status, output } = responseSchema.parse(response);
    expect(status).toBe('completed');
    expect(output.at(-1)).toMatchObject({ type: 'function_call', name: 'get_weather' });
  });

  it.each([
    ['a text', startAccepting, { input: REQUESTS['a text'] }],
    ['a call of a tool', callingTool, TOOL_REQUEST],
  ] as const)('is streamed as the events of the specification, in order: %s', async (_, start, request) => {
    const { post } = await start();
    const response = await post('/v1/responses', { model: 'postchain', ...request, stream: true });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/u);
    const datas: string[] = [];
    for await (const { event, data } of eventsIn(response)) {
      datas.push(data);
      if (data !== '[DONE]') expect(JSON.parse(data).type).toBe(event);
    }
    expect(datas.pop()).toBe('[DONE]');
    const events = datas.map((data) => JSON.parse(data));
    for (const event of events) expect(eventSchemaOf(event.type)?.safeParse(event)).toMatchObject({ success: true });
    expect(events[0].type).toBe('response.created');
    expect(events.at(-1).type).toBe('response.completed');
    const finished = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(finished).toEqual(events.at(-1).response.output);
  });
});
