import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { assign, cancel, sendTo, setup } from 'xstate';
import type { Message } from '../../../src/durable/journals/mailbox.ts';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import {
  createDurableMachine,
  createWorker,
  customJournals,
  durable,
  fileJournals,
  type JournalStore,
  type Json,
  memoryJournals,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { quiet } from '../../support/durable-runs.ts';
import { withWriters } from '../../support/journal-files.ts';
import { mortalStore, NOTHING } from '../../support/mortal-store.ts';
import { nextTurn, TestClock } from '../../support/simulated-clock.ts';

const HOUR = 3_600_000;

const counter = setup({
  types: {
    context: {} as { added: readonly number[] },
    events: {} as { type: 'add'; count: number } | { type: 'close' } | { type: 'tell' },
    emitted: {} as { type: 'added'; count: number },
  },
}).createMachine({
  id: 'counter',
  context: { added: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        add: { actions: assign({ added: ({ context, event }) => [...context.added, event.count] }) },
        close: 'closed',
      },
    },
    closed: { type: 'final' },
  },
});

const add = (count: number) => ({ type: 'add', count }) as const;
const message = (id: string, event: Json): Message => ({ id, type: 'event', event });

function setUp(journals: JournalStore = memoryJournals()) {
  const log = vi.fn();
  const host = () => createDurableMachine(counter, { journals, logger: log });
  const mail = journals.mail as NonNullable<JournalStore['mail']>;
  const added = async (id: string) => (await host().query(id)).snapshot.context.added;
  return { journals, mail, log, host, added };
}

/** Files and SQLite are polled twice a second, as a sender polls that waits: here without a pause. */
function pollsWithoutPause(): void {
  const { setInterval } = globalThis;
  const spy = vi.spyOn(globalThis, 'setInterval').mockImplementation((act) => setInterval(act, 1));
  onTestFinished(() => spy.mockRestore());
}

const stores: Record<string, () => JournalStore> = {
  memory: () => memoryJournals(),
  files: () => fileJournals(join(temporaryFolder(), 'actors')),
  SQLite: () => {
    const store = sqliteJournals(join(temporaryFolder(), 'actors.db'));
    onTestFinished(() => store.close());
    return store;
  },
};

