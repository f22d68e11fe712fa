import { describe, expect, it, vi } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import {
  createDurableMachine,
  createWorker,
  type DurableEntry,
  fromDurable,
  type JournalStore,
  memoryJournals,
  PostChainError,
} from '../../../src/entries/durable.ts';
import { quiet } from '../../support/durable-runs.ts';
import { mortalStore, NOTHING } from '../../support/mortal-store.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const HOUR = 3_600_000;

/** A shipment packs, waits an hour, and ends with a number. */
const shipment = setup({
  types: { input: {} as { order: string }, context: {} as { order: string; notes: number }, output: {} as string },
  actors: { pack: fromPromise<void, string>(async () => {}) },
  delays: { drive: HOUR },
}).createMachine({
  id: 'shipment',
  context: ({ input }) => ({ ...input, notes: 0 }),
  initial: 'packing',
  on: { note: { actions: assign({ notes: ({ context }) => context.notes + 1 }) } },
  states: {
    packing: { invoke: { src: 'pack', input: ({ context }) => context.order, onDone: 'driving', onError: 'lost' } },
    driving: { after: { drive: 'delivered' } },
    delivered: { type: 'final' },
    lost: {
      entry: () => {},
      always: {
        target: 'delivered',
        guard: () => {
          throw new Error('the parcel is lost');
        },
      },
    },
  },
  output: ({ context }) => `${context.order} delivered, ${context.notes} notes`,
});

type Packing = (order: string) => Promise<void>;

function hostsOn(journals: JournalStore, clock = new TestClock(), pack: Packing = async () => {}) {
  const log = vi.fn();
  const options = { journals, clock, logger: log };
  const packed = shipment.provide({ actors: { pack: fromPromise<void, string>(({ input }) => pack(input)) } });
  const shipments = createDurableMachine(packed, options);
  const order = setup({
    types: { context: {} as { receipt: string | null; error: string | null } },
    actors: { ship: fromDurable(shipments) },
  }).createMachine({
    id: 'order',
    context: { receipt: null, error: null },
    initial: 'shipping',
    states: {
      shipping: {
        invoke: {
          id: 'ship',
          src: 'ship',
          input: { order: 'A7' },
          onDone: { target: 'shipped', actions: assign({ receipt: ({ event }) => event.output }) },
          onError: { target: 'refunded', actions: assign({ error: ({ event }) => String(event.error) }) },
        },
        on: { cancel: 'canceled', note: { actions: ({ self }) => void self } },
      },
      canceled: { on: { again: 'shipping' } },
      shipped: { type: 'final' },
      refunded: { type: 'final' },
    },
    output: ({ context }) => context.receipt,
  });
  const orders = createDurableMachine(order, options);
  const child = async () => (await shipments.list())[0]?.id ?? 'none';
  return { journals, clock, log, orders, shipments, order, options, child };
}

/** Continues all actors until there is nothing to do. */
async function settle({ orders, shipments }: Pick<ReturnType<typeof hostsOn>, 'orders' | 'shipments'>) {
  for (let count = 1; count > 0; ) count = [...(await orders.wake()), ...(await shipments.wake())].length;
}

