import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { anyId } from '../../support/any-id.ts';
import { refunds, startServer } from '../../support/chain-server.ts';
import { temporaryFolder } from '../../support/cli.ts';

const served = (chain = {}) => {
  let runs = 0;
  const newId = () => `run-${++runs}`;
  return startServer({ chain: { ...chain, journals: fileJournals(temporaryFolder()), newId }, exposeJournal: true });
};

it.each([
  ['POST', '/runs'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/api/chat'],
  ['POST', '/ag-ui'],
  ['POST', '/runs/x/events'],
  ['POST', '/mcp'],
])('%s %s refuses a body with too many values, at any depth', async (_, path) => {
  const { direct } = await served();
  const wide = Object.fromEntries(Array.from({ length: 75_000 }, (_member, at) => [`k${at}`, 1]));
  const nested = Array.from({ length: 150 }, () => Array.from({ length: 150 }, () => 1));
  for (const body of [wide, { tools: [{ type: 'function', name: 'a', parameters: wide }] }, { messages: [nested] }]) {
    const response = await direct.post(path, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/body: expected at most 20000 items and members in all/u);
  }
});

const ROUTES: readonly [method: string, route: (id: string) => string][] = [
  ['GET', (id) => `/runs/${id}`],
  ['GET', (id) => `/runs/${id}/events`],
  ['GET', (id) => `/runs/${id}/journal`],
  ['POST', (id) => `/runs/${id}/events`],
  ['GET', (id) => `/runs?before=${id}`],
  ['GET', (id) => `/runs?limit=${id}`],
  ['GET', (id) => `/runs/run-1/events?after=${id}`],
  ['GET', (id) => `/api/chat/${id}/stream`],
  ['GET', (id) => `/api/chat/run-1/stream?startIndex=${id}`],
  ['GET', (id) => `/v1/models/${id}`],
  ['GET', (id) => `/v1/responses/${id}`],
  ['GET', (id) => `/v1/responses/${id}?stream=true&starting_after=${id}`],
  ['GET', (id) => `/v1/responses/${id}/input_items`],
  ['GET', (id) => `/v1/responses/run-1/input_items?after=${id}&limit=${id}&order=${id}`],
  ['DELETE', (id) => `/v1/responses/${id}`],
  ['POST', (id) => `/v1/responses/${id}/cancel`],
  ['GET', (id) => `/${id}`],
];

const anyPart = fc.oneof(
  fc
    .string({ unit: 'binary', maxLength: 40 })
    .filter((text) => !/\p{Cs}/u.test(text))
    .map(encodeURIComponent),
  fc
    .tuple(fc.constantFrom('x', '%E8%AE%A2', '%00', '%', '%2e%2e%2f'), fc.integer({ min: 1, max: 1_000 }))
    .map(([unit, count]) => unit.repeat(count)),
  fc.constantFrom('..%2f..%2fetc', '%ED%A0%80', '%FF', 'CON', '%0A', '-'),
);

it.each(ROUTES)('%s %s answers a request with any id, without an internal error', async (method, route) => {
  const { direct, start } = await served();
  await start();
  await fc.assert(
    fc.asyncProperty(anyPart, async (id) => {
      const init =
        method === 'POST'
          ? { method, body: '{"type":"run.cancelled"}', headers: { 'content-type': 'application/json' } }
          : { method };
      const response = await direct.get(route(id), init);
      expect(response.status).toBeLessThan(500);
      await response.body?.cancel();
    }),
  );
});

const user = { role: 'user', content: 'a' };
const asked = (id: string) => [
  user,
  { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
];

/** Request bodies with a member that takes an id, by route. */
const BODIES: readonly (readonly [path: string, body: (id: string) => object])[] = [
  ['/runs', (session) => ({ request: 'a', session })],
  ['/runs/run-1/events', (questionId) => ({ type: 'consent.given', questionId, choice: 'keep' })],
  ['/runs/run-1/events', (id) => ({ type: 'approval.given', questionId: id, digest: id, decision: 'approve' })],
  ['/v1/responses', (id) => ({ model: 'postchain', input: 'a', previous_response_id: id })],
  ['/v1/responses', (id) => ({ input: [user, { type: 'function_call_output', call_id: id, output: 'b' }] })],
  ['/v1/responses', (model) => ({ model, input: 'a' })],
  ['/v1/chat/completions', (id) => ({ messages: [...asked(id), { role: 'tool', tool_call_id: id, content: 'a' }] })],
  ['/api/chat', (id) => ({ id, messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'a' }] }] })],
  ['/ag-ui', (id) => ({ threadId: id, runId: id, messages: [{ id, role: 'user', content: 'a' }] })],
  [
    '/ag-ui',
    (id) => ({ threadId: id, runId: 'a', messages: [{ id: 'a', role: 'tool', toolCallId: id, content: 'a' }] }),
  ],
  ['/ag-ui', (id) => ({ threadId: 'a', runId: 'a', messages: [], resume: [{ interruptId: id, status: 'cancelled' }] })],
  ['/mcp', (id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: id, arguments: { question: id } } })],
];

it('every route of the server that takes an id is in these lists', () => {
  const sources = readdirSync('src/server', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const routes = sources.flatMap((name) => [
    ...readFileSync(join('src/server', name), 'utf8').matchAll(/\bapp\.(get|post|delete|all)\('([^']+)'/gu),
  ]);
  const paths = [
    ...ROUTES.map(([method, route]) => `${method} ${route(':id')}`),
    ...BODIES.map(([path]) => `POST ${path}`),
  ];
  const covered = paths.map((path) => path.replace(/\?.*|run-1/gu, (found) => (found === 'run-1' ? ':id' : '')));
  const missing = routes
    .map(([, method = '', path = '']) => `${method === 'all' ? 'POST' : method.toUpperCase()} ${path}`)
    .filter((route) => !covered.includes(route));
  expect(routes.length).toBeGreaterThan(15);
  expect(missing.sort()).toEqual(['GET /healthz', 'GET /openapi.json', 'GET /v1/models']);
});

it.each(BODIES)('POST %s answers a body and headers with any id, without an internal error', async (path, bodyWith) => {
  // A run that waits for an approval.
  const { direct, start, health } = await served(path.endsWith('/events') ? refunds('17').chain : {});
  await start();
  await fc.assert(
    fc.asyncProperty(anyId, async (id) => {
      const body = JSON.stringify(bodyWith(id as string), (_, value) =>
        ['bigint', 'symbol', 'function'].includes(typeof value) ? null : value,
      );
      const key = encodeURIComponent(typeof id === 'string' ? id.replace(/\p{Cs}/gu, '') : 'x').slice(0, 255);
      const accept = 'application/json, text/event-stream';
      const headers = { accept, ...(key !== '' && { 'idempotency-key': key }) };
      const response = await direct.post(path, body, { headers });
      expect(response.status).toBeLessThan(500);
      await response.body?.cancel();
    }),
  );
  expect(await health()).toMatchObject({ status: 'ok' });
});

it.each(['x'.repeat(300), 'x'.repeat(10_000), '%E8%AE%A2%E5%8D%95'.repeat(14), '%00'])(
  'a run with the id %s is unknown, and the server continues to answer',
  async (id) => {
    const { get, start, health } = await served();
    await start();
    expect((await get(`/runs/${id}`)).status).toBe(404);
    expect(await health()).toMatchObject({ status: 'ok' });
  },
);