describe('an event for an actor that another process holds', () => {
  it.each(Object.entries(stores))('is stored, and that process takes it, in order and once (%s)', async (_, open) => {
    pollsWithoutPause();
    const { host, added, mail } = setUp(open());
    const [holder, sender] = [host(), host()];
    const actor = await holder.open('a');
    expect(await sender.send('a', add(1), { id: 'one' })).toBe(true);
    expect(await sender.send('a', add(2))).toBe(true);
    expect(await sender.send('a', add(9), { id: 'one' })).toBe(true);
    expect((await sender.send('a', add(3), { reply: true })).snapshot.context).toEqual({ added: [1, 2, 3] });
    expect(actor.getSnapshot().context.added).toEqual([1, 2, 3]);
    await expect.poll(() => mail.receivers()).toEqual([]);
    expect(await sender.stop('a')).toBe(true);
    await expect.poll(() => actor.getSnapshot().status).toBe('stopped');
    expect(await added('a')).toEqual([1, 2, 3]);
  });

  it('is validated before it is stored, and rejected if the store has no mailbox', async () => {
    const { host, journals, mail } = setUp();
    await host().open('a');
    const sender = host();
    await expect(sender.send('a', { type: '*' } as never)).rejects.toMatchObject({ code: 'invalid_option' });
    await expect(sender.send('a', add(1), { id: '' })).rejects.toMatchObject({ code: 'invalid_option' });
    await expect(sender.send('a', { ...add(1), no: () => {} } as never)).rejects.toMatchObject({ code: 'not_durable' });
    expect(await mail.receivers()).toEqual([]);
    const { mail: _, ...without } = journals;
    const other = createDurableMachine(counter, { journals: without });
    await expect(other.send('a', add(1))).rejects.toMatchObject({ code: 'journal_held' });
    await expect(other.stop('a')).rejects.toMatchObject({ code: 'journal_held' });
  });

  it('whose reply is awaited is rejected if the machine ignores it', async () => {
    pollsWithoutPause();
    const { host } = setUp();
    await host().open('a');
    await expect(host().send('a', { type: 'tell' }, { reply: true })).rejects.toMatchObject({ code: 'event_ignored' });
    const answer = { type: 'approval.given', id: 'x', digest: 'y', decision: 'deny' } as const;
    await expect(host().send('a', answer, { reply: true })).rejects.toMatchObject({ code: 'event_ignored' });
  });

  it('that the holder cannot decode is set aside with the reason: an awaited reply rejects, and nothing polls for it', async () => {
    pollsWithoutPause();
    const { host, journals, mail } = setUp();
    class Money {}
    const codec = {
      name: 'Money',
      is: (given: unknown) => given instanceof Money,
      encode: () => 0,
      decode: () => new Money(),
    };
    const sender = createDurableMachine(counter, { journals, codecs: [codec] });
    const actor = await host().open('a');
    const paid = { ...add(1), money: new Money() };
    const sent = sender.send('a', paid, { reply: true, id: 'one' });
    await expect(sent).rejects.toMatchObject({
      code: 'invalid_journal',
      message: expect.stringMatching(/could not read the message one: .*Money/u),
    });
    await expect(sender.send('a', paid, { reply: true, id: 'one' })).rejects.toMatchObject({ code: 'invalid_journal' });
    expect((await sender.send('a', add(2), { reply: true })).snapshot.context.added).toEqual([2]);
    await actor.close();
    await host().wake();
    const opened = vi.spyOn(journals, 'open');
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(opened).not.toHaveBeenCalled();
    expect(await mail.read('a')).toHaveLength(2);
    await (await sender.open('a')).close();
    expect(await mail.receivers()).toEqual([]);
  });

  it('is processed by the sender if the holder closes the actor without it', async () => {
    pollsWithoutPause();
    const { host, journals, added } = setUp();
    // This process never looks.
    const blind = { ...journals, mail: { ...journals.mail, watch: () => () => {} } } as JournalStore;
    const actor = await createDurableMachine(counter, { journals: blind }).open('a');
    await host().send('a', add(1));
    await actor.close();
    await expect.poll(() => added('a'), { timeout: 5_000 }).toEqual([1]);
  });
});

it('a process that sends a hundred events to an actor that another one holds looks once whether they are taken', async () => {
  const { journals, host } = setUp();
  const read = vi.fn((to: string) => (journals.mail as NonNullable<typeof journals.mail>).read(to));
  const counted = { ...journals, mail: { ...journals.mail, read, watch: () => () => {} } } as JournalStore;
  const actor = await host().open('a');
  const sender = createDurableMachine(counter, { journals: counted });
  for (let count = 0; count < 100; count += 1) await sender.send('a', add(count));
  expect(read.mock.calls.length).toBeLessThan(5);
  await actor.close();
});