describe('a child process', () => {
  it('has its own journal, and its parent, which can be parked meanwhile, ends with its output', async () => {
    const hosts = hostsOn(memoryJournals());
    const { orders, shipments, clock } = hosts;
    const order = await orders.open('o-1');
    expect(await order.park({ wait: true })).toBe(true);
    const [summary] = await shipments.list({ where: { parent: 'o-1' } });
    expect(summary).toMatchObject({ status: 'interrupted', machine: { id: 'shipment' } });
    const entries = (await orders.replay('o-1')).pending;
    expect(entries.effects).toEqual([]);
    await settle(hosts);
    expect(await orders.list()).toMatchObject([{ status: 'waiting' }]);
    expect(await shipments.list()).toMatchObject([
      { status: 'waiting', id: expect.stringMatching(/^o-1\/ship:[0-9a-f]{16}$/u) },
    ]);
    clock.increment(HOUR);
    await settle(hosts);
    expect((await orders.query('o-1')).snapshot.output).toBe('A7 delivered, 0 notes');
    expect([...(await orders.list()), ...(await shipments.list())].map(({ status }) => status)).toEqual([
      'done',
      'done',
    ]);
    for (const [host, id] of [
      [orders, 'o-1'],
      [shipments, await hosts.child()],
    ] as const)
      expect((await host.replay(id)).divergence).toBeNull();
    expect(await hosts.journals.mail?.receivers()).toEqual([]);
  });

  it('has an id that its store can keep, however long that of its parent is', async () => {
    const hosts = hostsOn(memoryJournals());
    const id = 'x'.repeat(2_598);
    await (await hosts.orders.open(id)).park({ wait: true });
    expect(await hosts.child()).toMatch(/^[0-9a-f]{16}:[0-9a-f]{16}$/u);
    await settle(hosts);
    hosts.clock.increment(HOUR);
    await settle(hosts);
    expect((await hosts.orders.query(id)).snapshot.output).toBe('A7 delivered, 0 notes');
    expect((await hosts.orders.replay(id)).divergence).toBeNull();
  });

  it('is continued by a worker at once, and its result too', async () => {
    const { orders, shipments, clock, log } = hostsOn(memoryJournals());
    const worker = createWorker({ hosts: [orders, shipments], pollMs: 1e9 });
    await worker.poll();
    const order = await orders.open('o-1');
    await expect.poll(async () => (await shipments.list())[0]?.status).toBe('waiting');
    clock.increment(HOUR);
    await worker.poll();
    expect(await order.output).toBe('A7 delivered, 0 notes');
    await worker.stop();
    expect(log).not.toHaveBeenCalled();
  });

  it('is stopped when its parent is deleted', async () => {
    const hosts = hostsOn(memoryJournals());
    await (await hosts.orders.open('o-1')).park({ wait: true });
    await settle(hosts);
    await hosts.orders.delete('o-1');
    await settle(hosts);
    expect(await hosts.shipments.list()).toMatchObject([{ status: 'stopped' }]);
    expect(await hosts.orders.list()).toEqual([]);
    expect(hosts.log).not.toHaveBeenCalled();
  });

  it.each([
    ['has begun', 1],
    ['has not begun', 0],
  ])('that %s is stopped, without another call, when a parent that cannot be opened is deleted', async (_, calls) => {
    const pack = vi.fn(async () => {});
    const hosts = hostsOn(memoryJournals(), new TestClock(), pack);
    await (await hosts.orders.open('o-1')).park({ wait: true });
    if (calls > 0) await settle(hosts);
    const changed = setup({}).createMachine({ id: 'order', initial: 'other', states: { other: {} } });
    const orders = createDurableMachine(changed, { journals: hosts.journals, logger: hosts.log });
    await expect(orders.open('o-1')).rejects.toMatchObject({ code: 'diverged' });
    await orders.delete('o-1');
    await settle(hosts);
    expect(await hosts.shipments.list()).toMatchObject([{ status: 'stopped' }]);
    expect(pack).toHaveBeenCalledTimes(calls);
  });

  it('reports its result when it is opened again, if the store refuses it at first', async () => {
    const inner = memoryJournals();
    const box = inner.mail as NonNullable<typeof inner.mail>;
    let refusals = 2;
    const post: typeof box.post = async (to, id, message) => {
      if (message.type === 'event' && refusals > 0) {
        refusals -= 1;
        throw new PostChainError('journal_failed', 'disk full');
      }
      await box.post(to, id, message);
    };
    const hosts = hostsOn({ ...inner, mail: { ...box, post } });
    const { orders, shipments, clock, log } = hosts;
    await (await orders.open('o-1')).park({ wait: true });
    await settle(hosts);
    clock.increment(HOUR);
    await shipments.wake();
    expect(await shipments.list()).toMatchObject([{ status: 'interrupted' }]);
    await settle(hosts);
    await settle(hosts);
    expect((await orders.query('o-1')).snapshot.output).toBe('A7 delivered, 0 notes');
    expect(await shipments.list()).toMatchObject([{ status: 'done' }]);
    expect(log).toHaveBeenCalledTimes(2);
    expect((await shipments.replay(await hosts.child())).divergence).toBeNull();
  });

  it('that fails or is stopped ends its parent’s call with the error', async () => {
    const hosts = hostsOn(memoryJournals(), new TestClock(), async () => {
      throw new Error('no boxes');
    });
    await (await hosts.orders.open('o-1')).park({ wait: true });
    await settle(hosts);
    expect((await hosts.orders.query('o-1')).snapshot.context.error).toBe('Error: the parcel is lost');
    const stopped = hostsOn(memoryJournals());
    await (await stopped.orders.open('o-1')).park({ wait: true });
    await stopped.shipments.stop(await stopped.child());
    await settle(stopped);
    expect((await stopped.orders.query('o-1')).snapshot.context.error).toMatch(/was stopped, so it has no output/u);
  });

  it.each(['leaves the state', 'is stopped'])('is stopped when its parent %s', async (how) => {
    const hosts = hostsOn(memoryJournals());
    const order = await hosts.orders.open('o-1');
    await quiet(() => order.entries.length);
    if (how === 'is stopped') await order.stop();
    else await order.send({ type: 'cancel' });
    await expect.poll(async () => (await hosts.shipments.list())[0]?.status).toBe('stopped');
    await settle(hosts);
    expect(await hosts.journals.mail?.receivers()).toEqual([]);
    if (how === 'is stopped') return;
    await order.send({ type: 'again' });
    await expect.poll(async () => (await hosts.shipments.list()).length).toBe(2);
  });

  it.each(['has not begun', 'waits'])(
    'is stopped when it is deleted and %s, so that its parent does not wait for it',
    async (when) => {
      const hosts = hostsOn(memoryJournals());
      await (await hosts.orders.open('o-1')).park({ wait: true });
      if (when === 'waits') await settle(hosts);
      await hosts.shipments.delete(await hosts.child());
      expect(await hosts.shipments.list()).toEqual([]);
      await settle(hosts);
      expect((await hosts.orders.query('o-1')).snapshot.context.error).toMatch(/was stopped, so it has no output/u);
      expect(hosts.log).not.toHaveBeenCalled();
    },
  );

  it('is not started if its parent leaves the state in the same step', async () => {
    const hosts = hostsOn(memoryJournals());
    const order = await hosts.orders.open('o-1', { isPaused: true });
    const sent = order.send({ type: 'cancel' });
    order.begin();
    await sent;
    await quiet(() => order.entries.length);
    await settle(hosts);
    expect((await hosts.shipments.list()).map(({ status }) => status).filter((status) => status !== 'stopped')).toEqual(
      [],
    );
  });

  it('needs the store of its parent, and messages', async () => {
    const { shipments } = hostsOn(memoryJournals());
    const { order } = hostsOn(memoryJournals());
    const other = createDurableMachine(order.provide({ actors: { ship: fromDurable(shipments) } }), {
      journals: memoryJournals(),
    });
    const actor = await other.open('o-1');
    await quiet(() => actor.entries.length);
    expect(actor.getSnapshot().context.error).toMatch(
      /child o-1\/ship:\w+: expected a durable machine with the same store as its parent: pass both the same object as "journals"\.$/u,
    );
    const { mail: _, ...journals } = memoryJournals();
    const without = await hostsOn(journals).orders.open('o-1');
    await quiet(() => without.entries.length);
    expect(without.getSnapshot().context.error).toMatch(/its store keeps no messages/u);
  });

  it('of a fork is its own', async () => {
    const hosts = hostsOn(memoryJournals());
    const { orders, shipments, clock } = hosts;
    const order = await orders.open('o-1');
    await quiet(() => order.entries.length);
    const fork = await orders.fork('o-1', { at: order.entries.length - 1, id: 'o-2' });
    await quiet(() => fork.entries.length);
    await order.park();
    await fork.park();
    const ids = (await shipments.list()).map(({ id }) => id.replace(/:.*/u, '')).sort();
    expect(ids).toEqual(['o-1/ship', 'o-2/ship']);
    const started = (entries: readonly DurableEntry[]) =>
      entries.flatMap((entry) => (entry.type === 'effect' ? [Object(entry.subject).child] : []));
    expect(started(fork.entries)).toEqual((await shipments.list({ where: { parent: 'o-2' } })).map(({ id }) => id));
    await settle(hosts);
    clock.increment(HOUR);
    await settle(hosts);
    expect((await orders.query('o-2')).snapshot.output).toBe('A7 delivered, 0 notes');
    expect((await orders.replay('o-2')).divergence).toBeNull();
    const fork2 = await shipments.fork(await hosts.child(), { at: 1, id: 'alone' });
    expect(Object.hasOwn(fork2.entries[0] as object, 'parent')).toBe(false);
  });

  it('receives the events that its parent sends to it', async () => {
    const hosts = hostsOn(memoryJournals());
    const order = await hosts.orders.open('o-1');
    order.getSnapshot().children['ship']?.send({ type: 'note' } as never);
    await quiet(() => order.entries.length);
    await settle(hosts);
    expect((await hosts.shipments.query(await hosts.child())).snapshot.context.notes).toBe(1);
  });

  it('that failed can be retried, and its failure skipped in a parent that failed with it', async () => {
    let isBroken = true;
    const { journals, clock, shipments, order, options } = hostsOn(memoryJournals(), new TestClock(), async () => {
      if (isBroken) throw new Error('no boxes');
    });
    const parent = setup({ actors: { ship: fromDurable(shipments) } }).createMachine({
      id: 'parent',
      initial: 'shipping',
      states: { shipping: { invoke: { src: 'ship', input: { order: 'A7' }, onDone: 'shipped' } }, shipped: {} },
    });
    expect(order.id).toBe('order');
    const orders = createDurableMachine(parent, options);
    await (await orders.open('o-1')).park({ wait: true });
    await settle({ orders: orders as never, shipments });
    expect(await orders.list()).toMatchObject([{ status: 'error', reason: 'the parcel is lost' }]);
    await expect(orders.retry('o-1')).rejects.toMatchObject({ code: 'not_repairable' });
    await orders.skip('o-1', { output: 'sent by hand' });
    expect((await orders.query('o-1')).snapshot.value).toBe('shipped');
    isBroken = false;
    const [{ id } = { id: '' }] = await shipments.list();
    await shipments.skip(id).catch(() => {});
    await settle({ orders: orders as never, shipments });
    clock.increment(HOUR);
    await settle({ orders: orders as never, shipments });
    expect((await orders.replay('o-1')).divergence).toBeNull();
    expect(await journals.mail?.receivers()).toEqual([]);
  });

  it('starts once and reports once, wherever the processes die', async () => {
    const packed: string[] = [];
    const run = async (life: number) => {
      const clock = new TestClock();
      let process = await mortalStore(NOTHING, life);
      const start = () => hostsOn(process.store, clock, async (order) => void packed.push(order));
      let hosts = start();
      const act = async (step: () => Promise<unknown>): Promise<void> => {
        step().catch(() => {});
        await quiet(() => process.count());
        if (!process.isDead()) return;
        process = await mortalStore(await process.stored());
        hosts = start();
        await step();
        await quiet(() => process.count());
      };
      await act(async () => (await hosts.orders.open('o-1')).park({ wait: true }));
      await act(() => settle(hosts));
      clock.increment(HOUR);
      await act(() => settle(hosts));
      await settle(hosts);
      const { snapshot } = await hosts.orders.query('o-1');
      const children = await hosts.shipments.list();
      const divergence = [
        (await hosts.orders.replay('o-1')).divergence,
        (await hosts.shipments.replay(await hosts.child())).divergence,
      ];
      return {
        total: process.count(),
        output: snapshot.output,
        children: children.map(({ status }) => status),
        divergence,
        mail: await process.store.mail?.receivers(),
      };
    };
    const { total, ...end } = await run(Number.POSITIVE_INFINITY);
    expect(end).toEqual({ output: 'A7 delivered, 0 notes', children: ['done'], divergence: [null, null], mail: [] });
    expect(total).toBeGreaterThan(15);
    for (let life = 0; life < total; life += 1) expect(await run(life), `killed at write ${life}`).toMatchObject(end);
  });
});
