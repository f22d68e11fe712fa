import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { nextTurn, TestClock } from '../../support/simulated-clock.ts';
import { sampleSize } from '../../support/soak.ts';

const HOUR = 3_600_000;

const order = setup({
  types: {
    context: {} as { approved: number; reminders: number },
    events: {} as { type: 'approve' } | { type: 'close' },
  },
  actors: { pay: fromPromise(async () => {}) },
  actions: { count: assign({ approved: ({ context }) => context.approved + 1 }) },
  delays: { patience: HOUR, expiry: 10 * HOUR },
}).createMachine({
  id: 'order',
  context: { approved: 0, reminders: 0 },
  initial: 'waiting',
  on: { close: '.closed' },
  states: {
    waiting: {
      on: { approve: { target: 'paying', actions: 'count' } },
      after: {
        patience: {
          reenter: false,
          actions: assign({ reminders: ({ context }) => context.reminders + 1 }),
        },
        expiry: 'closed',
      },
    },
    paying: { on: { approve: { actions: 'count' } }, invoke: { src: 'pay', onDone: 'waiting' } },
    closed: { type: 'final' },
  },
});

function setUp(options: Partial<Parameters<typeof createDurableMachine>[1]> = {}) {
  const clock = new TestClock();
  clock.set(Date.parse('2026-01-01T00:00:00Z'));
  const journals = memoryJournals();
  const host = () => createDurableMachine(order, { journals, clock, ...options });
  return { clock, journals, host, orders: host(), now: () => clock.now() };
}

