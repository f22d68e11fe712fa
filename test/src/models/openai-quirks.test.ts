import { describe, expect, test } from 'vitest';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, completion, DONE, event, streaming } from '../../support/chat-server.ts';
import { partsOf, replyOf, textOf } from '../../support/model-streams.ts';

/** Serves this body as an event stream over HTTP in the given chunks and returns the resulting parts. */
async function partsFrom(...pieces: readonly (string | Uint8Array)[]) {
  const server = await chatServer(async ({ response }) => {
    streaming(response);
    for (const piece of pieces) await new Promise<void>((sent) => response.write(piece, () => setImmediate(sent)));
    response.end();
  });
  return partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }));
}

const WILD = 'Grüße, 日本語 👩‍👩‍👧 \u2028 "quoted" \\n \ufeff end';
const WELL = { text: WILD, reasoning: '', calls: [], end: 'stop' };
const usage = { inputTokens: 7, outputTokens: 3, estimated: false };
const events = completion(WILD);

describe('the bytes of an event stream', () => {
  test.each([
    ['well-formed', events],
    ['with CRLF line endings', events.replaceAll('\n', '\r\n')],
    ['with CR line endings', events.replaceAll('\n', '\r')],
    ['with a BOM at the start', `\ufeff${events}`],
    ['with a BOM and a comment at the start', `\ufeff: hello\n\n${events}`],
    ['without a space after data:', events.replaceAll('data: ', 'data:')],
    ['with keep-alive comments', events.replaceAll('data: ', ': OPENROUTER PROCESSING\n\ndata: ')],
    ['with comments inside events', events.replaceAll('data: ', ': ping\ndata: ')],
    ['with ids, names and retry times', events.replaceAll('data: ', 'id: 1\nevent: message\nretry: 10\ndata: ')],
    ['with events without data', events.replaceAll('data: ', 'event: ping\n\ndata: ')],
    ['with empty events', events.replaceAll('data: ', 'data:\n\ndata: \n\ndata: ')],
    ['with events split over several data lines', events.replaceAll(',"', '\ndata: ,\ndata: "')],
    ['with blank lines in between', events.replaceAll('\n\n', '\n\n\n\n\n')],
    ['with whitespace-only lines', events.replaceAll('\n\n', '\n\r\n')],
    ['without [DONE]', events.replace(DONE, '')],
    ['without [DONE] and the last blank line', events.replace(`\n\n${DONE}`, '\n')],
    ['without [DONE] and the last line ending', events.replace(`\n\n${DONE}`, '')],
    ['with content after [DONE]', `${events}data: {"late": true}\n\nnonsense`],
  ])('%s, in one piece and byte by byte', async (_, body) => {
    const parts = await partsFrom(body);
    expect(replyOf(parts)).toEqual(WELL);
    expect(parts.at(-1)).toMatchObject({ usage });
    expect(replyOf(await partsFrom(...Array.from(Buffer.from(body), (byte) => Uint8Array.of(byte))))).toEqual(WELL);
  });
});

const choice = (more: object, finishReason: string | null = null) => ({
  choices: [{ index: 0, delta: {}, finish_reason: finishReason, ...more }],
});
const END = event(chunk({}, 'stop')) + DONE;

describe('the usage of a reply', () => {
  const theirs = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, cost: '0.1', details: [null] };
  const odd = [
    {},
    { prompt_tokens: '7', completion_tokens: 3 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
    'none',
    [],
  ];

  test.each([
    ['in the last chunk', [event({ ...chunk({}, 'stop'), usage: theirs })], usage],
    ['in a chunk of its own with empty choices', [END, event({ choices: [], usage: theirs })], usage],
    ['in a chunk of its own without choices', [END, event({ usage: theirs })], usage],
    ['in the choice (Moonshot)', [event(choice({ usage: theirs }, 'stop'))], usage],
    [
      'in every chunk, growing',
      [event({ usage: { ...theirs, completion_tokens: 1 } }), event({ usage: theirs }), END],
      usage,
    ],
    ['nowhere', [END], null],
    ['odd', [...odd.map((one) => event({ choices: [], usage: one })), END], null],
    ['invalid after it was valid', [event({ usage: theirs }), ...odd.map((one) => event({ usage: one })), END], usage],
  ])('[A11] is read %s', async (_, pieces, expected) => {
    const parts = await partsFrom(...pieces.map((piece) => piece.replace(DONE, '')), DONE);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage: expected });
  });

  test.each([
    [
      'details',
      { prompt_tokens_details: { cached_tokens: 5 }, completion_tokens_details: { reasoning_tokens: 2 } },
      3,
      2,
    ],
    ['the usage (Moonshot)', { cached_tokens: 5 }, 3, undefined],
    ['cache hits (DeepSeek)', { prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 2 }, 3, undefined],
    [
      'reasoning beside the completion (xAI)',
      { cached_tokens: 5, total_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } },
      43,
      40,
    ],
    ['more cached than sent', { cached_tokens: 9_000 }, 3, undefined],
    [
      'invalid details',
      { cached_tokens: 5, prompt_tokens_details: 'x', completion_tokens_details: { reasoning_tokens: -1 } },
      3,
      undefined,
    ],
  ])('[A11] cached and reasoning tokens are read from %s', async (_, members, outputTokens, reasoningTokens) => {
    const parts = await partsFrom(
      END.replace(DONE, ''),
      event({ choices: [], usage: { ...theirs, ...members } }),
      DONE,
    );
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 7, outputTokens } });
    const { usage } = parts.at(-1) as { usage: TokenUsage };
    expect(usage.reasoningTokens).toBe(reasoningTokens);
    expect(usage.cachedInputTokens).toBe('cached_tokens' in members && members.cached_tokens > 7 ? 7 : 5);
  });

  test.each([
    ['refused', [event(chunk({ refusal: 'No.' }, 'stop')), event({ choices: [], usage: theirs })]],
    ['stream_cut', [event({ ...chunk({ content: 'half' }), usage: theirs })]],
    ['server_error', [event({ ...chunk({ content: 'half' }), usage: theirs }), event({ error: { message: 'Boom.' } })]],
    ['garbled_reply', [event({ ...chunk({ content: 'half' }), usage: theirs }), 'data: {\n\n']],
  ])('[A11] of a failed call is reported with the failure: %s', async (code, pieces) => {
    const parts = await partsFrom(...pieces);
    expect(parts.at(-1)).toMatchObject({ type: 'failure', failure: { code }, usage });
    expect((await partsFrom(...pieces.map((piece) => piece.replaceAll('usage', 'x')))).at(-1)).not.toHaveProperty(
      'usage',
    );
  });
});

