import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { assign, setup } from 'xstate';
import { readRun } from '../../../../src/chain/journal/run-journal.ts';
import { openJournals } from '../../../../src/cli/open-journals.ts';
import { createDurableMachine, type DurableMachine } from '../../../../src/durable/durable-machine.ts';
import { entriesOf, type JournalStore } from '../../../../src/durable/journals/journal-store.ts';
import type { PostgresPool, PostgresSource } from '../../../../src/durable/journals/postgres.ts';
import { postgresJournals } from '../../../../src/durable/journals/postgres-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { journalStoreChecks } from '../../../../src/testing/journal-store-checks.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { anError } from '../../../support/errors.ts';
import { writeJournal } from '../../../support/journal-files.ts';
import { checkLists, storeActors } from '../../../support/listed-actors.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import { recordedRun } from '../../../support/recorded-run.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const recorded = await recordedRun();

function openStore(source: PostgresSource, options = {}) {
  const store = postgresJournals(source, options);
  onTestFinished(() => store.close());
  return store;
}

describe('a journal store in PGlite', () => {
  let pglite: PGlite;
  beforeAll(async () => {
    pglite = await PGlite.create();
  });
  afterAll(() => pglite.close());

  async function open() {
    await pglite.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    return openStore(pglite);
  }
  for (const { name, check } of journalStoreChecks({ open, journal: recorded }))
    it(name, async () => expect(await check()).toBeNull());

  it('lists the actors that match every option, also those whose process was killed after it had taken the lease', async () => {
    await open();
    const journals = postgresJournals(pglite);
    await storeActors(journals);
    await checkLists(journals);
    await pglite.exec("UPDATE postchain_actors SET token = token + 1, machine = '', state = 'ended', due = NULL");
    await checkLists(journals);
  });
});

