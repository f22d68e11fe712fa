import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileJournals } from '../../../src/chain/journal/node-stores.ts';
import { startServer } from '../../support/chain-server.ts';
import { temporaryFolder } from '../../support/cli.ts';

const served = () => startServer({ chain: { journals: fileJournals(temporaryFolder()) }, exposeJournal: true });

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
  ['GET', (id) => `/api/chat/${id}/stream`],
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

it('every route answers a request with any id, without an internal error', async () => {
  const { direct, start } = await served();
  await start();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ROUTES), anyPart, async ([method, route], id) => {
      const init =
        method === 'POST'
          ? { method, body: '{"type":"run.cancelled"}', headers: { 'content-type': 'application/json' } }
          : {};
      const response = await direct.get(route(id), init);
      expect(response.status).toBeLessThan(500);
      await response.body?.cancel();
    }),
  );
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
