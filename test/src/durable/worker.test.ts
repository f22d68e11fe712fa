import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { thisHolder } from '../../../src/durable/journals/lease.ts';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import {
  createDurableMachine,
  createWorker,
  fileJournals,
  type Journals,
  memoryJournals,
  PostChainError,
  type WorkerEvent,
  type WorkerHost,
  type WorkerOptions,
} from '../../../src/entries/durable.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { withResolvers } from '../../../src/internal/async.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { writeJournal } from '../../support/journal-files.ts';
import { recordedRun } from '../../support/recorded-run.ts';
import { entriesOf, plannedModel, settle } from '../../support/run-chain.ts';
import { nextTurn, TestClock } from '../../support/simulated-clock.ts';

const HOUR = 3_600_000;

/** Orders that pay when an hour has passed. */
function setUp(pay: (id: string) => Promise<void> = async () => {}, open?: () => Journals) {
  const clock = new TestClock();
  clock.set(Date.parse('2026-01-01T00:00:00Z'));
  const journals = open?.() ?? memoryJournals();
  const machine = setup({
    types: { input: {} as string, context: {} as { id: string; paid: number } },
    actors: { pay: fromPromise<void, string>(({ input }) => pay(input)) },
    delays: { patience: HOUR },
  }).createMachine({
    id: 'order',
    context: ({ input }) => ({ id: input, paid: 0 }),
    initial: 'waiting',
    states: {
      waiting: { after: { patience: 'paying' } },
      paying: {
        invoke: {
          src: 'pay',
          input: ({ context }) => context.id,
          onDone: { target: 'paid', actions: assign({ paid: ({ context }) => context.paid + 1 }) },
        },
      },
      paid: { type: 'final' },
    },
  });
  const host = () => createDurableMachine(machine, { journals: open?.() ?? journals, clock });
  const parked = async (...ids: readonly string[]) => {
    for (const id of ids) await (await host().open(id, { input: id })).park();
  };
  const events: WorkerEvent[] = [];
  const work = (options: Partial<WorkerOptions> = {}) =>
    createWorker({ hosts: [host()], clock, onEvent: (event) => events.push(event), ...options });
  const crash = async (id: string) => {
    const { entries, writer } = await journals.open(id, { force: true });
    const { seq = -1, atMs = 0 } = entries.at(-1) ?? {};
    await writer.write([{ seq: seq + 1, atMs, type: 'resumed', resumedAt: new Date(clock.now()).toISOString() }]);
    await writer.close();
  };
  const statuses = async () => Object.fromEntries((await host().list()).map(({ id, status }) => [id, status]));
  return { clock, journals, host, parked, work, crash, events, statuses };
}

