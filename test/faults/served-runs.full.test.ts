import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postgresJournals } from '../../src/durable/journals/postgres-journals.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { emptyView, nextView, type RunView } from '../../src/server/run-view.ts';
import { isAfter } from '../../src/server/updates.ts';
import { replies } from '../../src/testing/replies.ts';
import { clientOf, collectUpdates, type ReceivedUpdate, startServer, updatesIn } from '../support/chain-server.ts';
import { temporaryFolder } from '../support/cli.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';

interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts a process that serves runs. Port 0 is a free one. */
async function serving(kind: string, place: string, port = 0): Promise<ServerProcess> {
  const args = ['test/support/serving.mjs', kind, place, `${port}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: `http://127.0.0.1:${printed.toString().trim()}` };
}

/** Reads a run to its answer, as a client that reconnects whenever it loses the server. `urls` returns the servers to try in turn. */
async function readRun(runId: string, urls: () => readonly string[]): Promise<readonly ReceivedUpdate[]> {
  const received: ReceivedUpdate[] = [];
  for (let tries = 0; received.at(-1)?.update.type !== 'answer'; tries += 1) {
    const url = urls()[tries % urls().length] ?? '';
    try {
      const headers = { 'last-event-id': received.at(-1)?.id ?? '' };
      const response = await clientOf(url).get(`/runs/${runId}/events`, { headers });
      if (response.status === 200) for await (const update of updatesIn(response)) received.push(update);
    } catch {
      // The server is gone.
    }
    if (received.at(-1)?.update.type !== 'answer') await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return received;
}

async function startRuns(url: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let run = 0; run < count; run += 1) ids.push(await clientOf(url).start({ request: `Is it so, ${run}?` }));
  return ids;
}

/** Expects that no update is missing, repeated or out of order, and that the text is the answer. */
function expectWhole(received: readonly ReceivedUpdate[]): RunView {
  for (const [at, { id = '' }] of received.entries())
    if (at > 0) expect(isAfter(id, received[at - 1]?.id ?? '')).toBe(true);
  const view = received.reduce((sum, { update }) => nextView(sum, update), emptyView);
  expect(view.status).toBe('ended');
  expect(view.text).toBe(view.answer?.answerText);
  return view;
}

describe('a server that is killed during a run', () => {
  it('gives every client that reconnects the whole answer', async () => {
    const place = temporaryFolder();
    const first = await serving('file', place);
    const { port } = new URL(first.url);
    const ids = await startRuns(first.url, 12);
    const reading = ids.map((id) => readRun(id, () => [first.url]));
    const seen = await clientOf(first.url).get(`/runs/${ids[0]}/events`);
    for await (const { update } of updatesIn(seen))
      if (update.type === 'phase' && update.phase === 'observation') break;
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    await serving('file', place, Number(port));
    const all = await Promise.all(reading);
    expect(all.map((received) => expectWhole(received).runId)).toEqual(ids);
    // A client that reads everything afterward sees the same.
    for (const [at, id] of ids.entries())
      expect(await collectUpdates(await clientOf(first.url).get(`/runs/${id}/events`))).toEqual(all[at]);
  });
});

describe('many clients', () => {
  it('receive every event exactly once, 500 of them at the same time', async () => {
    const { url } = await startServer({
      limits: { runs: 50, runsPerOwner: 50, requestsPerMinute: 10_000 },
      chain: { profile: 'thorough' },
    });
    const ids = await startRuns(url, 50);
    const clients = Array.from({ length: 500 }, (_, at) => ids[at % ids.length] ?? '');
    const all = await Promise.all(
      clients.map(async (id) => collectUpdates(await clientOf(url).get(`/runs/${id}/events`))),
    );
    for (const [at, received] of all.entries()) {
      expectWhole(received);
      expect(received).toEqual(all[at % ids.length]);
    }
  });
});

describe.skipIf(!hasPostgres)('two servers on one PostgreSQL store', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  it('start only one run with the same idempotency key, even at the same time', async () => {
    const place = await postgres.newSchema();
    const model = scriptedModel({}, { otherwise: replies });
    const servers = [];
    for (const _ of [1, 2]) {
      const journals = postgresJournals(place);
      onTestFinished(() => journals.close());
      servers.push(await startServer({ chain: { journals, model } }));
    }
    // Connected.
    for (const { get } of servers) expect((await get('/runs')).status).toBe(200);
    for (const key of ['a', 'b', 'c']) {
      const before = model.calls.length;
      const headers = { 'idempotency-key': key };
      const requests = ['Is it so?', key === 'c' ? 'Is it not?' : 'Is it so?'];
      const started = await Promise.all(
        servers.map(({ post }, at) => post('/runs', { request: requests[at] }, { headers })),
      );
      const ids = await Promise.all(
        started.map(async (response) => ((await response.json()) as { runId?: string }).runId),
      );
      const runId = ids.find((id) => id !== undefined);
      expect(ids.filter((id) => id !== runId)).toEqual(key === 'c' ? [undefined] : []);
      for (const { get } of servers) expectWhole(await collectUpdates(await get(`/runs/${runId}/events`)));
      expect(model.calls.length - before).toBe(1);
    }
  });

  it('serve the same runs, and one continues those that the other closes', async () => {
    const place = await postgres.newSchema();
    const one = await serving('postgres', place);
    const other = await serving('postgres', place);
    const ids = await startRuns(one.url, 4);
    const urls = [other.url, one.url];
    const reading = ids.map((id) => readRun(id, () => urls));
    const seen = await clientOf(other.url).get(`/runs/${ids[0]}/events`);
    for await (const { update } of updatesIn(seen)) if (update.type === 'phase' && update.phase === 'experience') break;
    one.child.kill('SIGKILL');
    await once(one.child, 'exit');
    urls.pop();
    for (const received of await Promise.all(reading)) expectWhole(received);
  });
});
