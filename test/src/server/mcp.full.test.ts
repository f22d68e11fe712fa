import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, refunds, startServer } from '../../support/chain-server.ts';
import { type ClientOptions, connectClient } from '../../support/mcp-client.ts';

const ask = (session?: string) => ({
  name: 'ask',
  arguments: { question: 'Is it so?', ...(session !== undefined && { session }) },
});

function clientAt(url: string, { token = ALICE, ...options }: ClientOptions & { readonly token?: string } = {}) {
  const headers = { authorization: `Bearer ${token}` };
  return connectClient(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }), options);
}

describe('the chain as a tool of an MCP server', () => {
  it.each(['legacy', 'auto'] as const)('answers a client of either protocol era (%s), with progress', async (mode) => {
    const { url, get } = await startServer();
    const client = await clientAt(url, { mode });
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([{ name: 'ask', inputSchema: { required: ['question'] } }]);
    const progress: (string | undefined)[] = [];
    const result = await client.callTool(ask('talk'), { onprogress: ({ message }) => void progress.push(message) });
    const { runs } = (await (await get('/runs')).json()) as { runs: { runId: string }[] };
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'It is so.' }],
      structuredContent: { runId: runs[0]?.runId, answer: 'It is so.', status: 'completed', confidence: 0.95 },
    });
    expect(progress).toContain('Answering');
  });

  it('asks the user of the client, and runs the approved call once', async () => {
    const { refunded, chain } = refunds('A', 'B');
    const { url } = await startServer({ chain });
    const asked: string[] = [];
    const client = await clientAt(url, {
      answer(message) {
        asked.push(message);
        return message.includes('"A"') ? { action: 'accept', content: { approved: true } } : { action: 'decline' };
      },
    });
    const result = await client.callTool(ask());
    expect(asked.toSorted()).toEqual(['A', 'B'].map((order) => `Run the tool refund with {"order":"${order}"}?`));
    expect(result).toMatchObject({ structuredContent: { status: 'degraded' } });
    expect(refunded).toEqual(['A']);
  });

  it('describes the questions to a client without elicitation, and answers it after an event', async () => {
    const { refunded, chain } = refunds('A', 'B');
    const { url, get, post } = await startServer({ chain });
    const result = await (await clientAt(url)).callTool(ask());
    expect(result.isError).toBe(true);
    const { runs } = (await (await get('/runs')).json()) as { runs: { runId: string }[] };
    const { questions } = (await (await get(`/runs/${runs[0]?.runId}`)).json()) as {
      questions: { questionId: string; digest: string }[];
    };
    for (const { questionId, digest } of questions) {
      expect(JSON.stringify(result.content)).toContain(questionId);
      const event = { type: 'approval.given', questionId, digest, decision: 'approve' };
      expect((await post(`/runs/${runs[0]?.runId}/events`, event)).status).toBe(204);
    }
    await expect.poll(() => refunded).toEqual(['A', 'B']);
  });

  it('does not answer questions of another owner, whatever state a client sends', async () => {
    const { refunded, chain } = refunds('A', 'B');
    const { url, get, post } = await startServer({ chain });
    await (await clientAt(url)).callTool(ask());
    const { runs } = (await (await get('/runs')).json()) as { runs: { runId: string }[] };
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        ...ask(),
        requestState: runs[0]?.runId,
        inputResponses: { 's1.action.approval1': { action: 'accept', content: { approved: true } } },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    };
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'ask',
    };
    const refused = await (await post('/mcp', body, { token: BOB, headers })).text();
    expect(refused).toContain('You have no run with this id');
    expect(refunded).toEqual([]);
    // An invalid answer of the owner leaves the run as it is.
    const answer = async (content: object, call = ask()) => {
      const inputResponses = Object.fromEntries(
        [1, 2].map((number) => [`s1.action.approval${number}`, { action: 'accept', content }]),
      );
      return (await post('/mcp', { ...body, params: { ...body.params, ...call, inputResponses } }, { headers })).text();
    };
    expect(await answer({ approved: 'x' })).toContain(`(run ${runs[0]?.runId})`);
    expect(await answer({ approved: true }, ask('other'))).toContain('You have no run with this id');
    expect(refunded).toEqual([]);
    expect(await answer({ approved: true })).toContain('It is so.');
    expect(refunded).toEqual(['A', 'B']);
  });

  it('cancels the run when the client cancels the call', async () => {
    const model = scriptedModel({ yield: [{ hang: true }] }, { otherwise: replies });
    const { url, get } = await startServer({ chain: { model } });
    const client = await clientAt(url);
    const cancelling = new AbortController();
    const call = client.callTool(ask(), { signal: cancelling.signal, onprogress: () => cancelling.abort() });
    await expect(call).rejects.toThrow();
    const listed = async () => (await get('/runs')).text();
    await expect.poll(listed, { interval: 250 }).toContain('"status":"cancelled"');
  });

  it('cancels the run of a call whose connection is lost while it starts', async () => {
    const model = scriptedModel({ action: Array.from({ length: 6 }, () => ({ hang: true })) }, { otherwise: replies });
    const { url, post, get, health } = await startServer({ chain: { model, profile: 'thorough' } });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask() };
    const accept = 'application/json, text/event-stream';
    await post('/mcp', { ...call, method: 'tools/list' }, { headers: { accept } });
    for (const turns of [1, 2, 4, 8, 16, 32]) {
      const leaving = new AbortController();
      const headers = { accept, authorization: `Bearer ${ALICE}`, 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(call), signal: leaving.signal };
      const sent = fetch(`${url}/mcp`, init).then((response) => response.text());
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      leaving.abort();
      await expect(sent).rejects.toThrow();
    }
    await expect.poll(async () => (await get('/runs')).text()).toContain('"status":"cancelled"');
    await expect.poll(health).toMatchObject({ runs: 0, streams: 0 });
  });

  it('hides server errors from the client, and logs them', async () => {
    const logged: unknown[] = [];
    const { url, chain } = await startServer({ onLog: ({ error }) => error !== undefined && logged.push(error) });
    chain.run = () => {
      throw new Error('the secret is in /etc');
    };
    const result = await (await clientAt(url)).callTool(ask());
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'Internal server error. See the server log.' }],
    });
    expect(logged).toMatchObject([{ message: 'the secret is in /etc' }]);
  });
});
