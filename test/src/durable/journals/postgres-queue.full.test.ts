import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createMachine } from 'xstate';
import { createDurableMachine, createWorker, type Journals, type WorkerHost } from '../../../../src/entries/durable.ts';
import { postgresJournals } from '../../../../src/entries/postgres.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import '../../../support/fast-check-seed.ts';
import { checkQueue, queueArb } from '../../../support/queued-journals.ts';

const machine = createMachine({ id: 'order', initial: 'a', states: { a: { on: { END: 'b' } }, b: { type: 'final' } } });
const hostOn = (journals: Journals) =>
  createDurableMachine(machine, {
    journals,
    queue: { concurrency: 3, key: (input) => input as string | undefined, perKey: { concurrency: 1 } },
  });

it('a queue in PGlite begins what its limits allow, in order, whatever happens to its journals', async () => {
  const pglite = await PGlite.create();
  onTestFinished(() => pglite.close());
  const check = async (scenario: Parameters<typeof checkQueue>[1]): Promise<void> => {
    await pglite.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await checkQueue(postgresJournals(pglite), scenario);
  };
  await fc.assert(fc.asyncProperty(queueArb, check));
  expect.assertions(expect.getState().assertionCalls);
});

describe.skipIf(!hasPostgres)('a queue in PostgreSQL (needs the programs initdb and postgres)', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  const open = (url: string) => {
    const store = postgresJournals(server.pool(url));
    onTestFinished(() => store.close());
    return store;
  };

  it('never exceeds its limits with two workers, and begins every actor once', async () => {
    const url = await server.newSchema();
    const hosts = [hostOn(open(url)), hostOn(open(url))] as const;
    const ids = Array.from({ length: 20 }, (_, index) => `o${index}`);
    // At the same time, as many processes do.
    await Promise.all(
      ids.map((id, index) => hosts[index % 2 === 0 ? 0 : 1].enqueue(id, { input: `key ${index % 5}` })),
    );
    const begun: string[] = [];
    const claiming = (host: WorkerHost): WorkerHost => ({
      due: () => host.due(),
      advance: (...given) => host.advance(...given),
      quarantine: (...given) => host.quarantine(...given),
      async claim(count) {
        const claimed = (await host.claim?.(count)) ?? [];
        begun.push(...claimed);
        return claimed;
      },
    });
    const workers = hosts.map((host) => createWorker({ hosts: [claiming(host)], pollMs: 1e9 }));
    for (let ended = 0; ended < ids.length; ) {
      await Promise.all(workers.map((worker) => worker.poll()));
      const waiting = await hosts[0].list({ status: ['waiting', 'running', 'interrupted'] });
      expect(waiting.length).toBeLessThanOrEqual(3);
      const keys = waiting.map(({ id }) => Number(id.slice(1)) % 5);
      expect(new Set(keys).size).toBe(keys.length);
      for (const { id } of waiting.filter(({ status }) => status === 'waiting')) {
        await hosts[0].send(id, { type: 'END' });
        ended += 1;
      }
    }
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(begun.toSorted()).toEqual(ids.toSorted());
  });

  it('reads a few rows for each claim, however many are queued, delayed or wait for their key', async () => {
    const url = await server.newSchema();
    const [pool, host] = [server.pool(url), hostOn(open(url))];
    for (const id of ['a', 'b']) await host.enqueue(id, { input: 'key' });
    const many = (count: number, key: string, due: number) =>
      pool.query(`WITH journal AS (
          INSERT INTO postchain_actors (name, started, ended, lines, token, expires, machine, state, indexed)
          SELECT to_json(gen_random_uuid())::text, '', false, 1, 1, now(), '"order"', 'queued', 1
          FROM generate_series(1, ${count}) RETURNING id
        ) INSERT INTO postchain_actor_queue SELECT id, '"order"', ${key}, 9, ${due}, NULL, ${key} IS NULL FROM journal`);
    // Delayed ones; and those of a key of which one has begun.
    await many(5_000, 'NULL', 1e15);
    await many(5_000, '(SELECT key FROM postchain_actor_queue WHERE priority = 0 LIMIT 1)', 0);
    await pool.query(
      'UPDATE postchain_actor_queue SET head = true WHERE journal = (SELECT max(journal) FROM postchain_actor_queue)',
    );
    await many(1, "'other'", 0);
    await pool.query('ANALYZE');
    const client = await pool.connect();
    onTestFinished(() => client.release());
    const claim = async (): Promise<[number, number]> => {
      await client.query('BEGIN');
      const values = ['"order"', Date.now(), 5, 5, 'Infinity', 0, 1, 'Infinity', 0];
      const { rows } = await client.query('SELECT postchain_claim($1, $2, $3, $4, $5, $6, $7, $8, $9)', values);
      const read = await client.query(
        `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS count FROM pg_stat_xact_user_tables
         WHERE relname LIKE 'postchain_actor%'`,
      );
      await client.query('COMMIT');
      return [rows.length, read.rows[0].count];
    };
    const [claimed, read] = await claim();
    expect([claimed, read]).toEqual([1, expect.any(Number)]);
    expect(read).toBeLessThan(200);
    expect((await claim())[1]).toBeLessThan(200);
  });

  it('is added to the tables of an earlier version', async () => {
    const url = await server.newSchema();
    const earlier = hostOn(open(url));
    await earlier.start('a').close();
    const pool = server.pool(url);
    await pool.query(
      `DROP TABLE postchain_actor_queue; DROP FUNCTION postchain_claim; DROP FUNCTION postchain_enqueue`,
    );
    const host = hostOn(open(url));
    await host.enqueue('b');
    expect(await host.claim(9)).toEqual(['b']);
    expect((await host.list()).map(({ id, status }) => [id, status])).toEqual([
      ['b', 'interrupted'],
      ['a', 'waiting'],
    ]);
  });
});
