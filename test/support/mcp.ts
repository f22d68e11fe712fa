import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { connectMcp } from '../../src/tools/mcp/connect-mcp.ts';
import type { McpConnection } from '../../src/tools/mcp/mcp-connection.ts';
import type { McpOptions, McpStdioOptions } from '../../src/tools/mcp/options.ts';
import { freePort } from './servers.ts';

const require = createRequire(import.meta.url);
const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** The reference server of the protocol's makers, over standard input and output. */
export function everythingServer(more: Partial<McpStdioOptions> = {}): McpStdioOptions {
  return { name: 'all', command: process.execPath, args: [EVERYTHING, 'stdio'], ...more };
}

/** Our own server, which misbehaves in this manner. */
export function misbehavingServer(manner: string, more: Partial<McpStdioOptions> = {}): McpStdioOptions {
  return { name: 'bad', command: process.execPath, args: ['test/support/mcp-server.mjs', manner], ...more };
}

/** A connection that the test's end closes. */
export async function connectUntilTestEnds(options: McpOptions): Promise<McpConnection> {
  const connection = await connectMcp(options);
  onTestFinished(connection.close);
  return connection;
}

/** Runs a capability of the connection as the engine does. */
export async function callTool(
  { name, capabilities }: McpConnection,
  tool: string,
  args: Readonly<Record<string, unknown>> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const capability = capabilities.find((one) => one.name === `${name}_${tool}`);
  if (capability === undefined) throw new Error(`no capability of ${tool}`);
  return String(await capability.execute(args, { signal } as Parameters<typeof capability.execute>[1]));
}

/** The same reference server over streamable HTTP, on a free loopback port. */
export async function everythingOverHttp(port?: number) {
  const free = port ?? (await freePort());
  const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(free) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  for await (const line of createInterface({ input: server.stderr as Readable })) if (line.includes('listening')) break;
  server.stderr?.resume();
  return { url: `http://127.0.0.1:${free}/mcp`, process: server };
}

/** What a client sent. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly protocolVersion?: string;
    readonly requestId?: number;
    readonly capabilities?: object;
  };
}

type Answer = (message: Message, response: ServerResponse, request: IncomingMessage) => void;

/** An HTTP server by hand, which answers requests as it is told, and `initialize` well unless it is told otherwise. */
export async function mcpHttpServer(answer: Answer): Promise<{ readonly url: string; readonly heard: Message[] }> {
  const heard: Message[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const message: Message = text === '' ? {} : JSON.parse(text);
    heard.push({ ...message, ...(message.method === undefined && { method: request.method ?? '' }) });
    answer(message, response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, heard };
}

/** Answers as a well-behaved server with one tool, `work`, does; leaves its calls to `work`. */
export function oneToolServer(work: Answer): Answer {
  return (message, response, request) => {
    const { id, method, params } = message;
    const result = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'by hand', version: '1' },
      },
      'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
    }[method ?? ''];
    if (method === 'tools/call') work(message, response, request);
    else if (result === undefined) response.writeHead(method === undefined ? 405 : 202).end();
    else sendMessage(response, { id, result }, { 'mcp-session-id': 'session' });
  };
}

export function sendMessage(
  response: ServerResponse,
  message: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** Whether there is no process of this id. */
export function hasExited(pid: string): boolean {
  try {
    return !process.kill(Number(pid), 0);
  } catch {
    return true;
  }
}
