import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { assign, setup } from 'xstate';
import type { Message } from '../../../src/durable/journals/mailbox.ts';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import {
  createDurableMachine,
  createWorker,
  customJournals,
  fileJournals,
  type JournalStore,
  type Json,
  memoryJournals,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { quiet } from '../../support/durable-runs.ts';
import { mortalStore, NOTHING } from '../../support/mortal-store.ts';

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
    const { host } = setUp();
    await host().open('a');
    await expect(host().send('a', { type: 'tell' }, { reply: true })).rejects.toMatchObject({ code: 'event_ignored' });
    const answer = { type: 'approval.given', id: 'x', digest: 'y', decision: 'deny' } as const;
    await expect(host().send('a', answer, { reply: true })).rejects.toMatchObject({ code: 'event_ignored' });
  });

  it('is processed by the sender if the holder closes the actor without it', async () => {
    const { host, journals, added } = setUp();
    // This process never looks.
    const blind = { ...journals, mail: { ...journals.mail, watch: () => () => {} } } as JournalStore;
    const actor = await createDurableMachine(counter, { journals: blind }).open('a');
    await host().send('a', add(1));
    await actor.close();
    await expect.poll(() => added('a'), { timeout: 5_000 }).toEqual([1]);
  });
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
  });

  it('makes the actor due, and a worker continues it without waiting for its next look', async () => {
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
    await worker.stop();
    expect(await mail.receivers()).toEqual(['b']);
    expect(await host().wake()).toEqual([]);
  });

  it('that has ended is removed, as is one whose actor is deleted', async () => {
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

it('a store of one backend method less has no mailbox', () => {
  const backend = { create() {}, reopen() {}, lines() {}, bounds() {}, remove() {} };
  expect(customJournals(backend as never).mail).toBeUndefined();
});