describe('an actor that only waits', () => {
  it.each(['counts', 'pauses'] as const)(
    'shows in a replay when its delays end (time: %s)',
    async (timeWithoutProcess) => {
      const { clock, orders, host } = setUp({ timeWithoutProcess });
      await (await orders.open('o')).close();
      clock.increment(HOUR / 2);
      const actor = await orders.open('o');
      const [pending] = Array.from(orders.replaySteps(actor.entries), (step) => step.pending);
      expect(pending?.timers).toHaveLength(2);
      expect(pending).toEqual(actor.pending);
      expect((await host().query('o')).pending).toEqual(actor.pending);
    },
  );

  it('waits since the last event that changed something: an ignored one is not the end of its wait', async () => {
    const { clock, orders, now } = setUp();
    const actor = await orders.open('o');
    const startedMs = now();
    clock.increment(1_000);
    await actor.send({ type: 'aprove' } as never);
    await actor.park();
    expect(await orders.list()).toMatchObject([{ waiting: { sinceMs: startedMs } }]);
    clock.increment(1_000);
    await orders.send('o', { type: 'approve' });
    const approvedMs = now();
    await (await orders.open('o')).park();
    expect(await orders.list()).toMatchObject([{ waiting: { sinceMs: approvedMs } }]);
  });

  it('parks: it leaves no timer, and lists say what it waits for and since when', async () => {
    const { clock, orders, now, host } = setUp({ describeWait: ({ context }) => ({ approved: context.approved }) });
    const actor = await orders.open('o');
    const sinceMs = now();
    clock.increment(1_000);
    expect(await actor.park()).toBe(true);
    expect(clock.openTimers).toBe(0);
    const waiting = { sinceMs, dueAtMs: sinceMs + HOUR, events: ['close', 'approve'], summary: { approved: 0 } };
    expect(await orders.list()).toMatchObject([{ id: 'o', status: 'waiting', waiting }]);
    await expect(actor.send({ type: 'approve' })).rejects.toMatchObject({ code: 'cancelled' });
    // Another process that does nothing with it changes nothing.
    await (await host().open('o')).park();
    expect(await orders.list()).toMatchObject([{ waiting }]);
  });

  it('does not park while a call is in progress, or after its end', async () => {
    const { orders } = setUp();
    const actor = await orders.open('o');
    void actor.send({ type: 'approve' });
    expect(actor.pending.activities).toHaveLength(1);
    expect(await actor.park()).toBe(false);
    await actor.send({ type: 'close' });
    expect(await actor.park()).toBe(false);
    expect(await orders.list()).toMatchObject([{ status: 'done', waiting: null }]);
  });

  it('parks by itself, and a due timer or an event continues it in any process', async () => {
    const { clock, orders, host, journals } = setUp({ parkAfterMs: 60_000 });
    await orders.open('o');
    clock.increment(59_999);
    expect((await orders.list())[0]?.status).toBe('running');
    clock.increment(1);
    await nextTurn();
    expect((await orders.list())[0]?.status).toBe('waiting');
    expect(clock.openTimers).toBe(0);
    // The list alone shows that nothing is due.
    const unread = { ...journals, read: () => Promise.reject(new Error('read')) as never };
    const other = createDurableMachine(order, { journals: unread, clock });
    expect(await other.wake()).toEqual([]);
    clock.increment(HOUR);
    expect(await other.wake()).toEqual(['o']);
    expect(await host().send('o', { type: 'approve' }, { id: '1' })).toBe(true);
    expect(await host().send('o', { type: 'approve' }, { id: '1' })).toBe(false);
    expect((await orders.replay('o')).snapshot.context).toEqual({ approved: 1, reminders: 1 });
    expect((await orders.list())[0]?.status).toBe('waiting');
    expect(clock.openTimers).toBe(0);
    await expect(orders.send('p', { type: 'approve' })).rejects.toMatchObject({ code: 'unknown_journal' });
  });

  it('is stopped by its id, once, and an interrupted call is not made again', async () => {
    const { journals, clock } = setUp();
    let calls = 0;
    const pay = fromPromise<void>(() => new Promise(() => (calls += 1)));
    const host = () => createDurableMachine(order.provide({ actors: { pay } }), { journals, clock });
    const [orders, other] = [host(), host()];
    const actor = await orders.open('o');
    await actor.send({ type: 'approve' });
    await actor.close();
    expect([await other.stop('o'), await other.stop('o')]).toEqual([true, false]);
    expect(await orders.list()).toMatchObject([{ status: 'stopped' }]);
    expect(calls).toBe(1);
    const open = await orders.open('p');
    expect([await orders.stop('p'), open.getSnapshot().status]).toEqual([true, 'stopped']);
    await expect(orders.stop('q')).rejects.toMatchObject({ code: 'unknown_journal' });
  });

  it('stays open if it was open, and an event that it did not receive is sent again', async () => {
    const { orders } = setUp();
    const actor = await orders.open('o');
    expect(await orders.send('o', { type: 'approve' })).toBe(true);
    expect((await orders.list())[0]?.status).toBe('running');
    const [isParked, isProcessed] = await Promise.all([actor.close(), orders.send('o', { type: 'approve' })]);
    expect([isParked, isProcessed]).toEqual([undefined, true]);
    expect((await orders.replay('o')).snapshot.context.approved).toBe(2);
  });

  it.each(['effect', 'call'])('can be parked once its %s has ended, which pending shows', async (kind) => {
    let end = (): void => {};
    const work = () => new Promise<void>((resolve) => (end = resolve));
    const machine = setup({ actions: { mail: work }, actors: { fetch: fromPromise(work) } }).createMachine({
      initial: 'busy',
      states: {
        busy: kind === 'effect' ? { entry: 'mail' } : { invoke: { src: 'fetch', onDone: 'idle' } },
        idle: {},
      },
      on: { go: {} },
    });
    const durable = createDurableMachine(machine, { journals: memoryJournals() });
    const actor = await durable.open('o');
    const { effects, activities } = actor.pending;
    expect([effects, activities.map(({ source }) => source)]).toEqual(
      kind === 'effect' ? [[{ actor: '', action: 'mail' }], []] : [[], ['fetch']],
    );
    expect(await actor.park()).toBe(false);
    const parked = actor.park({ wait: true });
    await nextTurn();
    expect((await durable.list())[0]?.status).toBe('running');
    end();
    expect(await parked).toBe(true);
    expect((await durable.list())[0]?.status).toBe('waiting');
  });

  it('is not parked by a wait if it ends', async () => {
    const machine = setup({ actors: { turn: fromPromise(nextTurn) } }).createMachine({
      initial: 'a',
      states: { a: { invoke: { src: 'turn', onDone: 'b' } }, b: { type: 'final' } },
    });
    const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('o');
    expect(await actor.park({ wait: true })).toBe(false);
  });

  it('is not described as waiting after a kill, until a look continues it', async () => {
    const { orders, journals, host, clock, now } = setUp();
    await (await orders.open('o')).park();
    await host().open('o');
    const { writer } = await journals.open('o', { force: true });
    await writer.close();
    await (await orders.open('p')).park();
    expect(await host().list({ status: 'interrupted' })).toMatchObject([{ id: 'o', waiting: null }]);
    expect(await host().list({ status: ['waiting', 'done'], allMachines: true })).toMatchObject([{ id: 'p' }]);
    expect(await host().due()).toEqual([{ id: 'o', crashes: 1 }]);
    expect(await host().wake()).toEqual(['o']);
    const waiting = { dueAtMs: now() + HOUR, events: ['close', 'approve'] };
    expect(await host().list({ status: 'waiting' })).toMatchObject([{ id: 'o', waiting }, { id: 'p' }]);
    expect(await host().wake()).toEqual([]);
    clock.increment(HOUR);
    expect((await host().wake()).toSorted()).toEqual(['o', 'p']);
  });
});

