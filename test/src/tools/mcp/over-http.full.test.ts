import { describe, expect, it } from 'vitest';
import { connectMcp } from '../../../../src/tools/mcp/connect-mcp.ts';
import {
  callTool,
  connectUntilTestEnds,
  everythingOverHttp,
  mcpHttpServer,
  oneToolServer,
  sendMessage,
} from '../../../support/mcp.ts';

const KEY = 'sk-1234567890abcdef';
const headers = { authorization: `Bearer ${KEY}` };
const works = { content: [{ type: 'text', text: 'worked' }] };

describe('a URL server that cannot be connected', () => {
  it.each([401, 404, 500])(
    'because it answers %i is rejected with a one-line error without secrets',
    async (status) => {
      const { url } = await mcpHttpServer((_, response) => {
        response.writeHead(status).end(`<h1>No\u001b[31m</h1>\n${KEY}`);
      });
      await expect(connectMcp({ name: 'web', url, headers })).rejects.toMatchObject({
        code: 'mcp_failed',
        message: `The MCP server "web" could not be connected: HTTP ${status}, <h1>No [31m</h1> [key]`,
      });
    },
  );

  it('because it does not exist is rejected with its address', async () => {
    await expect(connectMcp({ name: 'web', url: 'http://127.0.0.1:1/mcp' })).rejects.toThrow(
      'could not be connected: connect ECONNREFUSED 127.0.0.1:1',
    );
  });

  it.each([
    ['closes the connection', 'socket hang up'],
    ['is a web page', 'Unexpected content type: text/html'],
    ['answers with non-JSON', 'JSON'],
    ['never answers', 'no answer within 100 ms'],
    ['never ends its response', 'no answer within 100 ms'],
    ['redirects elsewhere', 'HTTP 307'],
  ])('because it %s is rejected', async (manner, message) => {
    const { url } = await mcpHttpServer((_, response) => {
      if (manner.startsWith('closes')) response.destroy();
      if (manner.startsWith('is a')) response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
      if (manner.startsWith('answers')) response.writeHead(200, { 'content-type': 'application/json' }).end('{"a');
      if (manner.includes('ends')) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
      if (manner.startsWith('redirects')) response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    });
    const connectTimeoutMs = message.startsWith('no answer') ? 100 : 10_000;
    await expect(connectMcp({ name: 'web', url, connectTimeoutMs })).rejects.toMatchObject({
      code: 'mcp_failed',
      message: expect.stringMatching(
        new RegExp(`^The MCP server "web" could not be connected: [^\\n]*${message}`, 'u'),
      ),
    });
  });
});

