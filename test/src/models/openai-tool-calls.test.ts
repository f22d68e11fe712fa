import { describe, expect, test } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, DONE, event, streaming, toolChunk } from '../../support/chat-server.ts';
import { modelRequest, partsOf, replyOf, TOOL } from '../../support/model-streams.ts';

const request = modelRequest({ replyForm: 'tool-call', schemaName: TOOL });
const END = event(chunk({}, 'tool_calls')) + DONE;

/** Serves these chunks and the end of a reply and returns the resulting parts. */
async function partsFrom(...chunks: readonly object[]) {
  const server = await chatServer(({ response }) => {
    streaming(response);
    for (const data of chunks) response.write(event(data));
    response.end(END);
  });
  return partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }), request);
}
const callsFrom = async (...chunks: readonly object[]) => replyOf(await partsFrom(...chunks)).calls;

/** One entry of `tool_calls`; `undefined` is omitted on the wire. */
const entry = (index: number | undefined, id: string | null | undefined, name: string | undefined, args: unknown) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
});
const call = (name: string, args: string) => ({ name, arguments: args });

describe('the tool calls of the openai model', () => {
  test.each([
    ['repeated', 'find'],
    ['repeated empty', ''],
  ])('[A12] accept a %s name, an empty, missing, or null id, and null arguments', async (_, again) => {
    const calls = await callsFrom(
      toolChunk(entry(0, 'a', 'find', null)),
      toolChunk(entry(0, '', again, '{"q"')),
      toolChunk(entry(0, null, again, ':1')),
      toolChunk(entry(0, undefined, again, '}')),
      toolChunk(entry(0, '', again, '')),
    );
    expect(calls).toEqual([call('find', '{"q":1}')]);
  });

  test('[A12] calls may be interleaved and start at any index', async () => {
    const calls = await callsFrom(
      toolChunk(entry(3, 'a', 'one', '{'), entry(7, 'b', 'two', '')),
      toolChunk(entry(7, undefined, undefined, '[1')),
      toolChunk(entry(3, undefined, undefined, '"x":'), entry(7, undefined, undefined, ']')),
      toolChunk(entry(3, undefined, undefined, '2}')),
    );
    expect(calls).toEqual([call('one', '{"x":2}'), call('two', '[1]')]);
  });

  test('[A12] a new id at the same index is a new call, with another name or the same (vLLM, SGLang, Gemini)', async () => {
    expect(
      await callsFrom(
        toolChunk(entry(0, 'a', 'one', ''), entry(0, '', undefined, '{"x":1}')),
        toolChunk(entry(0, 'b', 'one', '')),
        toolChunk(entry(0, '', undefined, '{"x":2}')),
        toolChunk(entry(0, 'c', 'two', '{}'), entry(0, 'd', 'two', '{}')),
      ),
    ).toEqual([call('one', '{"x":1}'), call('one', '{"x":2}'), call('two', '{}'), call('two', '{}')]);
    expect(await callsFrom(toolChunk(entry(0, 'a', 'one', ''), entry(0, 'b', 'one', '{}')))).toEqual([
      call('one', ''),
      call('one', '{}'),
    ]);
  });

  test('[A12] with a new id in every delta are one call while the arguments are open (older vLLM)', async () => {
    const pieces = ['{"a', '":{"b":"}', ' \\" ]"', '}', '}', ''];
    expect(await callsFrom(...pieces.map((piece, at) => toolChunk(entry(0, `id-${at}`, 'find', piece))))).toEqual([
      call('find', pieces.join('')),
    ]);
  });

  test('[A12] interleaved calls with the same index are separated by id', async () => {
    const calls = await callsFrom(
      toolChunk(entry(0, 'a', 'one', '{"x"'), entry(0, 'b', 'two', '{"y"')),
      toolChunk(entry(0, 'a', undefined, ':1}'), entry(0, 'b', undefined, ':2}')),
    );
    expect(calls).toEqual([call('one', '{"x":1}'), call('two', '{"y":2}')]);
  });

  test('[A12] the same id at two indices is two calls', async () => {
    const calls = await callsFrom(toolChunk(entry(0, 'find', 'find', '{"x":1}'), entry(1, 'find', 'find', '{"x":2}')));
    expect(calls).toEqual([call('find', '{"x":1}'), call('find', '{"x":2}')]);
  });

  test('[A12] without an index the id decides; without both, the last call continues (Mistral)', async () => {
    expect(
      await callsFrom(
        toolChunk(entry(undefined, 'a', 'one', '{"x":1}'), entry(undefined, 'b', 'one', '{"x"')),
        toolChunk(entry(undefined, undefined, undefined, ':2}')),
      ),
    ).toEqual([call('one', '{"x":1}'), call('one', '{"x":2}')]);
    expect(
      await callsFrom(
        toolChunk(entry(undefined, undefined, 'one', '{"x":1}'), entry(undefined, undefined, 'one', '{"x":2}')),
        toolChunk(entry(undefined, undefined, 'two', '{}')),
      ),
    ).toEqual([call('one', '{"x":1}'), call('one', '{"x":2}'), call('two', '{}')]);
  });

  test('[A12] parsed arguments are converted to JSON text', async () => {
    expect(await callsFrom(toolChunk(entry(0, 'a', 'find', { q: ['ö', 1] })))).toEqual([call('find', '{"q":["ö",1]}')]);
  });

  test('[A12] a late name delays its deltas; a missing name is empty', async () => {
    expect(
      await callsFrom(
        toolChunk(entry(0, 'a', undefined, '{"x"')),
        toolChunk(entry(0, 'a', 'late', ':1')),
        toolChunk(entry(0, 'a', undefined, '}')),
      ),
    ).toEqual([call('late', '{"x":1}')]);
    expect(await callsFrom(toolChunk(entry(0, 'a', undefined, '{}')))).toEqual([call('', '{}')]);
  });

  test('invalid entries are ignored', async () => {
    const odd = [null, 'x', {}, { index: 'one', id: 7, function: null }].map((one) => chunk({ tool_calls: [one] }));
    expect(await callsFrom(...odd, toolChunk(entry(0, null, '', '')))).toEqual([]);
    const calls = await callsFrom(
      toolChunk(entry(0, 'a', 'find', '{')),
      chunk({ tool_calls: null }),
      chunk({ tool_calls: 'none' }),
      ...odd,
      toolChunk(entry(0, 'a', undefined, '}')),
    );
    expect(calls).toEqual([call('find', '{}')]);
  });

  test('[A12] text, reasoning and a call may be in one reply', async () => {
    const parts = await partsFrom(
      chunk({ reasoning_content: 'Hm. ' }),
      chunk({ content: 'Let me see.', reasoning: 'So.', tool_calls: [entry(0, 'a', 'find', '{}')] }),
    );
    expect(replyOf(parts)).toEqual({
      text: 'Let me see.',
      reasoning: 'Hm. So.',
      calls: [call('find', '{}')],
      end: 'tool-calls',
    });
  });

  test('[A12] a reply that is not streamed has its calls in the message', async () => {
    const message = {
      content: null,
      tool_calls: [entry(undefined, 'a', 'one', '{"x":1}'), entry(undefined, 'b', 'two', { y: 2 })],
    };
    const reply = {
      choices: [{ message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    };
    const server = await chatServer(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`\n\n${JSON.stringify(reply)}`);
    });
    const parts = await partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }), request);
    expect(replyOf(parts).calls).toEqual([call('one', '{"x":1}'), call('two', '{"y":2}')]);
    expect(parts.at(-1)).toMatchObject({ reason: 'tool-calls', usage: { inputTokens: 7 } });
  });

  test('[A12] use the schema name for the reply tool, whatever its name on the wire', async () => {
    const server = await chatServer(({ response, body }) => {
      const name = body.tools?.[0]?.function.name;
      streaming(response).end(event(toolChunk(entry(0, 'a', name, '{}'))) + END);
    });
    const odd = modelRequest({ replyForm: 'tool-call', schemaName: 'my reply: ä' });
    const parts = await partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }), odd);
    expect(server.exchanges[0]?.body.tools?.[0]?.function.name).toBe('my_reply___');
    expect(replyOf(parts).calls).toEqual([call('my reply: ä', '{}')]);
  });

  test.each([
    ['a name in pieces', [entry(0, 'a', 'plan', ''), entry(0, undefined, '_re', ''), entry(0, '', 'ply', '{"q":1}')]],
    ['a name that grows', [entry(0, 'a', 'plan', ''), entry(0, 'a', 'plan_reply', ''), entry(0, 'a', '', '{"q":1}')]],
    ['the whole call again', [entry(0, 'a', TOOL, '{"q":1}'), entry(0, 'a', TOOL, '{"q":1}')]],
    ['the whole call again, without an id', [entry(0, '', TOOL, '{"q":1}'), entry(0, '', '', '{"q":1}')]],
    ['arguments that grow', [entry(0, 'a', TOOL, '{"q'), entry(0, 'a', TOOL, '{"q":'), entry(0, 'a', TOOL, '{"q":1}')]],
    ['arguments as an object', [entry(0, 'a', TOOL, { q: 1 })]],
  ])('[A12] %s is one call', async (_, entries) => {
    expect(await callsFrom(...entries.map((one) => toolChunk(one)))).toEqual([call(TOOL, '{"q":1}')]);
  });

  test('[A12] calls of two tools whose names begin alike stay apart, and keep their order', async () => {
    const offered = { description: '', parameters: { type: 'object' } };
    const tools = ['time', 'time_zone'].map((name) => ({ name, ...offered }));
    const server = await chatServer(({ response }) => {
      streaming(response).write(event(toolChunk(entry(0, 'a', 'time', ''), entry(1, 'b', 'time_zone', '{}'))));
      response.end(event(toolChunk(entry(2, 'c', 'time', ''), entry(2, 'c', '_zone', ''))) + END);
    });
    const offering = modelRequest({ tools });
    const parts = await partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }), offering);
    expect(replyOf(parts).calls).toEqual([call('time', ''), call('time_zone', '{}'), call('time_zone', '')]);
  });

  test('[A10] [A12] a cut call is a transport failure after the deltas so far', async () => {
    const server = await chatServer(({ response }) => {
      streaming(response).write(event(toolChunk(entry(0, 'a', 'find', '{"q"'))), () => response.destroy());
    });
    const parts = await partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }), request);
    expect(replyOf(parts)).toMatchObject({ calls: [call('find', '{"q"')], end: 'stream_cut' });
  });
});
