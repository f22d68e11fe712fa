import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../support/cli.ts';
import {
  callTool,
  connectUntilTestEnds,
  mcpHttpServer,
  misbehavingServer,
  oneToolServer,
  sendMessage,
} from '../../../support/mcp.ts';

const works = { content: [{ type: 'text', text: 'worked' }] };

interface Refusal {
  readonly status?: number;
  /** As an event stream. */
  readonly isStream?: boolean;
  readonly body: string | ((id: unknown) => object);
}

/** A server that can be restarted: afterwards it refuses everything but `initialize` in sessions that began before. */
async function restartable({ status = 200, isStream, body }: Refusal, sessions = true) {
  let generation = 1;
  const ran: number[] = [];
  const work = oneToolServer(({ id }, response) => {
    ran.push(generation);
    sendMessage(response, { id, result: works });
  });
  let initialized = 0;
  const { url, heard } = await mcpHttpServer((message, response, request) => {
    if (message.method === 'initialize') initialized = generation;
    const isKnown = sessions
      ? request.headers['mcp-session-id'] === `session ${generation}`
      : initialized === generation;
    if (isKnown || message.method === 'initialize') {
      if (sessions) response.setHeader('mcp-session-id', `session ${generation}`);
      work(message, Object.assign(response, { writeHead: withoutSession(response) }), request);
      return;
    }
    const type = isStream ? 'text/event-stream' : typeof body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type });
    const text = typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', ...body(message.id) });
    response.end(isStream ? `retry: 5\nid: 1\nevent: message\ndata: ${text}\n\n` : text);
  });
  const connection = await connectUntilTestEnds({ name: 'h', url });
  return {
    connection,
    ran,
    restart: () => {
      generation += 1;
    },
    count: (wanted: string) => heard.filter(({ method }) => method === wanted).length,
  };
}

/** `oneToolServer` names its session itself. */
function withoutSession(response: { writeHead: (...args: never[]) => unknown }) {
  const { writeHead } = response;
  return (status: number, { 'mcp-session-id': _, ...headers }: Record<string, string> = {}) =>
    writeHead.call(response, status as never, headers as never);
}

const error = (code: number, message: string, id?: null) => (own: unknown) => ({
  id: id === undefined ? own : id,
  error: { code, message },
});

const ANSWERS: readonly Refusal[] = [
  { status: 404, body: '' },
  { status: 410, body: '' },
  { status: 400, body: error(-32_000, 'Bad Request: Server not initialized', null) },
  { status: 400, body: error(-32_000, 'Bad Request: No valid session ID provided', null) },
  { status: 400, body: error(-32_600, 'Received request before initialization was complete') },
  { status: 400, body: 'Bad Request' },
  { status: 400, body: '' },
  { status: 400, body: error(-32_602, 'Kein Transport für diese Kennung', null) },
  { status: 422, body: '{"detail":"unknown connection"}' },
  { status: 401, body: 'Unknown session' },
  { status: 500, body: error(-32_603, 'No valid session ID provided') },
  { status: 503, body: 'Session expired or the server restarted' },
  { body: error(-32_001, 'Session not found') },
  { body: error(-32_600, "Unknown session id 'f00' for 'tools/call'; client should reinitialize") },
  { body: error(-32_000, 'Server not initialized', null) },
  { isStream: true, body: error(-32_001, 'Session not found') },
  { isStream: true, body: error(-32_000, 'Sitzung unbekannt', null) },
  { body: error(-32_602, 'Invalid request parameters') },
  { body: error(-32_603, 'internal error') },
];

describe('a server that was restarted', () => {
  it.each(
    ANSWERS.map(
      (refusal) =>
        [
          `${refusal.status ?? 200} ${JSON.stringify(bodyOf(refusal))}${refusal.isStream ? ' as a stream' : ''}`,
          refusal,
        ] as const,
    ),
  )('and answers %s gets a new session and the call again, also from parallel calls', async (_, refusal) => {
    const { connection, ran, restart, count } = await restartable(refusal);
    expect(await callTool(connection, 'work')).toBe('worked');
    restart();
    expect(await Promise.all([1, 2, 3].map(() => callTool(connection, 'work')))).toEqual(Array(3).fill('worked'));
    expect(ran).toEqual([1, 2, 2, 2]);
    expect(count('initialize')).toBe(2);
    restart();
    expect(await callTool(connection, 'work')).toBe('worked');
    expect(count('initialize')).toBe(3);
  });

  it.each([
    { status: 400, body: 'Bad Request: Server not initialized' },
    { body: error(-32_002, 'Server not initialized') },
  ] as readonly Refusal[])('gets a new connection, even if it has no sessions (%j)', async (refusal) => {
    const { connection, ran, restart } = await restartable(refusal, false);
    restart();
    expect(await callTool(connection, 'work')).toBe('worked');
    expect(ran).toEqual([2]);
  });
});