describe('a worker', () => {
  it('fires due timers and resumes what was interrupted, at its interval, and leaves the others', async () => {
    const { clock, parked, work, statuses, crash } = setUp();
    await parked('due', 'killed');
    await crash('killed');
    const worker = work({ pollMs: HOUR / 4 });
    await worker.poll();
    expect(await statuses()).toEqual({ due: 'waiting', killed: 'waiting' });
    clock.increment(HOUR / 2);
    await parked('later');
    // Otherwise the next call would share a look that has begun before.
    await worker.poll();
    clock.increment(HOUR / 2);
    await worker.poll();
    expect(await statuses()).toEqual({ due: 'done', killed: 'done', later: 'waiting' });
    await worker.stop();
    expect(clock.openTimers).toBe(0);
  });

  it('continues at most so many at a time', async () => {
    let active = 0;
    let most = 0;
    const { clock, parked, work, statuses } = setUp(async () => {
      most = Math.max(most, ++active);
      await nextTurn();
      active -= 1;
    });
    const ids = Array.from({ length: 9 }, (_, index) => `o${index}`);
    await parked(...ids);
    clock.increment(HOUR);
    const worker = work({ concurrency: 2 });
    await worker.poll();
    expect([most, Object.values(await statuses())]).toEqual([2, ids.map(() => 'done')]);
    await worker.stop();
  });

  it.each([
    ['memory', () => memoryJournals],
    ['files', (place: string) => () => fileJournals(place)],
    ['SQLite', (place: string) => () => sqliteJournals(join(place, 'orders.db'))],
  ])('gives each actor one owner, and reports no failure to the other workers: %s', async (_, storesIn) => {
    const calls: string[] = [];
    const one = storesIn(temporaryFolder());
    const shared = one();
    const { clock, parked, work, host, events } = setUp(
      async (id) => {
        calls.push(id);
        await nextTurn();
      },
      () => (one === memoryJournals ? shared : one()),
    );
    const ids = Array.from({ length: 20 }, (_, index) => `o${index}`);
    await parked(...ids);
    clock.increment(HOUR);
    const workers = Array.from({ length: 16 }, () => work());
    await Promise.all([...workers.map((worker) => worker.poll()), host().wake()]);
    expect(calls.toSorted()).toEqual(ids.toSorted());
    expect(events.filter(({ type }) => type === 'failed')).toEqual([]);
    expect(events.filter(({ type }) => type === 'continued').length).toBe(
      events.filter(({ type }) => type === 'idle').length,
    );
    await Promise.all(workers.map((worker) => worker.stop()));
  });

  it.each(['journal_held', 'journal_fenced', 'unknown_journal'] as const)(
    'tries an actor again at its next poll after %s, and does not report it as continued',
    async (code) => {
      const advance = vi.fn(() => Promise.reject(new PostChainError(code, 'lost')));
      const quarantine = async () => {};
      const events: WorkerEvent[] = [];
      const hosts = [{ due: async () => [{ id: 'o', crashes: 0 }], advance, quarantine }];
      const worker = createWorker({ hosts, clock: new TestClock(), onEvent: (event) => events.push(event) });
      for (const _ of [1, 2, 3]) await worker.poll();
      await worker.stop();
      expect(events).toEqual(advance.mock.calls.map(() => ({ type: 'skipped', id: 'o' })));
      expect(advance.mock.calls.length).toBeGreaterThan(1);
    },
  );

  it('gives the second of two hosts its turn while the first has a hundred thousand due actors', async () => {
    const turns: string[] = [];
    const hostOf = (name: string, count: number): WorkerHost => {
      let due = Array.from({ length: count }, (_, number) => ({ id: `${name}${number}`, crashes: 0 }));
      return {
        due: async () => due,
        async advance(id) {
          turns.push(id);
          if (id === `${name}${count - 1}`) due = [];
        },
        quarantine: async () => {},
      };
    };
    const clock = new TestClock();
    const worker = createWorker({ hosts: [hostOf('a', 100_000), hostOf('b', 2)], concurrency: 1, clock });
    while (turns.length < 5) await nextTurn();
    await worker.stop();
    expect(turns.slice(0, 5)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2']);
  });

  it('takes actors out of a queue while other hosts have many due ones, and keeps the limit', async () => {
    const begun: string[] = [];
    let active = 0;
    let most = 0;
    const hostOf = (name: string, dueCount: number, queuedCount: number): WorkerHost => {
      const due = Array.from({ length: dueCount }, (_, number) => ({ id: `${name}${number}`, crashes: 0 }));
      let left = queuedCount;
      return {
        due: async () => due.splice(0, 20),
        claim: async (count) => {
          await nextTurn();
          const taken = Array.from({ length: Math.min(count, left) }, (_, number) => `${name}q${left - number}`);
          left -= taken.length;
          return taken;
        },
        advance: async (id) => {
          begun.push(id);
          most = Math.max(most, ++active);
          await nextTurn();
          active -= 1;
        },
        quarantine: async () => {},
      };
    };
    const hosts = [hostOf('a', 20, 100), hostOf('b', 20, 1), hostOf('c', 0, 0)];
    const worker = createWorker({ hosts, concurrency: 2, pollMs: 1e9, clock: new TestClock() });
    await worker.poll();
    expect(begun.length).toBe(141);
    expect(most).toBe(2);
    expect(begun.indexOf('bq1')).toBeLessThan(20);
    await worker.stop();
  });

  it('lists again at once after a full list, and otherwise at its next poll', async () => {
    const clock = new TestClock();
    const left = Array.from({ length: 250 }, (_, number) => ({ id: `o${number}`, crashes: 0 }));
    const due = vi.fn(async () => left.slice(0, 100));
    const advance = async (id: string) => void left.splice(left.findIndex((actor) => actor.id === id) >>> 0, 1);
    const worker = createWorker({ hosts: [{ due, advance, quarantine: async () => {} }], clock });
    await worker.poll();
    expect([left.length, due.mock.calls.length]).toEqual([0, 3]);
    await worker.stop();
  });

  it('continues, when asked to poll, what became due after the poll in progress had listed', async () => {
    const left: string[] = [];
    const listing = withResolvers<void>();
    const listed = withResolvers<void>();
    const due = vi.fn(async () => {
      const found = left.map((id) => ({ id, crashes: 0 }));
      listing.resolve();
      await listed.promise;
      return found;
    });
    const advance = async (id: string) => void left.splice(left.indexOf(id), 1);
    const worker = createWorker({ hosts: [{ due, advance, quarantine: async () => {} }], clock: new TestClock() });
    await listing.promise;
    left.push('late');
    const polled = worker.poll();
    listed.resolve();
    await polled;
    expect(left).toEqual([]);
    await worker.stop();
  });

  it('skips an actor that its own program has opened since it was listed', async () => {
    const { clock, parked, host, events } = setUp();
    await parked('o');
    const own = host();
    const worker = createWorker({
      hosts: [
        {
          due: async () => [{ id: 'o', crashes: 0 }],
          advance: own.advance.bind(own),
          quarantine: own.quarantine.bind(own),
        },
      ],
      clock,
      onEvent: (event) => events.push(event),
    });
    const actor = await own.open('o');
    await worker.poll();
    await worker.stop();
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['skipped']));
    expect(actor.getSnapshot().value).toBe('waiting');
    await actor.close();
  });

  it.each(['actor', 'run'])('skips what another process has ended since it was listed: %s', async (kind) => {
    const { clock, parked, host, events, work } = setUp();
    await parked('o');
    const runs = memoryJournals();
    const chain = () => createPostChain({ journals: runs, model: plannedModel({}), clock });
    await writeJournal(runs, 'o', (await recordedRun()).slice(0, 9));
    clock.increment(HOUR);
    const [own, other] = kind === 'run' ? [chain(), chain()] : [host(), host()];
    const due = async () => {
      const listed = await own.due();
      await other.advance('o');
      return listed;
    };
    const worker = work({ hosts: [{ due, advance: own.advance.bind(own), quarantine: own.quarantine.bind(own) }] });
    await worker.poll();
    await worker.stop();
    expect(events).toEqual([{ type: 'skipped', id: 'o' }]);
    expect([(await own.due()).length, clock.openTimers]).toEqual([0, 0]);
  });

  it('does not count an actor as woken that another process has ended since it was listed', async () => {
    const { clock, journals, host, parked } = setUp();
    await parked('o');
    clock.increment(HOUR);
    const listed = await journals.list();
    await host().advance('o');
    vi.spyOn(journals, 'list').mockResolvedValueOnce(listed);
    expect(await host().wake()).toEqual([]);
  });

  it('does not quarantine an actor that another process has continued since it was listed', async () => {
    const { clock, parked, host, work, crash, events } = setUp();
    await parked('o');
    clock.increment(HOUR);
    for (const _ of [1, 2, 3]) await crash('o');
    const own = host();
    const due = async () => {
      const listed = await own.due();
      await host().advance('o');
      return listed;
    };
    const worker = work({ hosts: [{ due, advance: own.advance.bind(own), quarantine: own.quarantine.bind(own) }] });
    await worker.poll();
    await worker.stop();
    expect(events).toEqual([{ type: 'skipped', id: 'o' }]);
    expect((await own.list())[0]).toMatchObject({ status: 'done', reason: null });
  });

  it('quarantines an actor that ended its process three times, also for other processes, until it is released', async () => {
    const { clock, parked, host, work, crash, statuses, events } = setUp();
    await parked('poison', 'other');
    clock.increment(HOUR);
    for (const _ of [1, 2, 3]) await crash('poison');
    const worker = work();
    await worker.poll();
    await worker.stop();
    const reason = '3 processes in a row ended while they continued it';
    const quarantines = () => events.filter(({ type }) => type === 'quarantined');
    expect(quarantines()).toEqual([{ type: 'quarantined', id: 'poison', reason }]);
    expect(await statuses()).toEqual({ poison: 'interrupted', other: 'done' });
    const another = work();
    await another.poll();
    expect(quarantines()).toHaveLength(1);
    expect(await host().list({ status: 'interrupted' })).toMatchObject([{ id: 'poison', reason }]);
    await expect(host().release('other')).rejects.toThrow('actor other: it is not quarantined.');
    await host().release('poison');
    await another.poll();
    await another.stop();
    expect(await statuses()).toEqual({ poison: 'done', other: 'done' });
    expect((await host().replay('poison')).divergence).toBeNull();
  });

  it('quarantines a run, which keeps its reason until it is resumed', async () => {
    const { crash, journals, clock, events, work } = setUp();
    await writeJournal(journals, 'r', (await recordedRun()).slice(0, 9));
    for (const _ of [1, 2, 3]) await crash('r');
    const chain = createPostChain({ journals, model: plannedModel({}), clock });
    const worker = work({ hosts: [chain] });
    await worker.poll();
    await worker.stop();
    expect(events.map(({ type }) => type)).toEqual(['quarantined']);
    expect(await journals.list()).toMatchObject([
      { status: 'interrupted', reason: expect.stringContaining('3 processes') },
    ]);
    expect(await chain.due()).toEqual([]);
    await chain.release('r');
    expect(await chain.due()).toEqual([{ id: 'r', crashes: 0 }]);
  });

  it('counts crashes only if nothing happened in between', async () => {
    const { clock, parked, work, crash, host, statuses } = setUp();
    await parked('o');
    for (const _ of [1, 2]) await crash('o');
    await (await host().open('o')).park();
    clock.increment(HOUR);
    for (const _ of [1, 2]) await crash('o');
    expect(await host().due()).toEqual([{ id: 'o', crashes: 2 }]);
    const worker = work();
    await worker.poll();
    expect(await statuses()).toEqual({ o: 'done' });
    await worker.stop();
  });

  it.each(['throw', 'reject'])(
    'rests longer after failures, and reports an unlisted store, if hosts %s',
    async (how) => {
      const fail = (): Promise<never> => {
        if (how === 'throw') throw new Error('no');
        return Promise.reject(new Error('no'));
      };
      const clock = new TestClock();
      const tries: number[] = [];
      const failing: WorkerHost = {
        due: async () => [{ id: 'o', crashes: 0 }],
        advance() {
          tries.push(clock.now());
          return fail();
        },
        quarantine: async () => {},
      };
      const unlisted: WorkerHost = { due: fail, advance: async () => {}, quarantine: async () => {} };
      const events: string[] = [];
      const options = { clock, pollMs: 100, backoffMs: 200, onEvent: ({ type }: WorkerEvent) => events.push(type) };
      const worker = createWorker({ hosts: [unlisted, failing], ...options });
      for (let tick = 0; tick < 16; tick += 1) {
        await worker.poll();
        clock.increment(100);
      }
      await worker.stop();
      expect(tries).toEqual([0, 200, 600, 1_400]);
      expect(new Set(events)).toEqual(new Set(['unlisted', 'failed']));
    },
  );

  it('does not wait for heartbeats of another host that was faster', async () => {
    const folder = temporaryFolder();
    const { parked, work, host, events } = setUp(undefined, () => fileJournals(folder));
    await parked('o');
    writeFileSync(
      join(folder, 'o.jsonl.lock'),
      JSON.stringify({ ...thisHolder(), id: 'else', space: 'else', token: 3 }),
    );
    const machine = host();
    const worker = work({ hosts: [Object.assign(machine, { due: async () => [{ id: 'o', crashes: 0 }] })] });
    await worker.poll();
    expect(events).toContainEqual({ type: 'skipped', id: 'o' });
    await worker.stop();
  });

  it('clears the backoff of an actor that is no longer due', async () => {
    const clock = new TestClock();
    const tries: number[] = [];
    const isGone = (): boolean => clock.now() === 200;
    const host: WorkerHost = {
      due: async () => (isGone() ? [] : [{ id: 'o', crashes: 0 }]),
      async advance() {
        tries.push(clock.now());
        throw new Error('no');
      },
      quarantine: async () => {},
    };
    const worker = createWorker({ hosts: [host], clock, pollMs: 100, backoffMs: 200 });
    for (let tick = 0; tick < 7; tick += 1) {
      await worker.poll();
      clock.increment(100);
    }
    await worker.stop();
    expect(tries).toEqual([0, 300, 500]);
  });

  it('forgets the crash count of an actor that is no longer interrupted', async () => {
    const { journals, parked, crash, host } = setUp();
    await parked('o');
    await crash('o');
    const store = journals;
    const read = vi.fn((id: string) => store.read(id));
    let isHidden = false;
    const list = async (...given: Parameters<typeof store.list>) => (isHidden ? [] : store.list(...given));
    const machine = createDurableMachine(host().machine, { journals: { ...store, read, list } });
    for (const _ of [1, 2]) expect(await machine.due()).toEqual([{ id: 'o', crashes: 1 }]);
    expect(read).toHaveBeenCalledTimes(1);
    isHidden = true;
    expect(await machine.due()).toEqual([]);
    isHidden = false;
    await machine.due();
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('closes what it continues when it is stopped, and the call starts again in another process', async () => {
    let resolve = (): void => {};
    const paid = new Promise<void>((end) => {
      resolve = end;
    });
    const calls: string[] = [];
    const { clock, parked, work, statuses } = setUp((id) => {
      calls.push(id);
      return paid;
    });
    await parked('o');
    clock.increment(HOUR);
    const worker = work();
    await settle();
    expect([calls, await statuses()]).toEqual([['o'], { o: 'running' }]);
    await worker.stop();
    expect([clock.openTimers, await statuses()]).toEqual([0, { o: 'interrupted' }]);
    resolve();
    const other = work();
    await other.poll();
    expect([calls, await statuses()]).toEqual([['o', 'o'], { o: 'done' }]);
    await other.stop();
  });

  it('rejects invalid options', () => {
    expect(() => createWorker({ hosts: [], concurrency: 0 })).toThrow('concurrency: expected at least 1; received 0.');
    expect(() => createWorker({ hosts: [], pollMs: '100' as never })).toThrow('at least 1; received "100".');
    expect(() => createWorker({} as never)).toThrow('hosts: expected a list of durable machines');
    expect(() => createWorker(undefined as never)).toThrow('options of createWorker: expected an object with hosts');
    expect(() => createWorker({ hosts: [], pollsMs: 100 } as never)).toThrow('only hosts, concurrency, pollMs');
    expect(() => createWorker({ hosts: [setup({}).createMachine({})] as never })).toThrow(
      'chains; received an array of 1.',
    );
  });
});

describe('the poll of a worker', () => {
  it('reads no more journals if more actors have ended, and finds one with the id of one that had', async () => {
    const machine = setup({ delays: { patience: HOUR } }).createMachine({
      id: 'timed',
      initial: 'waiting',
      states: { waiting: { after: { patience: 'done' }, on: { end: 'done' } }, done: { type: 'final' } },
    });
    const clock = new TestClock();
    const journals = fileJournals(temporaryFolder());
    const host = createDurableMachine(machine, { journals, clock });
    const open = vi.spyOn(process.getBuiltinModule('node:fs'), 'openSync');
    onTestFinished(() => open.mockRestore());
    const readsOf = async (): Promise<number> => {
      await host.due();
      open.mockClear();
      await host.due();
      return open.mock.calls.filter(([path]) => String(path).endsWith('.jsonl')).length;
    };
    await (await host.open('waits')).park();
    const reads = await readsOf();
    for (let count = 0; count < 20; count += 1) await (await host.open(`ended${count}`)).send({ type: 'end' });
    // Once for those that were interrupted, once for those that are due.
    expect([reads, await readsOf()]).toEqual([2, 2]);
    await host.delete('ended3');
    await (await host.open('ended3')).park();
    clock.increment(HOUR);
    expect((await host.due()).map(({ id }) => id).toSorted()).toEqual(['ended3', 'waits']);
  });

  it('lists only the runs of a chain that have not ended', async () => {
    const journals = memoryJournals();
    const listed: (readonly object[])[] = [];
    const list: typeof journals.list = async (options) => {
      const found = await journals.list(options);
      listed.push(found);
      return found;
    };
    const chain = createPostChain({ journals: { ...journals, list }, model: plannedModel({}) });
    const run = await recordedRun();
    await writeJournal(journals, 'ended', run);
    await writeJournal(journals, 'killed', run.slice(0, 9));
    expect(await chain.due()).toEqual([{ id: 'killed', crashes: 0 }]);
    expect(listed).toEqual([[expect.objectContaining({ id: 'killed' })], []]);
  });

  it('continues the other runs and actors of a store if one is damaged, and reports that one', async () => {
    const { host, journals, events, parked } = setUp();
    await parked('good');
    const chain = createPostChain({ journals, model: plannedModel({}) });
    const { entries: all, writer: opened } = await journals.open('good');
    await opened.close();
    const started = all.filter(({ type }) => type !== 'closed');
    for (const [kind, entries] of [
      ['run', (await recordedRun()).slice(0, 9)],
      ['actor', started],
    ] as const) {
      await writeJournal(journals, `whole ${kind}`, entries);
      await writeJournal(journals, `damaged ${kind}`, [...entries.slice(0, 1), ...entries]);
    }
    const worker = createWorker({ hosts: [host(), chain], onEvent: (event) => events.push(event) });
    await worker.poll();
    await worker.stop();
    const of = (type: string) => events.flatMap((event) => (event.type === type && 'id' in event ? [event.id] : []));
    expect([of('idle'), of('failed')]).toEqual([
      ['whole actor', 'whole run'],
      ['damaged actor', 'damaged run'],
    ]);
  });
});

describe('a worker of a chain', () => {
  it('resumes interrupted runs, parks those that wait, and continues them when their time is over', async () => {
    const clock = new TestClock();
    const journals = memoryJournals();
    const history = [{ role: 'user' as const, content: `Look into this. ${'It is a long story. '.repeat(80)}` }];
    const create = () =>
      createPostChain({ consent: 'ask', limits: { consentMs: HOUR }, journals, model: plannedModel({}), clock });
    const run = create().run({ request: 'Is it so?', history });
    await settle();
    // The process is killed.
    await (await journals.open(run.id, { force: true })).writer.close();
    expect((await journals.list())[0]?.status).toBe('interrupted');
    const worker = createWorker({ hosts: [create()], clock, pollMs: HOUR });
    await worker.poll();
    expect(await journals.list()).toMatchObject([{ status: 'waiting', waiting: { summary: { for: 'consent' } } }]);
    clock.increment(HOUR);
    await worker.poll();
    expect(await journals.list()).toMatchObject([{ status: 'done', summary: { status: 'completed' } }]);
    const ended = await create().resume(run.id);
    expect(entriesOf(ended, 'consent-resolved')).toMatchObject([{ by: 'time-out' }]);
    await worker.stop();
  });
});

it('other work of the process runs between the actors that a worker or `wake` continues', async () => {
  const { clock, host, parked, work, statuses } = setUp();
  const ids = Array.from({ length: 40 }, (_, number) => `o-${number}`);
  await parked(...ids);
  clock.increment(HOUR);
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  onTestFinished(() => clearImmediate(counting));
  const worker = work();
  await worker.poll();
  await worker.stop();
  expect(Object.values(await statuses())).toEqual(ids.map(() => 'done'));
  expect(turns).toBeGreaterThanOrEqual(ids.length);
  await parked('late-1', 'late-2', 'late-3');
  clock.increment(HOUR);
  turns = 0;
  await host().wake();
  expect(turns).toBeGreaterThanOrEqual(3);
});