describe.skipIf(!hasPostgres)('a journal store in PostgreSQL (needs the programs initdb and postgres)', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const open = async () => openStore(await server.newSchema());
  for (const { name, check } of journalStoreChecks({ open, journal: recorded }))
    it(name, async () => expect(await check()).toBeNull());

  /** Two stores on one schema, with a pool each, as two processes have. */
  async function openTwo(options = {}) {
    const url = await server.newSchema();
    return [openStore(server.pool(url), options), openStore(server.pool(url), options)] as const;
  }
  const chainOn = (journals: JournalStore) =>
    createPostChain({ model: scriptedModel({}, { otherwise: replies }), journals });

  it('lets only one of two processes create a journal, and only one open it', async () => {
    const [one, other] = await openTwo();
    const writers = [one.create('a'), other.create('a')];
    await Promise.all(writers.map((writer) => writer.write(recorded.slice(0, 3))));
    const failures = writers.map(({ failure }) => failure);
    expect(failures.toSorted()).toEqual(['Journal "a" already exists; use a new id', null]);
    await Promise.all(writers.map((writer) => writer.close()));
    const opened = await Promise.allSettled([one.open('a'), other.open('a'), one.open('a'), other.open('a')]);
    expect(opened.map(({ status }) => status).toSorted()).toEqual(['fulfilled', ...Array(3).fill('rejected')]);
  });

  it('gives a journal with an expired lease to others, and its earlier writer writes nothing more', async () => {
    const url = await server.newSchema();
    const [one, other, pool] = [openStore(url), openStore(server.pool(url)), server.pool(url)];
    const writer = one.create('a');
    await writer.write(recorded.slice(0, 3));
    await pool.query("UPDATE postchain_actors SET expires = now() - interval '1 second'");
    const opened = await other.open('a');
    await writer.write(recorded.slice(3, 4));
    expect([writer.isFenced, writer.failure]).toEqual([true, expect.stringContaining('has taken it over')]);
    await opened.writer.write(recorded.slice(3));
    expect(await entriesOf(one.read('a'))).toEqual(recorded);
  });

  it('does not mistake a new journal for a deleted one of the same id', async () => {
    const [one, other] = await openTwo();
    const earlier = one.create('a');
    await earlier.write(recorded.slice(0, 3));
    await (await other.open('a', { force: true })).writer.close();
    await other.delete('a');
    const later = other.create('a');
    await later.write(recorded.slice(0, 3));
    await earlier.write(recorded.slice(3, 4));
    expect([earlier.isFenced, later.failure]).toEqual([true, null]);
    expect(await entriesOf(other.read('a'))).toEqual(recorded.slice(0, 3));
  });

  /** A store on a schema, and the statements that it has sent, without notifications. */
  async function openCounted() {
    const pool = server.pool(await server.newSchema());
    const all: string[] = [];
    const counted: PostgresPool = {
      query(sql, values) {
        all.push(String(sql));
        return pool.query(sql, values);
      },
    };
    const store = openStore(counted);
    await store.list();
    const startedMs = performance.now();
    let comparisons = 0;
    /** Returns those since the last call, without notifications and the comparisons of clocks, of which there is one in two seconds. */
    const sent = () => {
      const since = all.splice(0);
      comparisons += since.filter(comparesClocks).length;
      expect(comparisons).toBeLessThanOrEqual(1 + (performance.now() - startedMs) / 2_000);
      return since.filter((sql) => !notifies(sql) && !comparesClocks(sql));
    };
    all.splice(0);
    return { store, pool, all, sent };
  }
  const notifies = (sql: string) => sql.includes('pg_notify');
  const comparesClocks = (sql: string) => sql.startsWith('SELECT extract(epoch FROM now())');

  it('sends one statement for each step', async () => {
    const { store, all, sent } = await openCounted();
    const writer = store.create('a');
    for (const entry of recorded) await writer.write([entry]);
    // PostgreSQL commits transactions that notify one after another, so notifications are sent apart from the steps.
    expect(all.filter((sql) => notifies(sql) && /insert|update/iu.test(sql))).toEqual([]);
    expect(sent()).toHaveLength(recorded.length);
    await writer.close();
    sent();
    await (await store.open('a', { fromKeyframe: true })).writer.close();
    // The lease with the lines, the release.
    expect(sent()).toHaveLength(2);
    // While one is in flight, the next ones wait, and become one statement.
    const next = store.create('b');
    await Promise.all(recorded.map((entry) => next.write([entry])));
    expect(sent().length).toBeLessThanOrEqual(2);
    expect(await entriesOf(store.read('b'))).toEqual(recorded);
  });

  it('takes three statements for an event to an actor that waits, and three for a due delay that ends one', async () => {
    const { store, pool, sent } = await openCounted();
    const clock = new TestClock();
    const machine = setup({
      types: { context: {} as { total: number }, events: {} as { type: 'add' } },
      delays: { hour: 3_600_000 },
    }).createMachine({
      id: 'reminder',
      context: { total: 0 },
      on: { add: { actions: assign({ total: ({ context }) => context.total + 1 }) } },
      initial: 'waiting',
      states: { waiting: { after: { hour: 'done' } }, done: { type: 'final' } },
    });
    const host = createDurableMachine(machine, { journals: store, clock });
    await host.start('a').park();
    // Its start, its end with the release.
    expect(sent()).toHaveLength(2);
    const { snapshot } = await host.send('a', { type: 'add' }, { reply: true });
    // The lease with the lines, the step, the end with the release.
    expect([snapshot.context.total, sent().length]).toEqual([1, 3]);
    expect((await pool.query('SELECT owner FROM postchain_actors')).rows).toEqual([{ owner: null }]);
    clock.increment(3_600_000);
    await host.advance('a');
    // A process that dies in the step is counted: that it continues the actor is stored before.
    expect(sent()).toHaveLength(3);
    expect(await store.list()).toMatchObject([{ status: 'done' }]);
  });

  it('deletes ended journals that are old enough with one statement, without those that a process holds', async () => {
    const { store, pool, sent } = await openCounted();
    for (const id of ['a', 'b', 'c', 'd']) await writeJournal(store, id, recorded);
    await pool.query("UPDATE postchain_actors SET expires = now() - interval '1 hour' WHERE name <> '\"d\"'");
    const opened = await store.open('c');
    sent();
    // Their last entries are of the day on which they were recorded; "d" was opened or written later.
    expect(await store.prune({ olderThanMs: 60_000 })).toBe(3);
    const [, deletion, ...others] = sent();
    expect(deletion).toMatch(/DELETE FROM postchain_actors/u);
    expect(others.filter((sql) => sql.includes('DELETE FROM postchain_actors'))).toHaveLength(1);
    expect((await store.list()).map(({ id }) => id)).toEqual(['c']);
    expect((await pool.query('SELECT DISTINCT journal FROM postchain_actor_lines')).rows).toHaveLength(1);
    await opened.writer.close();
  });

  it('indexes a journal that was opened without writing neither while it is open nor later', async () => {
    const { store, sent } = await openCounted();
    const writer = store.create('a');
    await writer.write(recorded.slice(0, 3));
    await writer.close();
    const opened = await store.open('a');
    sent();
    await store.list();
    expect(sent()).toHaveLength(1);
    await opened.writer.close();
    sent();
    await store.list();
    expect(sent()).toHaveLength(1);
  });

  it('gives workers that list many due actors at the same time different ones, and a wake finds all', async () => {
    const [one, other] = await openTwo();
    const clock = new TestClock();
    const machine = setup({ delays: { hour: 3_600_000 } }).createMachine({
      id: 'reminder',
      initial: 'waiting',
      states: { waiting: { after: { hour: 'done' } }, done: { type: 'final' } },
    });
    const host = createDurableMachine(machine, { journals: one, clock });
    const ids = Array.from({ length: 250 }, (_, number) => `r${number}`);
    await Promise.all(ids.map((id) => host.start(id).park()));
    expect(await one.due?.('reminder', clock.now())).toEqual([]);
    clock.increment(3_600_000);
    const lists = await Promise.all([one, other].map((store) => store.due?.('reminder', clock.now()) ?? []));
    expect(lists.map(({ length }) => length)).toEqual([100, 100]);
    expect(lists[0]).not.toEqual(lists[1]);
    expect((await host.wake()).toSorted()).toEqual(ids.toSorted());
    expect(await other.list({ status: 'done' })).toHaveLength(250);
  });

  it('continues a run of another process, which others follow', async () => {
    const [one, other] = await openTwo();
    const run = chainOn(one).run({ request: 'Is it so?' });
    const followed = entriesOf(one.follow(run.id));
    await run.answer;
    const entries = await entriesOf(other.read(run.id));
    expect(await readRun(other.read(run.id))).toEqual(JSON.parse(JSON.stringify(run.entries)));
    expect(await followed).toEqual(entries);
    await writeJournal(other, 'killed', entries.slice(0, 9));
    const late = entriesOf(other.follow('killed', { from: 4 }));
    const resumed = await chainOn(one).resume('killed');
    expect((await resumed.answer).answerText).toBe((await run.answer).answerText);
    const all = await entriesOf(one.read('killed'));
    expect(await late).toEqual(all.slice(4));
    expect(all.at(-1)).toMatchObject({ type: 'end' });
  });

  it('loses no entry when all connections are lost, and followers miss none', async () => {
    const [one, other] = await openTwo();
    const writer = one.create('a');
    await writer.write(recorded.slice(0, 1));
    const followed = entriesOf(other.follow('a'));
    for (const [at, entry] of recorded.slice(1).entries()) {
      if (at % 20 === 10) await server.disconnectAll();
      await writer.write([entry]);
    }
    expect(writer.failure).toBeNull();
    expect(await followed).toEqual(recorded);
    expect(await entriesOf(other.read('a'))).toEqual(recorded);
  });

  it('deletes a journal although the connection is lost before the result arrives', async () => {
    const pool = server.pool(await server.newSchema());
    let losses = 1;
    const store = openStore({
      async query(sql: string, values?: unknown[]) {
        const result = await pool.query(sql, values);
        if (!sql.startsWith('WITH gone')) return result;
        losses -= 1;
        if (losses >= 0) throw new Error('Connection terminated unexpectedly');
        return result;
      },
    });
    await writeJournal(store, 'a', recorded.slice(0, 1));
    await store.delete('a');
    expect(losses).toBe(-1);
    await expect(store.delete('a')).rejects.toThrow('There is no journal');
  });

  it('reports to the inspector which journals have changed', async () => {
    const [one, other] = await openTwo();
    const changed = new Set<string>();
    const stop = other.changes((ids) => {
      for (const id of ids ?? ['any']) changed.add(id);
    });
    // The first report is that the connection listens.
    await expect.poll(() => changed.has('any')).toBe(true);
    const writer = one.create('a');
    await writer.write(recorded.slice(0, 3));
    await expect.poll(() => changed.has('a')).toBe(true);
    stop();
    expect((await entriesOf(other.bounds())).map(({ id, isWritten }) => [id, isWritten])).toEqual([['a', true]]);
  });

  it('polls a database without notifications, and encodes lines with a codec', async () => {
    const pool = server.pool(await server.newSchema());
    const codec = { encode: (line: string) => btoa(line), decode: (line: string) => atob(line) };
    const store = openStore({ query: (sql: string, values?: unknown[]) => pool.query(sql, values) }, { codec });
    const writer = store.create('a');
    await writer.write(recorded.slice(0, 3));
    const followed = store.follow('a', { from: 3 });
    const next = followed.next();
    await writer.write(recorded.slice(3));
    expect((await next).value).toEqual(recorded[3]);
    const { rows } = await pool.query('SELECT line FROM postchain_actor_lines ORDER BY seq');
    for (const { line } of rows) expect(atob(line)).toMatch(/^\{"seq":\d/u);
    expect(await store.list()).toMatchObject([{ id: 'a', title: 'Is it so?' }]);
  });

  it.each([1, 2])('leaves a connection for statements in a pool of %i that two stores share', async (max) => {
    const pool = server.pool(await server.newSchema(), max);
    const runs = [openStore(pool), openStore(pool)].map((journals) => {
      const run = chainOn(journals).run({ request: 'Is it so?' });
      return { run, followed: readRun(journals.follow(run.id)) };
    });
    for (const { run, followed } of runs) {
      await run.answer;
      expect(await followed).toEqual(JSON.parse(JSON.stringify(run.entries)));
    }
  });

  it('follows a journal while no connection is free to listen', async () => {
    const pool = server.pool(await server.newSchema());
    const store = openStore({
      query: (sql: string, values?: unknown[]) => pool.query(sql, values),
      connect: () => new Promise<never>(() => {}),
    });
    const writer = store.create('a');
    await writer.write(recorded.slice(0, 3));
    const followed = entriesOf(store.follow('a'));
    await writer.write(recorded.slice(3));
    expect(await followed).toEqual(recorded);
  });

  it('stores an id as long as its index takes, and rejects a longer one', async () => {
    const store = openStore(await server.newSchema());
    // Random characters, because PostgreSQL compresses long values.
    const id = Buffer.from(crypto.getRandomValues(new Uint8Array(1_299))).toString('hex');
    const writer = store.create(id);
    await writer.write(recorded);
    expect(writer.failure).toBeNull();
    expect(() => store.create(`${id}a`)).toThrow(
      anError('invalid_option', /^id: expected at most 2600 bytes as JSON; received 2601\./u),
    );
  });

  it('lists each of many journals that started at the same time once', async () => {
    const [store] = await openTwo();
    const ids = Array.from({ length: 120 }, (_, at) => `r${at}`);
    await Promise.all(ids.map((id) => store.create(id).write(recorded.slice(0, 1))));
    expect((await store.list()).map(({ id }) => id)).toEqual(ids.toSorted());
  });

  it('is opened by the command line', async () => {
    const url = await server.newSchema();
    await openStore(url).create('a').write(recorded);
    expect(await openJournals({ journals: url }).list()).toMatchObject([{ id: 'a', title: 'Is it so?' }]);
  });

  it('stops using prepared statements if a proxy loses them', async () => {
    const pool = server.pool(await server.newSchema());
    const refused: unknown[] = [];
    const store = openStore({
      connect: () => pool.connect(),
      query(sql, values) {
        if (typeof sql === 'string') return pool.query(sql, values);
        refused.push(sql.name);
        return Promise.reject(Object.assign(new Error('it does not exist'), { code: '26000' }));
      },
    });
    const writer = store.create('a');
    for (const entry of recorded) await writer.write([entry]);
    expect([writer.failure, refused]).toEqual([null, ['postchain_actor_lines_insert']]);
    expect(await entriesOf(store.read('a'))).toEqual(recorded);
  });

  it('creates its tables once, whoever is first, and works for a role that must not create any', async () => {
    const url = await server.newSchema();
    const stores = Array.from({ length: 5 }, () => openStore(server.pool(url)));
    expect(await Promise.all(stores.map((store) => store.list()))).toEqual(stores.map(() => []));
    const pool = server.pool(url);
    const { rows } = await pool.query('SELECT current_schema() AS schema');
    const { schema } = rows[0] as { schema: string };
    await pool.query(`CREATE ROLE app_${schema} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO app_${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO app_${schema}`);
    const limited = openStore(server.pool(url.replace('postgres@', `app_${schema}@`)));
    await limited.create('a').write(recorded);
    expect(await entriesOf(limited.read('a'))).toEqual(recorded);
  });

  it('continues and starts durable actors in two processes', async () => {
    const url = await server.newSchema();
    const machines = [1, 2].map(() => {
      const journals = postgresJournals(server.pool(url));
      onTestFinished(() => journals.close());
      return createDurableMachine(counter, { journals });
    }) as [DurableMachine<typeof counter>, DurableMachine<typeof counter>];
    const opened = await Promise.allSettled(machines.map((machine) => machine.open('a', { input: { by: 2 } })));
    const actors = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(opened.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'journal_held' } }]);
    await actors[0]?.send({ type: 'add' });
    await actors[0]?.close();
    const continued = await machines[1].open('a');
    await continued.send({ type: 'add' });
    expect(continued.getSnapshot().context).toEqual({ by: 2, count: 4 });
    await continued.close();
    await expect(machines[0].fork('a', { at: 1, id: 'a' })).rejects.toMatchObject({
      code: 'journal_exists',
      message: 'Journal "a" already exists; use a new id',
    });
    // A first step that throws must not delete what is there.
    await expect(machines[0].open('b')).rejects.toThrow();
    expect((await machines[0].list()).map(({ id, status }) => [id, status])).toEqual([['a', 'waiting']]);
  });

  it('continues a long journal from its keyframes', async () => {
    const url = await server.newSchema();
    const [journals, others] = [postgresJournals(url), postgresJournals(url)];
    onTestFinished(async () => void (await Promise.all([journals.close(), others.close()])));
    const actor = await createDurableMachine(counter, { journals }).open('a', { input: { by: 1 } });
    // A keyframe needs an actor at rest.
    for (let at = 0; at < 2_000; at += 1) await actor.send({ type: 'add' });
    await actor.close();
    const count = actor.entries.length;
    expect(await entriesOf(others.read('a'))).toHaveLength(count);
    const continued = await createDurableMachine(counter, { journals: others }).open('a');
    expect(continued.getSnapshot().context.count).toBe(2_000);
    expect(continued.entries.length).toBeLessThan(count - 1_000);
    await continued.close();
  });

  it('reports a database that it cannot use', async () => {
    const store = openStore((await server.newSchema()).replace('/postgres?', '/none?'));
    await expect(store.list()).rejects.toMatchObject({
      code: 'invalid_path',
      message: /^postgresJournals: cannot use the database: ./u,
    });
    expect(() => postgresJournals(7 as never)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});

const counter = setup({
  types: { context: {} as { by: number; count: number }, input: {} as { by: number }, events: {} as { type: 'add' } },
}).createMachine({
  id: 'counter',
  context: ({ input }) => ({ by: input.by, count: 0 }),
  on: { add: { actions: assign({ count: ({ context }) => context.count + context.by }) } },
});
