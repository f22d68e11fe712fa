import { describe, expect, test } from 'vitest';
import type { ChatTurn, ModelPart } from '../../../../machines/contracts/model.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { chatServer, type Exchange, respondWithJson, streaming } from '../../../support/chat-server.ts';
import { modelRequest, partsOf, replyOf } from '../../../support/model-streams.ts';
import { SUBJECTS, type Subject } from './subjects.ts';
import { type RecordedReply, USAGE } from './wire-formats.ts';

const KEY = 'sk-Test-4fQ9zLw0mB7xKc2RtYv8Hn5Jd';

type Answer = (exchange: Exchange) => void | Promise<void>;

async function serve(subject: Subject, answer: Answer) {
  const server = await chatServer(answer);
  return { server, model: subject.create(server.baseURL, KEY) };
}

/** Sends the events one write at a time. */
function sendEvents({ response }: Exchange, events: readonly string[]): void {
  streaming(response);
  for (const event of events) response.write(event);
  response.end();
}

const replyWith =
  (subject: Subject, reply: RecordedReply): Answer =>
  (exchange) =>
    sendEvents(exchange, subject.wire.events(reply, exchange.body));

/** The parts that count, without those that only show that the model is alive. */
async function read(subject: Subject, reply: RecordedReply, request = modelRequest()) {
  const { server, model } = await serve(subject, replyWith(subject, reply));
  const parts = await partsOf(model, request);
  return { ...replyOf(parts), last: parts.at(-1), parts: parts.filter(isNews), server };
}

const isNews = (part: ModelPart): boolean => part.type !== 'reasoning-delta' || part.text !== '';

const TEXT = ['{"response":', '"The sky ', 'scatters blue light."}'];
const offered = (name: string) => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: 'object', properties: {} },
});
const withTools = modelRequest({ tools: [offered('search'), offered('calculate')], turnsWithoutTools: [] });