describe('the tool call of a reply', () => {
  test('[A12] is read from the legacy function_call, streamed or not', async () => {
    const pieces = [{ name: 'search', arguments: '' }, { arguments: '{"q":' }, { arguments: '"x"}' }];
    const expected = {
      text: '',
      reasoning: '',
      calls: [{ name: 'search', arguments: '{"q":"x"}' }],
      end: 'tool-calls',
    };
    const streamed = pieces.map((function_call) => event(chunk({ content: null, function_call })));
    expect(replyOf(await partsFrom(...streamed, event(chunk({}, 'function_call')), DONE))).toEqual(expected);
    const message = { content: null, function_call: { name: 'search', arguments: '{"q":"x"}' } };
    const whole = JSON.stringify({ object: 'chat.completion', ...choice({ delta: null, message }, 'function_call') });
    expect(replyOf(await partsFrom(whole))).toEqual(expected);
  });

  test('[A12] counts once if a server sends it in both members', async () => {
    const called = { name: 'search', arguments: '{}' };
    const both = chunk({ function_call: called, tool_calls: [{ index: 0, id: 'a', function: called }] }, 'tool_calls');
    expect(replyOf(await partsFrom(event(both), DONE)).calls).toEqual([called]);
    const empty = chunk({ function_call: called, tool_calls: [] }, 'function_call');
    expect(replyOf(await partsFrom(event(empty), DONE)).calls).toEqual([called]);
  });
});

describe('the text of a reply', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }, { type: 'reference' }] });

  test.each([
    ['reasoning_content', chunk({ reasoning_content: 'Hm.', content: null })],
    ['reasoning', chunk({ reasoning: 'Hm.' })],
    ['both fields with the same text', chunk({ reasoning_content: 'Hm.', reasoning: 'Hm.' })],
    ['thinking parts of the content', chunk({ content: [thinking('H'), thinking('m.')] })],
    ['a thinking part that is a string', chunk({ content: [{ type: 'thinking', thinking: 'Hm.' }] })],
  ])('[A12] reasoning is read from %s and is not part of the text', async (_, data) => {
    const parts = await partsFrom(event(data), completion('ok'));
    expect(replyOf(parts)).toEqual({ text: 'ok', reasoning: 'Hm.', calls: [], end: 'stop' });
  });

  test('content parts are joined; other types and invalid parts are ignored', async () => {
    const parts = [{ type: 'text', text: 'o' }, { type: 'image_url', text: 'x' }, null, 'x', { type: 'text' }];
    const data = chunk({ content: [...parts, { type: 'text', text: 'k' }] });
    expect(replyOf(await partsFrom(event(data), END))).toEqual({ text: 'ok', reasoning: '', calls: [], end: 'stop' });
  });

  test('invalid members and chunks are ignored', async () => {
    const pieces = [
      {},
      { choices: null },
      { choices: [] },
      { choices: [null] },
      { choices: [{}] },
      choice({ delta: null }),
      choice({
        delta: { role: 7, content: null, refusal: 0, reasoning: {}, reasoning_content: 1, audio: null },
        logprobs: 'no',
      }),
      { ...choice({ finish_reason: 7 }), id: null, created: 'now', service_tier: {}, x_groq: { usage: [] } },
    ].map(event);
    expect(replyOf(await partsFrom(...pieces, completion('ok')))).toMatchObject({ text: 'ok', end: 'stop' });
  });

  test('content of an unknown type is a failure', async () => {
    expect(replyOf(await partsFrom(event(chunk({ content: 42 })), completion('ok'))).end).toBe('garbled_reply');
  });
});