describe('a message for an actor that no process holds', () => {
  it.each(Object.entries(stores))('comes first when the actor is opened (%s)', async (_, open) => {
    const { host, added, mail } = setUp(open());
    await (await host().open('a')).close();
    await mail.post('a', 'one', message('one', add(1)));
    await mail.post('a', 'two', message('two', add(2)));
    await host().send('a', add(3));
    expect(await added('a')).toEqual([1, 2, 3]);
    expect(await mail.read('a')).toEqual([]);
    expect((await host().list())[0]?.status).toBe('waiting');
    await mail.post('a', 'four', message('four', add(4)));
    const actor = await host().open('a');
    await actor.send(add(5));
    expect(actor.getSnapshot().context.added).toEqual([1, 2, 3, 4, 5]);
  });

  it('that has failed is processed when the actor is retried, although others are open', async () => {
    let isBroken = true;
    const store = setUp();
    const machine = setup({
      actions: {
        fail: () => {
          if (isBroken) throw new Error('broken');
        },
      },
    }).createMachine({
      id: 'fragile',
      on: { go: { actions: 'fail' } },
      initial: 'a',
      states: { a: { on: { add: 'b' } }, b: {} },
    });
    const host = createDurableMachine(machine, { journals: store.journals, logger: store.log });
    await host.open('other');
    await host.open('a').then((actor) => actor.send({ type: 'go' }));
    await expect.poll(async () => (await host.list({ status: 'error' })).length, { timeout: 5_000 }).toBe(1);
    await store.mail.post('a', 'one', message('one', add(1)));
    isBroken = false;
    await host.retry('a');
    expect((await host.query('a')).snapshot.value).toBe('b');
    await (await host.open('other')).close();
  });

  it('makes the actor due, and a worker continues it without waiting for its next poll', async () => {
    pollsWithoutPause();
    const { host, added, mail } = setUp();
    await (await host().open('a')).close();
    const other = setup({}).createMachine({ id: 'other' });
    await (await createDurableMachine(other, { journals: host().journals }).open('b')).close();
    const worker = createWorker({ hosts: [host()], pollMs: 1e9 });
    await worker.poll();
    await mail.post('b', 'zero', message('zero', add(0)));
    await mail.post('a', 'one', message('one', add(1)));
    expect(await host().due()).toEqual([{ id: 'a', crashes: 0 }]);
    await expect.poll(() => added('a')).toEqual([1]);
    await mail.post('a', 'two', message('two', add(2)));
    await expect.poll(() => added('a'), { timeout: 5_000 }).toEqual([1, 2]);
    await worker.stop();
    expect(await mail.receivers()).toEqual(['b']);
    expect(await host().wake()).toEqual([]);
  });

  it('is removed if that actor has ended or is deleted', async () => {
    const { host, mail } = setUp();
    await host().open('a');
    await (await host().open('b')).close();
    for (const id of ['a', 'b']) await host().send(id, { type: 'close' });
    await expect.poll(async () => (await host().list({ status: 'done' })).length).toBe(2);
    await mail.post('a', 'late', message('late', add(1)));
    await mail.post('b', 'late', message('late', add(1)));
    await host().delete('b');
    expect(await mail.receivers()).toEqual(['a']);
    await host().wake();
    expect(await mail.receivers()).toEqual([]);
    await expect(mail.post('b', 'x', message('x', add(1)))).rejects.toMatchObject({ code: 'unknown_journal' });
  });

  it('stays in the store and is logged once if it cannot be read; the others are taken', async () => {
    pollsWithoutPause();
    const folder = temporaryFolder();
    const key = (name: string) => ({
      codec: {
        encode: (line: string) => `${name}:${line}`,
        decode(line: string) {
          if (!line.startsWith(`${name}:`)) throw new Error('another key');
          return line.slice(name.length + 1);
        },
      },
    });
    const { host, mail, log, added } = setUp(fileJournals(folder, key('new')));
    const actor = await host().open('a');
    await fileJournals(folder, key('old')).mail?.post('a', 'one', message('one', add(1)));
    await mail.post('a', 'two', message('two', { $: 'NoSuchCodec' } as never));
    await mail.post('a', 'three', message('three', add(3)));
    await expect.poll(() => actor.getSnapshot().context.added, { timeout: 5_000 }).toEqual([3]);
    await actor.close();
    await host().wake();
    expect(await added('a')).toEqual([3]);
    expect((await mail.read('a')).map(({ id, type }) => [id, type])).toContainEqual(['one', 'unreadable']);
    expect(log.mock.calls.map(([text]) => text)).toContain('actor a: the message one stays in the store:');
  });

  it('reaches it once, wherever a process that takes it dies', async () => {
    const run = async (life: number) => {
      let process = await mortalStore(NOTHING, life);
      let host = createDurableMachine(counter, { journals: process.store });
      const opened = host.open('a');
      opened.catch(() => {});
      await quiet(() => process.count());
      // Other processes post.
      const stored = async () => ({ ...(await process.stored()) });
      if (!process.isDead())
        for (const count of [1, 2]) {
          void process.store.mail?.post('a', `m${count}`, message(`m${count}`, add(count)));
          await quiet(() => process.count());
        }
      const total = process.count();
      process = await mortalStore(await stored());
      host = createDurableMachine(counter, { journals: process.store });
      await host.open('a');
      // A sender that got no answer posts again.
      for (const count of [1, 2]) await process.store.mail?.post('a', `m${count}`, message(`m${count}`, add(count)));
      await quiet(() => process.count());
      const { snapshot } = await host.query('a');
      return { total, added: snapshot.context.added, mail: await process.store.mail?.receivers() };
    };
    const { total } = await run(Number.POSITIVE_INFINITY);
    expect(total).toBeGreaterThan(5);
    for (let life = 0; life < total; life += 1)
      expect(await run(life), `killed at write ${life}`).toMatchObject({ added: [1, 2], mail: [] });
  });
});