/** What every model does, in plain sentences. */
const BEHAVIORS: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  'streams text in the pieces in which it arrives': async (subject) => {
    const { text, end, parts } = await read(subject, { text: TEXT, finish: 'stop' });
    expect([text, end]).toEqual([TEXT.join(''), 'stop']);
    expect(parts.slice(0, -1)).toEqual(TEXT.map((piece) => ({ type: 'text-delta', text: piece })));
  },

  'keeps reasoning apart from the reply': async (subject) => {
    const reply = await read(subject, { reasoning: ['Light ', 'scatters.'], text: TEXT, finish: 'stop' });
    expect(reply).toMatchObject({ text: TEXT.join(''), end: 'stop' });
    expect(reply.reasoning).toBe(subject.hidesReasoning ? '' : 'Light scatters.');
  },

  'reads several tool calls with their arguments': async (subject) => {
    const calls = [
      { name: 'search', arguments: ['{"query":', '"sky"}'] },
      { name: 'calculate', arguments: ['{"expression":"6*7"}'] },
    ];
    const reply = await read(subject, { text: ['I look it up.'], calls, finish: 'tool-calls' }, withTools);
    expect(reply).toMatchObject({ text: subject.dropsTextBesideCalls ? '' : 'I look it up.', end: 'tool-calls' });
    expect(reply.calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
      ['search', { query: 'sky' }],
      ['calculate', { expression: '6*7' }],
    ]);
  },

  'sends earlier tool calls and their results as native messages with the provider’s ids': async (subject) => {
    const first = { name: 'search', arguments: '{"query":"sky"}' };
    const second = { name: 'calculate', arguments: '{"expression":"6*"}' };
    const calls = [first, second].map(({ name, arguments: text }) => ({ name, arguments: [text] }));
    const { parts } = await read(subject, { calls, finish: 'tool-calls' }, withTools);
    const ids = parts.flatMap((part) => (part.type === 'tool-call-delta' && part.id ? [part.id] : []));
    const [one = 'call_1', other = 'call_2'] = [...new Set(ids)];
    const turns: ChatTurn[] = [
      ...modelRequest().turns,
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: one, ...first },
          { id: other, ...second },
        ],
      },
      { role: 'tool', content: 'It is blue.', toolResult: { id: one, name: 'search', isError: false } },
      { role: 'tool', content: 'Error: no value', toolResult: { id: other, name: 'calculate', isError: true } },
    ];
    const { server, end } = await read(subject, { text: TEXT, finish: 'stop' }, { ...withTools, turns });
    expect(end).toBe('stop');
    const byName = subject.wire.identifiesCallsByName === true;
    const sent = subject.wire.toolTurns(server.exchanges[0]?.body);
    if (subject.create(server.baseURL, KEY).nativeTools === false) return expect(sent).toEqual([]);
    expect(byName || ids.length > 0).toBe(true);
    expect(sent).toEqual([
      ['call', byName ? 'search' : one, { query: 'sky' }],
      ['call', byName ? 'calculate' : other, { expression: '6*' }],
      ['result', byName ? 'search' : one, 'It is blue.'],
      ['result', byName ? 'calculate' : other, expect.stringContaining('Error: no value')],
    ]);
  },

  'sends the constraints of a tool’s arguments, in words if its schema cannot have them': async (subject) => {
    const parameters = {
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^Q7-' },
        count: { type: 'integer', minimum: 3141 },
        tags: { type: 'object', propertyNames: { pattern: '^Z9-' }, additionalProperties: { type: 'string' } },
      },
      required: ['code', 'count'],
      additionalProperties: false,
    };
    const strict = { ...parameters, properties: { code: parameters.properties.code }, required: ['code'] };
    const tools = [
      { ...offered('search'), parameters },
      { ...offered('calculate'), parameters: strict },
    ];
    const { server, model } = await serve(subject, replyWith(subject, { text: TEXT, finish: 'stop' }));
    if (model.nativeTools === false) return;
    await partsOf(model, { ...withTools, tools });
    const sent = JSON.stringify(server.exchanges[0]?.body.tools);
    for (const text of ['^Q7-', '3141', '^Z9-']) expect(sent).toContain(text);
    expect(sent.split('^Q7-').length).toBeGreaterThan(2);
  },

  'reads the reply from a tool call': async (subject) => {
    const calls = [{ name: 'action_reply', arguments: TEXT }];
    const reply = await read(subject, { calls, finish: 'tool-calls' }, modelRequest({ replyForm: 'tool-call' }));
    expect(reply.calls).toMatchObject([{ name: 'action_reply' }]);
    expect(JSON.parse(reply.calls[0]?.arguments ?? '')).toEqual(JSON.parse(TEXT.join('')));
  },

  'requests JSON with the schema of the reply': async (subject) => {
    const { text, server } = await read(subject, { text: TEXT, finish: 'stop' });
    expect(subject.wire.asksFor(server.exchanges[0]?.body, 'response')).toBe(true);
    expect(JSON.parse(text)).toEqual({ response: 'The sky scatters blue light.' });
  },

  'puts the schema into the prompt if only a JSON object is requested': async (subject) => {
    const request = modelRequest({ replyForm: 'json-object' });
    const { text, server } = await read(subject, { text: TEXT, finish: 'stop' }, request);
    const [first] = server.exchanges;
    expect(subject.wire.asksFor(first?.body, '"response"')).toBe(false);
    expect(JSON.stringify(first?.body)).toContain('JSON Schema');
    expect(text).toBe(TEXT.join(''));
  },

  'does not request JSON if the reply is prose': async (subject) => {
    const request = modelRequest({ replyForm: 'prose', outputSchema: {} });
    const { text, server } = await read(subject, { text: TEXT, finish: 'stop' }, request);
    expect(JSON.stringify(server.exchanges[0]?.body)).not.toMatch(/json/iu);
    expect(text).toBe(TEXT.join(''));
  },

  'sends images and files before the text of the user turn': async (subject) => {
    const image = { digest: 'a', mediaType: 'image/png', name: 'sky.png', bytes: 8, data: 'iVBORw0KGgo=' };
    const pdf = { digest: 'b', mediaType: 'application/pdf', name: 'sky.pdf', bytes: 5, data: 'JVBERi0=' };
    const files = subject.readsImagesOnly ? [image] : [image, pdf];
    const turns = modelRequest().turns.map((turn) => (turn.role === 'user' ? { ...turn, files } : turn));
    const { end, server } = await read(subject, { text: TEXT, finish: 'stop' }, modelRequest({ turns }));
    expect(end).toBe('stop');
    expect(subject.wire.attached(server.exchanges[0]?.body)).toEqual([
      ...files.map(({ mediaType, data }) => `data:${mediaType};base64,${data}`),
      'Why is the sky blue?',
    ]);
  },

  'reports usage with cached, written and reasoning tokens as parts of input and output': async (subject) => {
    const { last } = await read(subject, { text: TEXT, finish: 'stop' });
    expect(last).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: {
        inputTokens: USAGE.input,
        outputTokens: USAGE.output,
        cachedInputTokens: USAGE.cached,
        ...(subject.wire.reportsWrites && { cacheWriteTokens: USAGE.written }),
        ...(subject.wire.reportsReasoning && { reasoningTokens: USAGE.reasoning }),
        estimated: false,
      },
    });
  },

  'reads every finish reason': async (subject) => {
    for (const finish of ['stop', 'length', 'content-filter', 'other'] as const) {
      expect((await read(subject, { text: TEXT, finish })).end).toBe(finish);
    }
  },

  'reports a rate limit with the wait that the server requests': async (subject) => {
    const { model } = await serve(subject, ({ response }) =>
      respondWithJson(response, 429, subject.wire.error(429, 'Slow down.'), { 'retry-after': '7' }),
    );
    expect(await partsOf(model)).toEqual([
      {
        type: 'failure',
        failure: {
          stage: 'transport',
          code: 'rate_limited',
          message: expect.stringContaining('Slow down.'),
          retryable: true,
          retryAfterMs: 7_000,
          status: 429,
          issues: [],
        },
      },
    ]);
  },

  'reports a rejected key, without the key': async (subject) => {
    const { server, model } = await serve(subject, ({ response }) =>
      respondWithJson(response, 401, subject.wire.error(401, `Incorrect API key provided: ${KEY}.`)),
    );
    const [part, ...others] = await partsOf(model);
    expect(others).toEqual([]);
    expect(part).toMatchObject({ failure: { code: 'unauthorized', retryable: false, status: 401 } });
    expect(JSON.stringify(part)).not.toContain(KEY);
    expect(JSON.stringify(server.exchanges[0]?.headers)).toContain(KEY);
  },

  'reports a failing server as retryable': async (subject) => {
    const { server, model } = await serve(subject, ({ response }) =>
      respondWithJson(response, 503, subject.wire.error(503, 'Overloaded.')),
    );
    expect(await partsOf(model)).toMatchObject([
      { type: 'failure', failure: { stage: 'transport', code: 'server_error', retryable: true, status: 503 } },
    ]);
    expect(server.exchanges).toHaveLength(1);
  },

  'reports a server that does not exist': async (subject) => {
    const { server, model } = await serve(subject, () => {});
    await server.stop();
    expect(await partsOf(model)).toMatchObject([
      { type: 'failure', failure: { stage: 'transport', code: 'connection_failed', retryable: true, status: null } },
    ]);
  },

  'reports a stream that is not valid': async (subject) => {
    const { model } = await serve(subject, (exchange) => {
      const events = subject.wire.events({ text: TEXT, finish: 'stop' }, exchange.body);
      sendEvents(exchange, [...events.slice(0, 2), subject.wire.broken, ...events.slice(2)]);
    });
    const last = (await partsOf(model)).at(-1);
    expect(last).toMatchObject({ type: 'failure', failure: { code: 'garbled_reply', retryable: true } });
  },

  'reports a stream that ends too early': async (subject) => {
    const { model } = await serve(subject, (exchange) => {
      const events = subject.wire.events({ text: TEXT, finish: 'stop' }, exchange.body);
      sendEvents(exchange, events.slice(0, events.length - subject.wire.endEvents - 1));
    });
    const last = (await partsOf(model)).at(-1);
    expect(last).toMatchObject({ type: 'failure', failure: { code: 'stream_cut', retryable: true } });
  },

  'reports a connection that breaks during the reply': async (subject) => {
    const { model } = await serve(subject, (exchange) => {
      const events = subject.wire.events({ text: TEXT, finish: 'stop' }, exchange.body);
      streaming(exchange.response).write(events.slice(0, -subject.wire.endEvents - 1).join(''), () =>
        setImmediate(() => exchange.response.destroy()),
      );
    });
    const last = (await partsOf(model)).at(-1);
    expect(last).toMatchObject({ type: 'failure', failure: { code: 'stream_cut', retryable: true } });
  },

  'closes the connection when the caller aborts': async (subject) => {
    const { server, model } = await serve(subject, ({ response }) => void streaming(response).write(':\n\n'));
    const controller = new AbortController();
    const parts = partsOf(model, modelRequest(), controller.signal);
    await expect.poll(() => server.exchanges.length).toBe(1);
    controller.abort();
    expect((await parts).filter(isNews)).toEqual([]);
    await server.allClosed();
  },

  'closes the connection when the caller stops reading': async (subject) => {
    const { server, model } = await serve(subject, (exchange) => {
      const events = subject.wire.events({ text: TEXT, finish: 'stop' }, exchange.body);
      streaming(exchange.response).write(events.slice(0, -subject.wire.endEvents).join(''));
    });
    for await (const part of model.stream(modelRequest(), { signal: new AbortController().signal })) {
      if (part.type === 'text-delta') break;
    }
    await server.allClosed();
  },

  'leaves no key in a journal': async (subject) => {
    const { model } = await serve(subject, ({ response, index }) => {
      const status = index === 0 ? 500 : 401;
      respondWithJson(response, status, subject.wire.error(status, `Your key ${KEY} is not accepted.`));
    });
    const run = createPostChain({ model, limits: { backoffBaseMs: 0 } }).run({ request: 'Why is the sky blue?' });
    expect((await run.answer).status).toBe('degraded');
    expect(JSON.stringify(run.entries)).toContain('500');
    expect(JSON.stringify(run.entries)).not.toContain(KEY);
  },
};

describe.each(SUBJECTS)('$name', (subject) => {
  test.each(Object.entries(BEHAVIORS))('%s', async (_, behaves) => behaves(subject));
});