describe('a connected URL server', () => {
  it('receives the headers, no offers, no request for its own stream, and a notice at the end', async () => {
    const keys = new Set<string | undefined>();
    const { url, heard } = await mcpHttpServer(
      oneToolServer(({ id }, response, request) => {
        keys.add(request.headers.authorization);
        sendMessage(response, { id, result: works });
      }),
    );
    const connection = await connectMcp({ name: 'web', url, headers });
    expect(await callTool(connection, 'work')).toBe('worked');
    await connection.close();
    expect(heard.map(({ method }) => method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
      'DELETE',
    ]);
    expect(heard[0]?.params?.capabilities).toEqual({});
    expect([...keys]).toEqual([headers.authorization]);
  });

  it('is closed after a short wait if it does not respond to the notice', async () => {
    const behave = oneToolServer(() => {});
    const { url } = await mcpHttpServer((message, response, request) => {
      if (request.method !== 'DELETE') behave(message, response, request);
    });
    const connection = await connectMcp({ name: 'web', url });
    await connection.close();
    await expect(callTool(connection, 'work')).rejects.toThrow('it was closed');
  });

  it.each([
    ['closes the connection', 'socket hang up'],
    ['ends its stream without a response', 'the connection ended without a response'],
    ['breaks its stream', 'the connection ended without a response'],
    ['breaks a resumable stream', 'the connection ended without a response'],
    ['answers 500', 'HTTP 500, oh'],
    ['answers 100 MB', 'more than 10,000,000 bytes'],
    ['streams 100 MB', 'the connection ended without a response'],
  ])('that %s during a call fails the call; the next one succeeds', async (manner, message) => {
    let calls = 0;
    const { url } = await mcpHttpServer(
      oneToolServer(({ id }, response) => {
        calls += 1;
        if (calls > 1) return sendMessage(response, { id, result: works });
        if (manner.startsWith('closes')) response.destroy();
        if (manner.startsWith('answers 5')) response.writeHead(500).end('oh');
        const type = manner.includes('stream') ? 'text/event-stream' : 'application/json';
        if (!response.headersSent) response.writeHead(200, { 'content-type': type });
        if (manner.includes('resumable')) response.write('id: 1\nretry: 10\ndata:\n\n');
        if (manner.startsWith('ends')) response.end(':\n\n');
        if (manner.startsWith('breaks')) response.write(':\n\n', () => response.destroy());
        if (!manner.includes('MB')) return;
        response.write(`${manner.startsWith('streams') ? 'data: ' : ''}{"jsonrpc":"2.0","id":${id},`);
        response.write('"result":{"content":[{"type":"text","text":"');
        for (let megabytes = 0; megabytes < 100; megabytes += 1) response.write('h'.repeat(1_000_000));
        response.end('"}]}}\n\n');
      }),
    );
    const connection = await connectUntilTestEnds({ name: 'web', url });
    await expect(callTool(connection, 'work')).rejects.toThrow(message);
    expect(await callTool(connection, 'work')).toBe('worked');
  });

  it.each([true, false])(
    'is notified when a call is aborted, and its stream is closed (started: %s)',
    async (begun) => {
      const closed: Promise<void>[] = [];
      const abort = new AbortController();
      const { url, heard } = await mcpHttpServer(
        oneToolServer((_, response) => {
          closed.push(new Promise((resolve) => response.once('close', resolve)));
          if (begun) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
          setImmediate(() => abort.abort());
        }),
      );
      const connection = await connectUntilTestEnds({ name: 'web', url });
      await expect(callTool(connection, 'work', {}, abort.signal)).rejects.toThrow('failed at "work"');
      await Promise.all(closed);
      const call = heard.find(({ method }) => method === 'tools/call');
      const cancelled = heard.find(({ method }) => method === 'notifications/cancelled');
      expect(cancelled?.params?.requestId).toBe(call?.id);
    },
  );

  it('that leaves a response stream open has it closed by the next call', async () => {
    const closed: Promise<void>[] = [];
    const { url } = await mcpHttpServer(
      oneToolServer(({ id }, response) => {
        closed.push(new Promise((resolve) => response.once('close', resolve)));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: works })}\n\n`);
      }),
    );
    const connection = await connectUntilTestEnds({ name: 'web', url });
    expect(await callTool(connection, 'work')).toBe('worked');
    expect(await callTool(connection, 'work')).toBe('worked');
    await closed[0];
  });

  it('fails a call if it forgets the new session too', async () => {
    const { url, heard } = await mcpHttpServer(
      oneToolServer((_, response) => void response.writeHead(404).end('gone')),
    );
    const connection = await connectUntilTestEnds({ name: 'web', url });
    await expect(callTool(connection, 'work')).rejects.toThrow('failed at "work": HTTP 404, gone');
    expect(heard.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
  });

  it('can be used again after a restart', async () => {
    const server = await everythingOverHttp();
    const connection = await connectUntilTestEnds({ name: 'all', url: server.url, include: ['echo'] });
    server.process.kill('SIGKILL');
    await expect(callTool(connection, 'echo', { message: 'one' })).rejects.toThrow(/ECONN|hang up/u);
    await everythingOverHttp(Number(new URL(server.url).port));
    expect(await callTool(connection, 'echo', { message: 'two' })).toBe('Echo: two');
  });
});