it('a custom store whose backend has no `mail` has no mailbox', () => {
  const backend = { create() {}, reopen() {}, lines() {}, bounds() {}, remove() {} };
  expect(customJournals(backend as never).mail).toBeUndefined();
});

const shop = setup({
  types: {
    context: {} as { to: string },
    input: {} as { to: string },
    events: {} as { type: 'order'; count: number } | { type: 'later' } | { type: 'withdraw' } | { type: 'bad' },
  },
  delays: { hour: HOUR },
}).createMachine({
  id: 'shop',
  context: ({ input }) => input,
  on: {
    order: {
      actions: sendTo(
        ({ context }) => durable<typeof counter>(context.to),
        ({ event }) => add(event.count),
      ),
    },
    later: { actions: sendTo(({ context }) => durable(context.to), add(60), { delay: 'hour', id: 'later' }) },
    withdraw: { actions: cancel('later') },
    bad: { actions: sendTo(({ context }) => durable(context.to), { type: 'add', count: () => {} }) },
  },
});

describe('an event that a chart sends to a durable actor', () => {
  async function openShop(journals: JournalStore = memoryJournals(), to = 'a') {
    const clock = new TestClock();
    const log = vi.fn();
    const counters = createDurableMachine(counter, { journals, clock, logger: log });
    const shops = createDurableMachine(shop, { journals, clock, logger: log });
    await (await counters.open('a')).close();
    const actor = await shops.open('s', { input: { to } });
    const added = async () => (await counters.query('a')).snapshot.context.added;
    return { journals, clock, log, counters, shops, actor, added };
  }

  it('reaches an actor of another machine, whether it is open or not', async () => {
    const { counters, actor, added } = await openShop();
    await actor.send({ type: 'order', count: 1 });
    await expect.poll(() => counters.wake()).toEqual(['a']);
    expect(await added()).toEqual([1]);
    await counters.open('a');
    await actor.send({ type: 'order', count: 2 });
    await expect.poll(added).toEqual([1, 2]);
    expect(actor.entries).toContainEqual(expect.objectContaining({ type: 'effect', subject: { to: 'a' } }));
  });

  it('arrives in the order in which it was sent, also if the store takes longer for the first one', async () => {
    const { journals, host, added, mail } = setUp();
    const post: typeof mail.post = async (to, id, posted) => {
      if (id.endsWith(':0')) for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      await mail.post(to, id, posted);
    };
    const sends = [1, 2, 3].map((count) => sendTo(() => durable<typeof counter>('a'), add(count)));
    const sender = setup({}).createMachine({ id: 'sender', entry: sends });
    await (await host().open('a')).close();
    const senders = createDurableMachine(sender, { journals: { ...journals, mail: { ...mail, post } } });
    await (await senders.open('s')).park({ wait: true });
    await host().wake();
    expect(await added('a')).toEqual([1, 2, 3]);
  });

  it('has an id that its receiver keeps only while the message may come again', async () => {
    const journals = withWriters(memoryJournals(), (writer) => Object.assign(writer, { keyframeEvery: 20 }));
    const { counters, actor, added } = await openShop(journals);
    await counters.send('a', add(0), { id: 'chosen' });
    for (let count = 1; count <= 30; count += 1) {
      await actor.send({ type: 'order', count });
      await expect.poll(() => counters.wake()).toEqual(['a']);
    }
    const holder = await counters.open('a');
    const other = createDurableMachine(counter, { journals });
    for (let count = 31; count <= 60; count += 1) await other.send('a', add(count));
    await expect.poll(() => holder.getSnapshot().context.added.at(-1)).toBe(60);
    await other.send('a', add(61), { reply: true });
    for (let count = 0; count < 40; count += 1) await holder.send({ type: 'tell' });
    expect(await added()).toEqual(Array.from({ length: 62 }, (_, count) => count));
    const keyframe = holder.entries.findLast((entry) => entry.type === 'keyframe');
    expect(keyframe?.state.sentIds).toContain('chosen');
    expect(keyframe?.state.sentIds.length).toBeLessThan(5);
    await holder.close();
    expect((await counters.replay('a')).divergence).toBeNull();
  });

  it('is sent when its delay has elapsed, unless it is canceled', async () => {
    const { counters, clock, actor, added } = await openShop();
    await actor.send({ type: 'later' });
    await actor.send({ type: 'withdraw' });
    clock.increment(HOUR);
    await actor.send({ type: 'later' });
    expect(await counters.wake()).toEqual([]);
    clock.increment(HOUR);
    await nextTurn();
    expect(await counters.wake()).toEqual(['a']);
    expect(await added()).toEqual([60]);
  });

  it.each([
    [
      'its receiver does not exist',
      'none',
      { type: 'order', count: 1 } as const,
      'unknown_journal',
      /actor s: its event "add" cannot be sent to actor none: There is no journal "none"/u,
    ],
    [
      'it cannot be stored',
      'a',
      { type: 'bad' } as const,
      'not_durable',
      /actor s: its event "add" cannot be sent to actor a: .*function/u,
    ],
  ])('ends its sender with an error if %s', async (_, to, event, code, message) => {
    const { actor } = await openShop(memoryJournals(), to);
    const output = actor.output.catch((error: unknown) => error);
    await actor.send(event);
    expect(await output).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('ends its sender with an error if the store keeps no messages', async () => {
    const { mail: _, ...journals } = memoryJournals();
    const { actor } = await openShop(journals);
    const output = actor.output.catch((error: Error) => error.message);
    await actor.send({ type: 'order', count: 1 });
    expect(await output).toMatch(/^actor s: its event "add" cannot be sent to actor a: its store keeps no messages/u);
  });

  it('cannot be sent through its reference by other code', () => {
    expect(() => durable('a').send({ type: 'add' })).toThrow(/only "sendTo" in a durable actor can send to it/u);
    expect(() => durable('')).toThrow(/durable: expected the id of an actor/u);
  });

  it('is sent again by a fork only if it was not sent before', async () => {
    const { counters, actor, shops, added } = await openShop();
    await actor.send({ type: 'order', count: 1 });
    await quiet(() => actor.entries.length);
    await shops.fork('s', { at: actor.entries.length - 1, id: 'fork', event: { type: 'order', count: 2 } });
    await expect.poll(async () => (await counters.wake()).length).toBe(1);
    expect(await added()).toEqual([1, 2]);
  });

  it('reaches it once, wherever the processes of both die', async () => {
    const run = async (life: number) => {
      const clock = new TestClock();
      let process = await mortalStore(NOTHING, life);
      const start = async () => {
        const counters = createDurableMachine(counter, { journals: process.store, clock, logger: () => {} });
        const shops = createDurableMachine(shop, { journals: process.store, clock, logger: () => {} });
        const opened = { counters, a: counters.open('a'), s: shops.open('s', { input: { to: 'a' } }) };
        for (const each of [opened.a, opened.s]) each.catch(() => {});
        await quiet(() => process.count());
        return opened;
      };
      let now = await start();
      const revive = async () => {
        process = await mortalStore(await process.stored());
        now = await start();
      };
      if (process.isDead()) await revive();
      for (const count of [1, 2]) {
        const send = async () =>
          void (await now.s).send({ type: 'order', count }, { id: String(count) }).catch(() => {});
        await send();
        await quiet(() => process.count());
        if (!process.isDead()) continue;
        await revive();
        await send();
        await quiet(() => process.count());
      }
      if (process.isDead()) await revive();
      const { snapshot } = await now.counters.query('a');
      return { total: process.count(), added: snapshot.context.added, mail: await process.store.mail?.receivers() };
    };
    const { total } = await run(Number.POSITIVE_INFINITY);
    expect(total).toBeGreaterThan(10);
    for (let life = 0; life < total; life += 1)
      expect(await run(life), `killed at write ${life}`).toMatchObject({ added: [1, 2], mail: [] });
  });
});