describe('time without a process', () => {
  it('counts for some delays only, over any number of pauses and a kill', async () => {
    const { clock, journals, host } = setUp({
      timeWithoutProcess: (event) => (event.includes('expiry') ? 'counts' : 'pauses'),
    });
    for (let hour = 0; hour < 8; hour += 1) {
      await (await host().open('o')).park();
      clock.increment(HOUR);
    }
    await host().open('o');
    clock.increment(HOUR / 2);
    // Killed: its last entry is half an hour old.
    const { writer } = await journals.open('o', { force: true });
    await writer.close();
    clock.increment(HOUR);
    const actor = await host().open('o');
    const [patience, expiry] = actor.pending.timers;
    expect([patience?.dueAtMs, expiry?.dueAtMs]).toEqual([clock.now() + HOUR, clock.now() + HOUR / 2]);
    await actor.park();
    expect((await host().list())[0]?.waiting?.dueAtMs).toBe(clock.now() + HOUR / 2);
    clock.increment(HOUR / 2);
    expect(await host().wake()).toEqual(['o']);
    const { divergence, snapshot } = await host().replay('o');
    expect([divergence, snapshot.status, snapshot.context]).toEqual([null, 'done', { approved: 0, reminders: 0 }]);
  });

  it('counts for a delay only from its start, which a killed process may have left to the next one', async () => {
    const { clock, journals, host } = setUp({ timeWithoutProcess: () => 'counts' });
    host().start('o', { isPaused: true });
    for (let kills = 0; kills < 2; kills += 1) {
      await (await journals.open('o', { force: true })).writer.close();
      clock.increment(HOUR / 2);
      const [patience] = (await host().open('o')).pending.timers;
      expect(patience?.dueAtMs).toBe(Date.parse('2026-01-01T01:30:00Z'));
    }
    expect((await host().replay('o')).divergence).toBeNull();
  });

  it('is not recorded after the end of an actor that begins long after it was opened', async () => {
    const { clock, host } = setUp({ timeWithoutProcess: 'pauses' });
    await (await host().open('o')).send({ type: 'close' });
    const actor = await host().open('o', { isPaused: true });
    clock.increment(HOUR);
    actor.begin();
    await actor.close();
    expect(await host().list()).toMatchObject([{ status: 'done' }]);
  });
});

const SEEDS = Array.from({ length: sampleSize('simulations of parking', 20, 2_000) }, (_, index) => SEED + index);

describe('parking, sending, killing and resuming at random', () => {
  it.each(SEEDS)('loses and repeats no event (seed %i)', async (seed) => {
    const random = createRandom(seed);
    const { clock, journals, host } = setUp({ parkAfterMs: 30 * 60_000 });
    let process = host();
    await (await process.open('o')).park();
    const sent = new Set<string>();
    for (let step = 0; step < 40; step += 1) {
      const actions = [
        async () => void (await (await process.open('o')).park()),
        async () => {
          const id = String(random.int(1, 6));
          sent.add(id);
          await process.send('o', { type: 'approve' }, { id });
        },
        async () => {
          // Parking races with the event.
          const actor = await process.open('o');
          const id = String(random.int(1, 6));
          sent.add(id);
          await Promise.all([actor.park(), process.send('o', { type: 'approve' }, { id })]);
        },
        async () => {
          // The process is killed: it stores nothing more.
          const { writer } = await journals.open('o', { force: true });
          await writer.close();
          process = host();
        },
        async () => {
          await process.open('o');
          clock.increment(random.int(0, 19) * 60_000);
        },
        async () => void (await process.wake()),
      ];
      await random.pick(actions)();
      await nextTurn();
    }
    const actor = await process.open('o');
    await nextTurn();
    await actor.park();
    const { divergence, snapshot } = await process.replay('o');
    expect(divergence).toBeNull();
    if (snapshot.status === 'active') expect(snapshot.context.approved).toBe(sent.size);
  });
});