describe('a process that started its server again', () => {
  it.each(['Invalid request parameters', 'Server not initialized'])(
    'and answers %j is started again itself, and gets the calls again',
    async (SAID) => {
      const ONCE = join(temporaryFolder(), 'once');
      const connection = await connectUntilTestEnds(misbehavingServer('forgetful', { env: { ONCE, SAID } }));
      const pids = await Promise.all([1, 2, 3].map(() => callTool(connection, 'pid')));
      expect(new Set(pids).size).toBe(1);
      expect(await callTool(connection, 'pid')).toBe(pids[0]);
    },
  );
});

describe('a server that lists other tools after its restart', () => {
  const listed = (name: string, readOnlyHint: boolean) => ({
    name,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint },
  });

  it.each([
    ['more', [listed('work', true), listed('more', true)], 'worked'],
    ['only others', [listed('more', true)], 'it no longer has this tool'],
    ['one that is no longer read-only', [listed('work', false)], 'no longer marks this tool as read-only'],
  ])('(%s) gets a call only if the tool is still the same', async (_, tools, expected) => {
    let isRestarted = false;
    let ran = 0;
    const work = oneToolServer(({ id }, response) => {
      ran += 1;
      sendMessage(response, { id, result: works });
    });
    const { url } = await mcpHttpServer((message, response, request) => {
      const { id, method } = message;
      if (isRestarted && request.headers['mcp-session-id'] === 'session') response.writeHead(404).end();
      else if (method === 'tools/list')
        sendMessage(response, { id, result: { tools: isRestarted ? tools : [listed('work', true)] } });
      else if (isRestarted && method === 'initialize') {
        response.setHeader('mcp-session-id', 'second');
        work(message, Object.assign(response, { writeHead: withoutSession(response) }), request);
      } else work(message, response, request);
    });
    const connection = await connectUntilTestEnds({ name: 'h', url });
    isRestarted = true;
    const called = await callTool(connection, 'work').catch(({ message }) => message);
    expect(called).toContain(expected);
    expect(ran).toBe(expected === 'worked' ? 1 : 0);
  });
});

describe('a call that fails for another reason', () => {
  it('is not repeated if the tools cannot be listed for another reason', async () => {
    let isBroken = false;
    let ran = 0;
    const work = oneToolServer(({ id }, response) => {
      ran += 1;
      isBroken = true;
      sendMessage(response, { id, error: { code: -32_603, message: 'failed after the transfer' } });
    });
    const { url } = await mcpHttpServer((message, response, request) => {
      const { id, method } = message;
      if (isBroken && method === 'tools/list') sendMessage(response, { id, error: { code: -32_004, message: 'busy' } });
      else work(message, response, request);
    });
    const connection = await connectUntilTestEnds({ name: 'h', url });
    await expect(callTool(connection, 'work')).rejects.toThrow('failed after the transfer');
    expect(ran).toBe(1);
  });

  it.each([202, 204])('fails at once if no response will come (%i), and is not repeated', async (status) => {
    let ran = 0;
    const { url } = await mcpHttpServer(
      oneToolServer((_, response) => {
        ran += 1;
        response.writeHead(status).end();
      }),
    );
    const connection = await connectUntilTestEnds({ name: 'h', url });
    await expect(callTool(connection, 'work')).rejects.toThrow();
    expect(ran).toBe(1);
  });

  it.each([
    [400, 'the account is overdrawn'],
    [403, 'forbidden'],
    [422, 'bad arguments'],
    [500, 'oh'],
    [503, 'the database session pool is exhausted'],
    [200, 'No active session: call start_session first'],
    [200, 'the database is not initialized'],
    [200, 'arguments do not fit'],
  ])('(%i %s) is not repeated, and the session is kept', async (status, message) => {
    let ran = 0;
    const { url, heard } = await mcpHttpServer(
      oneToolServer(({ id }, response) => {
        ran += 1;
        if (status === 200) sendMessage(response, { id, error: { code: -32_603, message } });
        else response.writeHead(status).end(message);
      }),
    );
    const connection = await connectUntilTestEnds({ name: 'h', url });
    await expect(callTool(connection, 'work')).rejects.toThrow(message);
    expect(ran).toBe(1);
    expect(heard.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });
});

const bodyOf = ({ body }: Refusal): unknown => (typeof body === 'string' ? body : body(5));