const JSON_TEXT = '{"capital":"Paris"}';
const textChunk = (content: unknown) => chunk({ content });
const whole = { text: JSON_TEXT, reasoning: '', calls: [] };

describe('the content of a reply', () => {
  const halves = [textChunk('{"capital":'), textChunk('"Paris"}')];
  test.each<[string, string[]]>([
    ['grows', ['{"cap', '{"capital":"Pa', JSON_TEXT].map(textChunk).map(event)],
    ['grows, from its first character', ['{', '{"', '{"capital":', JSON_TEXT, JSON_TEXT].map(textChunk).map(event)],
    ['grows in two chunks', ['{"capital"', JSON_TEXT].map(textChunk).map(event)],
    ['comes after a comment that is sent as data', ['data: : PROCESSING\n\n', ...halves.map(event)]],
    ['comes after a word that is sent as data', ['data: ping\n\n', ...halves.map(event)]],
    ['is in the member data of an object', halves.map((data) => event({ data }))],
    [
      'comes without blank lines between the events',
      halves.map((data) => event(data).trimEnd()).map((line) => `${line}\n`),
    ],
    ['comes as one object in each line', halves.map((data) => `${JSON.stringify(data)}\n`)],
    ['comes as an array of chunks', ['[', `${JSON.stringify(halves[0])},\n`, JSON.stringify(halves[1])]],
    ['is a part instead of a list of parts', [event(textChunk({ type: 'output_text', text: JSON_TEXT }))]],
    ['is in the text of a completion', ['{"capital":', '"Paris"}'].map((text) => event({ choices: [{ text }] }))],
  ])('that %s is read', async (_, pieces) => {
    const end = pieces[0]?.startsWith('data') ? END : JSON.stringify(chunk({}, 'stop'));
    expect(replyOf(await partsFrom(...pieces, end))).toEqual({ ...whole, end: 'stop' });
  });

  test.each([
    [['Ha', 'Haha', 'Hahaha', '!']],
    [['=', '=', '==', '===', '====', ' end']],
    [[JSON_TEXT, JSON_TEXT]],
    [['Row, row ', 'Row, row ', 'Row, row your boat']],
    [['\n', '\n\n', 'text']],
    [['1', '10', '100']],
  ])('that repeats itself is not taken for one that grows: %j', async (pieces) => {
    const parts = await partsFrom(...pieces.map(textChunk).map(event), END);
    expect(textOf(parts)).toBe(pieces.join(''));
  });

  test('a text that grows is shown as it grows, once that is certain', async () => {
    const text = 'A sentence of a few words that ends here.';
    const prefixes = [5, 12, 20, 30, 36, text.length].map((end) => textChunk(text.slice(0, end)));
    const parts = await partsFrom(...prefixes.map(event), END);
    expect(textOf(parts)).toBe(text);
    expect(parts.length).toBeGreaterThan(4);
  });
});

describe('an error in a response with the status 200', () => {
  test.each([
    [event({ detail: 'Model not loaded' }), 'server_error', 'Model not loaded'],
    [event({ detail: 'Invalid API key' }), 'unauthorized', 'Invalid API key'],
    [event({ error: 'overloaded' }), 'server_error', 'overloaded'],
    [event({ message: 'slow down', code: 429 }), 'rate_limited', 'slow down'],
    [event({ errors: [{ message: 'too many', code: 'rate_limited' }] }), 'rate_limited', 'too many'],
    [
      event({ choices: [{ delta: {}, finish_reason: 'error', error: { message: 'gone', code: 502 } }] }),
      'server_error',
      'gone',
    ],
    ['event: error\ndata: the backend is gone\n\n', 'server_error', 'the backend is gone'],
    [JSON.stringify({ detail: [{ msg: 'bad', loc: ['model'] }] }), 'server_error', 'bad'],
    ['<html>\n<head><title>502 Bad Gateway</title></head></html>', 'garbled_reply', 'an HTML page: “502 Bad Gateway”'],
    ['upstream connect error', 'garbled_reply', 'the text “upstream connect error”'],
    ['data: Internal Server Error\n\n', 'garbled_reply', 'the text “Internal Server Error”'],
  ])('%j is reported as what it is', async (body, code, message) => {
    const last = (await partsFrom(body)).at(-1);
    expect(last).toMatchObject({ type: 'failure', failure: { code, message: expect.stringContaining(message) } });
  });

  test('in the middle of a reply fails the reply', async () => {
    const parts = await partsFrom(event(textChunk('{"cap')), event({ detail: 'out of memory' }), DONE);
    expect(parts.at(-1)).toMatchObject({ failure: { code: 'server_error' } });
  });
});
