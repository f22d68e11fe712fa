import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import {
  createDurableMachine,
  createSchedules,
  createWorker,
  type EnqueueOptions,
  fileJournals,
  type Journals,
  memoryJournals,
  type QueueOptions,
  type WorkerHost,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { anError } from '../../support/errors.ts';
import { nextTurn, TestClock } from '../../support/simulated-clock.ts';

const MINUTE = 60_000;

interface Input {
  readonly customer: string;
}

/** Orders whose payment ends when the test says so. */
function createOrders() {
  const paying = new Map<string, () => void>();
  const begun: string[] = [];
  const machine = setup({
    types: {
      input: {} as Input | undefined,
      context: {} as { customer: string; begunAt: number; at: number },
    },
    actors: {
      pay: fromPromise<void>(({ self }) => {
        const { id } = (self as never as { _parent: { id: string } })._parent;
        begun.push(id);
        return new Promise((resolve) => void paying.set(id, resolve));
      }),
    },
  }).createMachine({
    id: 'order',
    context: ({ input }) => ({ customer: input?.customer ?? 'nobody', begunAt: Date.now(), at: 0 }),
    initial: 'resting',
    states: {
      resting: {
        after: { [MINUTE]: { target: 'paying', actions: assign({ at: () => Date.now() }) } },
        always: {
          guard: ({ context }) => context.customer !== 'late',
          target: 'paying',
        },
      },
      paying: { invoke: { src: 'pay', onDone: 'paid' } },
      paid: { type: 'final' },
    },
  });
  return { machine, begun, pay: (id: string) => paying.get(id)?.(), ids: () => begun.splice(0) };
}

function setUp(queue: QueueOptions<Input | undefined> = {}, journals: Journals = memoryJournals()) {
  const clock = new TestClock();
  clock.set(Date.parse('2026-01-01T00:00:00Z'));
  const orders = createOrders();
  const hostOn = (store: Journals) => createDurableMachine(orders.machine, { journals: store, clock, queue });
  const host = hostOn(journals);
  const enqueue = async (...given: readonly (string | readonly [string, EnqueueOptions<typeof orders.machine>])[]) => {
    for (const each of given) await (typeof each === 'string' ? host.enqueue(each) : host.enqueue(...each));
  };
  const work = (hosts: readonly WorkerHost[] = [host]) => {
    const worker = createWorker({ hosts, clock, pollMs: 1e12 });
    onTestFinished(() => worker.stop());
    return worker;
  };
  const statuses = async () => Object.fromEntries((await host.list()).map(({ id, status }) => [id, status]));
  /** Lets everything happen that takes no time. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  };
  return { ...orders, clock, host, hostOn, enqueue, work, statuses, settle };
}

describe('a queued actor', () => {
  it('is listed with its place, and a worker begins those with the highest priority first, then the earliest', async () => {
    const { host, enqueue, work, clock, settle, ids, pay } = setUp({ concurrency: 1 });
    await enqueue('a', ['b', { priority: 5 }], ['c', { priority: -1 }], ['d', { delayMs: MINUTE, priority: 9 }], 'e');
    expect(await host.list({ status: 'queued', limit: 1 })).toMatchObject([
      { id: 'a', status: 'queued', waiting: null, queued: { priority: 0, key: null, beginsAtMs: clock.now() } },
    ]);
    const worker = work();
    for (const next of ['b', 'a', 'e', 'c']) {
      await settle();
      expect(ids()).toEqual([next]);
      pay(next);
    }
    await settle();
    expect(ids()).toEqual([]);
    clock.increment(MINUTE);
    void worker.poll();
    await settle();
    expect(ids()).toEqual(['d']);
  });

  it('begins when it is taken: its clock, its delays and its replay count from then', async () => {
    const { host, enqueue, clock, work, settle, ids, pay } = setUp();
    const enqueuedAt = clock.now();
    await enqueue(['a', { input: { customer: 'late' } }]);
    clock.increment(10 * MINUTE);
    await work().poll();
    const { snapshot, pending } = await host.query('a');
    expect([snapshot.value, snapshot.context.begunAt]).toEqual(['resting', enqueuedAt + 10 * MINUTE]);
    expect(pending.timers.map(({ dueAtMs }) => dueAtMs)).toEqual([enqueuedAt + 11 * MINUTE]);
    clock.increment(MINUTE);
    void host.wake();
    await settle();
    expect(ids()).toEqual(['a']);
    pay('a');
    await settle();
    const replayed = await host.replay('a');
    expect([replayed.divergence, replayed.snapshot.context.at]).toEqual([null, enqueuedAt + 11 * MINUTE]);
    const entries = [];
    for await (const entry of host.journals.read('a')) entries.push(entry);
    const fork = await host.fork(entries, { at: 0, input: { customer: 'late' }, id: 'fork' });
    expect(fork.getSnapshot().context.begunAt).toBe(enqueuedAt + 10 * MINUTE);
  });

  it('that is opened begins at once, and counts; one that is stopped or deleted never begins', async () => {
    const { host, enqueue, work, settle, ids, pay, statuses } = setUp({ concurrency: 1 });
    await enqueue('a', 'b', 'c', 'd', 'e');
    await host.open('b');
    await host.stop('c');
    await host.delete('d');
    expect(await host.repair('stop', { ids: ['e'] })).toEqual([{ id: 'e', problem: null }]);
    await settle();
    const worker = work();
    await settle();
    expect(ids()).toEqual(['b']);
    pay('b');
    await settle();
    void worker.poll();
    await settle();
    expect(ids()).toEqual(['a']);
    pay('a');
    await settle();
    expect(await statuses()).toEqual({ a: 'done', b: 'done', c: 'stopped', e: 'stopped' });
  });

  it('is enqueued once with the same input, and rejected with another one', async () => {
    const { host, enqueue, work, settle, pay } = setUp();
    const ann = { input: { customer: 'Ann' } };
    expect([await host.enqueue('a', ann), await host.enqueue('a', ann)]).toEqual([true, false]);
    await expect(host.enqueue('a', { input: { customer: 'Bob' } })).rejects.toThrow(
      anError('journal_exists', /same input/u),
    );
    work();
    await settle();
    expect(await host.enqueue('a', ann)).toBe(false);
    pay('a');
    await settle();
    expect(await host.enqueue('a', ann)).toBe(false);
    await enqueue('b');
  });

  it('waits only for actors with its key if `perKey` has limits', async () => {
    const { enqueue, work, settle, ids, pay, clock } = setUp({
      key: (input) => input?.customer,
      perKey: { concurrency: 1, rate: { starts: 2, everyMs: MINUTE } },
    });
    const of = (customer: string) => ({ input: { customer } });
    await enqueue(['a1', of('Ann')], ['a2', of('Ann')], ['a3', of('Ann')], ['b1', of('Bob')], 'c1', 'c2');
    const worker = work();
    await settle();
    expect(ids().toSorted()).toEqual(['a1', 'b1', 'c1', 'c2']);
    pay('a1');
    await settle();
    expect(ids()).toEqual(['a2']);
    pay('a2');
    await settle();
    expect(ids()).toEqual([]);
    clock.increment(MINUTE);
    void worker.poll();
    await settle();
    expect(ids()).toEqual(['a3']);
  });

  it('that a worker took before it was killed is continued by another one, and counts', async () => {
    const { host, enqueue, work, settle, ids, statuses } = setUp({ concurrency: 1 });
    await enqueue('a', 'b');
    expect(await host.claim(5)).toEqual(['a']);
    expect(await statuses()).toEqual({ a: 'interrupted', b: 'queued' });
    work();
    await settle();
    expect(ids()).toEqual(['a']);
  });

  it('begins without a worker when the program wakes its actors', async () => {
    const { host, enqueue, settle, pay, statuses } = setUp({ concurrency: 1 });
    await enqueue('a', 'b');
    const woken = host.wake();
    for (const id of ['a', 'b']) {
      await settle();
      pay(id);
    }
    expect(await woken).toEqual(['a', 'b']);
    expect(await statuses()).toEqual({ a: 'done', b: 'done' });
  });
});

it('two workers on one SQLite file together never exceed the limits, and begin every actor once', async () => {
  const path = join(temporaryFolder(), 'actors.db');
  const stores = [sqliteJournals(path), sqliteJournals(path)] as const;
  const { hostOn, work, enqueue, settle, begun, pay, statuses } = setUp({ concurrency: 3 }, stores[0]);
  const ids = Array.from({ length: 12 }, (_, index) => `o${index}`);
  await enqueue(...ids);
  for (const store of stores) work([hostOn(store)]);
  const paid = new Set<string>();
  while (paid.size < ids.length) {
    await settle();
    const open = begun.filter((id) => !paid.has(id));
    expect(open.length).toBeLessThanOrEqual(3);
    for (const id of open.slice(0, 1)) {
      pay(id);
      paid.add(id);
    }
  }
  expect(begun.toSorted()).toEqual(ids.toSorted());
  await expect.poll(statuses).toEqual(Object.fromEntries(ids.map((id) => [id, 'done'])));
  for (const store of stores) store.close();
});

it('schedules enqueue the actors of a machine with a queue', async () => {
  const { host, clock, statuses, work } = setUp();
  const schedules = createSchedules({ journals: memoryJournals(), hosts: [host], clock });
  await schedules.set('hourly', { machine: 'order', everyMs: 60 * MINUTE });
  clock.increment(60 * MINUTE);
  await work([schedules]).poll();
  expect(await statuses()).toEqual({ 'hourly/2026-01-01T01:00:00Z': 'queued' });
});

describe('createDurableMachine with a queue', () => {
  it.each<readonly [unknown, RegExp]>([
    [{ concurrency: 0 }, /concurrency of queue: expected a whole number of at least 1; received 0/u],
    [{ rate: { starts: 1 } }, /everyMs of queue: .* received undefined/u],
    [{ perKey: { concurrency: 1.5 } }, /concurrency of perKey/u],
    [{ key: 'customer' }, /key of queue: expected a function/u],
    [{ limit: 1 }, /limit/u],
  ])('refuses %j', (queue, message) => {
    const { machine } = createOrders();
    const create = () => createDurableMachine(machine, { journals: memoryJournals(), queue: queue as never });
    expect(create).toThrow(anError('invalid_option', message));
  });

  it('refuses a store without a queue, and enqueues nothing invalid', async () => {
    const { machine } = createOrders();
    const files = fileJournals(temporaryFolder());
    expect(() => createDurableMachine(machine, { journals: files, queue: {} })).toThrow(
      /memoryJournals, sqliteJournals/u,
    );
    const { host } = setUp({ key: () => '' });
    await expect(createDurableMachine(machine, { journals: files }).enqueue('a')).rejects.toThrow(
      /its store cannot have one/u,
    );
    await expect(host.enqueue('a', { priority: 101 })).rejects.toThrow(/priority of enqueue/u);
    await expect(host.enqueue('a', { delayMs: -1 })).rejects.toThrow(/delayMs of enqueue/u);
    await expect(host.enqueue('a')).rejects.toThrow(/result of "key"/u);
    expect(await host.list()).toEqual([]);
  });
});
