import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AnyActorRef, assign, cancel, createActor, createMachine, fromPromise, raise, setup } from 'xstate';
import {
  createDurableMachine,
  type DurableEntry,
  fileJournals,
  fromDurable,
  type Journals,
  memoryJournals,
  sqliteJournals,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { anError } from '../../support/errors.ts';
import { withWriters, writeJournal } from '../../support/journal-files.ts';
import { TestClock } from '../../support/simulated-clock.ts';

interface Account {
  readonly balance: number;
  readonly names: ReadonlyMap<string, number>;
  readonly note: string | undefined;
  readonly luck: number;
}

/** An account that lives for years: it has a history state, a delay, random numbers and a context that is not JSON. */
const account = (bonus = 0) =>
  setup({
    types: { context: {} as Account, events: {} as { type: 'ADD' } | { type: 'FREEZE' } | { type: 'THAW' } },
    actors: { audit: fromPromise(async () => 'audited') },
  }).createMachine({
    id: 'account',
    version: '1',
    context: { balance: 0, names: new Map([['Ada', 1]]), note: undefined, luck: 0 },
    initial: 'open',
    states: {
      open: {
        initial: 'plain',
        states: {
          plain: { on: { ADD: { target: 'gold', guard: ({ context }) => context.balance === 10 } } },
          gold: {},
          past: { type: 'history' },
        },
        on: {
          ADD: {
            actions: assign({ balance: ({ context }) => context.balance + 1 + bonus, luck: () => Math.random() }),
          },
          FREEZE: 'frozen',
        },
      },
      frozen: { on: { THAW: '#account.open.past' }, after: { 1000: 'reviewing' } },
      reviewing: { invoke: { src: 'audit', onDone: '#account.open.past' } },
    },
  });

/** A store with a tenth of the entries between keyframes, so that a test needs a tenth of the events. */
const frequent = (journals: Journals): Journals =>
  withWriters(journals, (writer) => Object.create(writer, { keyframeEvery: { value: 100 } }));

/** Events until an actor in such a store has two keyframes. */
const MANY = 210;

/** Opens an actor of a machine again and again, at a time that a test sets. */
function setupActors(config: object) {
  const clock = new TestClock();
  const actors = createDurableMachine(createMachine({ id: 'm', ...config } as never), {
    journals: frequent(memoryJournals()),
    clock,
  });
  return { clock, open: () => actors.open('a') };
}

const isPartial = (entries: readonly DurableEntry[]): boolean => entries[1]?.type === 'keyframe' && entries[1].seq > 1;

/** A store with the journal of an account that received many events and was then frozen. */
async function frozenAccount(journals = frequent(memoryJournals()), events = 150) {
  const clock = new TestClock();
  const accounts = createDurableMachine(account(), { journals, clock });
  const actor = await accounts.open('a');
  for (let count = 0; count < events; count += 1) void actor.send({ type: 'ADD' }, { id: `add ${count}` });
  await actor.send({ type: 'FREEZE' });
  const { context } = actor.getSnapshot();
  await actor.close();
  return { journals, clock, accounts, context, entries: actor.entries };
}

describe('an actor with a long journal', () => {
  it.each<[string, (folder: string) => Journals, number]>([
    ['memory', () => memoryJournals(), 1_500],
    ['files', (folder) => frequent(fileJournals(folder)), 150],
    ['SQLite', (folder) => frequent(sqliteJournals(join(folder, 'actors.db'))), 150],
  ])('in %s continues from a keyframe as from the start [D2, D3, D4]', async (_, create, events) => {
    const { clock, accounts, context, entries } = await frozenAccount(create(temporaryFolder()), events);

    const actor = await accounts.open('a');
    expect(isPartial(actor.entries)).toBe(true);
    expect(actor.getSnapshot()).toMatchObject({ value: 'frozen', context });
    expect(Object.keys(actor.getSnapshot().context)).toEqual(['balance', 'names', 'note', 'luck']);
    expect(actor.pending.timers).toMatchObject([{ actor: '', dueAtMs: clock.now() + 1_000 }]);
    expect(await actor.send({ type: 'THAW' }, { id: 'add 3' })).toBe(false);

    clock.increment(1_000);
    await expect.poll(() => actor.getSnapshot().value).toEqual({ open: 'gold' });
    await actor.send({ type: 'ADD' });
    expect(actor.getSnapshot().context.luck).not.toBe(context.luck);
    await actor.close();
    expect((await accounts.replay('a')).divergence).toBeNull();

    const again = await accounts.open('a');
    const fork = await accounts.fork('a', { at: 20, id: 'fork' });
    expect(fork.getSnapshot().context.balance).toBeLessThan(20);
    expect(again.entries.at(-1)?.seq).toBeGreaterThan(entries.length);
    await Promise.all([again.close(), fork.close()]);
  });

  it('is read without being continued: from its last keyframes, from memory, or else from the start', async () => {
    let read = 0;
    const journals = frequent(memoryJournals());
    const counting: Journals = {
      ...journals,
      async *read(id, options) {
        for await (const entry of journals.read(id, options)) {
          read += 1;
          yield entry;
        }
      },
    };
    const { clock, accounts, context, entries } = await frozenAccount(counting, 500);
    const parked = await accounts.query('a');
    expect(parked.snapshot).toMatchObject({ value: 'frozen', context });
    expect(parked.pending).toMatchObject({ events: ['THAW'], timers: [{ dueAtMs: clock.now() + 1_000 }] });
    expect(read).toBeLessThan(entries.length / 3);
    expect((await accounts.list())[0]?.status).toBe('waiting');
    const actor = await accounts.open('a');
    read = 0;
    expect((await accounts.query('a')).pending).toEqual(parked.pending);
    expect(read).toBe(0);
    await actor.close();
    // Another build may have written the keyframes in another way.
    const newer = createDurableMachine(account().provide({}) as never, { journals: counting, clock });
    expect((await newer.query('a')).snapshot).toMatchObject({ context });
    const changed = createDurableMachine(account(1), { journals: counting, clock });
    await expect(changed.query('a')).rejects.toMatchObject({ code: 'diverged' });
    await expect(accounts.query('b')).rejects.toMatchObject({ code: 'unknown_journal' });
  });

  it('is woken for a delay that its keyframe contains', async () => {
    const { clock, accounts } = await frozenAccount();
    expect(await accounts.wake()).toEqual([]);
    clock.increment(1_000);
    expect(await accounts.wake()).toEqual(['a']);
  });

  it('is replayed from the start if its keyframes do not match the machine', async () => {
    const { clock, context, entries } = await frozenAccount();
    const keyframes = entries.filter(({ type }) => type === 'keyframe');
    const wrong = entries.map((entry) =>
      entry === keyframes.at(-1) && entry.type === 'keyframe'
        ? { ...entry, state: { ...entry.state, random: 7 } }
        : entry,
    );
    const journals = frequent(memoryJournals());
    await writeJournal(journals, 'a', wrong);
    const accounts = createDurableMachine(account(), { journals, clock });
    const actor = await accounts.open('a');
    expect(isPartial(actor.entries)).toBe(false);
    expect(actor.getSnapshot().context).toEqual(context);
    await actor.close();
    const { divergence } = await accounts.replay('a');
    expect(divergence).toMatchObject({
      seq: keyframes.at(-1)?.seq,
      received: { type: 'keyframe' },
    });
  });

  it('gets keyframes of another version of Node.js, from which that version continues', async () => {
    const { clock, context, entries } = await frozenAccount();
    const journals = frequent(memoryJournals());
    const [start, ...others] = entries;
    await writeJournal(journals, 'a', [{ ...start, node: '18.0.0' } as DurableEntry, ...others]);
    const accounts = createDurableMachine(account(), { journals, clock });
    const actor = await accounts.open('a');
    expect(isPartial(actor.entries)).toBe(false);
    for (let count = 0; count < MANY; count += 1) void actor.send({ type: 'NOTHING' } as never);
    await actor.close();
    expect(actor.entries.findLast((entry) => entry.type === 'keyframe')?.runtime?.node).toBe(process.versions.node);
    const again = await accounts.open('a');
    expect(isPartial(again.entries)).toBe(true);
    expect(again.getSnapshot()).toMatchObject({ value: 'frozen', context });
    await again.close();
    expect((await accounts.replay('a')).divergence).toBeNull();
  });

  it('is rejected after its functions changed, with the first divergence of the whole journal', async () => {
    const { journals, clock } = await frozenAccount();
    const accounts = createDurableMachine(account(1), { journals, clock });
    await expect(accounts.open('a')).rejects.toMatchObject({ code: 'diverged' });
  });

  /** Sends events to a machine that counts them until it has two keyframes, continues it in another process, and sends the last ones. */
  async function continued(config: object, first: readonly { type: string }[], last: readonly { type: string }[]) {
    const count = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 });
    const { on, context, ...rest } = config as { on?: object; context?: object };
    const machine = createMachine({
      ...rest,
      id: 'm',
      context: { n: 0, log: [], ...context },
      on: { ...on, COUNT: { actions: count } },
    } as never);
    const counts = Array.from({ length: MANY }, () => ({ type: 'COUNT' }));
    const bare = createActor(machine).start();
    for (const event of [...first, ...counts, ...last]) bare.send(event);
    const journals = frequent(memoryJournals());
    const actors = createDurableMachine(machine, { journals, clock: new TestClock() });
    const actor = await actors.open('a');
    await Promise.all([...first, ...counts].map((event) => actor.send(event)));
    await actor.close();
    const again = await actors.open('a');
    for (const event of last) await again.send(event);
    const { context: restored } = again.getSnapshot();
    const { pending } = again;
    await again.close();
    const { divergence } = await actors.replay('a');
    return { expected: bare.getSnapshot().context, restored, pending, divergence, isPartial: isPartial(again.entries) };
  }

  const log = (text: string | (() => string)) =>
    assign({
      log: ({ context }: { context: { log: readonly string[] } }) => [
        ...context.log,
        typeof text === 'string' ? text : text(),
      ],
    });

  it('keeps the order of its parallel states', async () => {
    const tags = assign({
      log: ({ context, self }: { context: { log: readonly string[] }; self: AnyActorRef }) => [
        ...context.log,
        ...(self.getSnapshot() as { tags: Set<string> }).tags,
      ],
    });
    const isDone = ({ context }: { context: { n: number } }): boolean => context.n > MANY;
    const region = (name: string) => ({
      initial: 'one',
      states: {
        one: { on: { [name]: 'two' }, tags: `${name}1`, always: { guard: isDone, target: 'end', actions: log(name) } },
        two: { tags: `${name}2`, always: { guard: isDone, target: 'end', actions: log(name) } },
        end: {},
      },
    });
    const result = await continued(
      { type: 'parallel', states: { a: region('a'), b: region('b') }, on: { TAGS: { actions: tags } } },
      [{ type: 'a' }],
      [{ type: 'TAGS' }, { type: 'COUNT' }],
    );
    expect(result).toMatchObject({ isPartial: true, divergence: null });
    expect((result.restored as { log: unknown }).log).toEqual(['b1', 'a2', 'b', 'a']);
    expect(result.restored).toEqual(result.expected);
  });

  it.each<[string, () => unknown, (value: never) => unknown]>([
    ['an error of a subclass', () => new TypeError('no'), (value) => (value as unknown) instanceof TypeError],
    [
      'a member of an error',
      () => Object.assign(new Error('no'), { url: new URL('https://a.example') }),
      (value: { url?: URL }) => value.url?.host,
    ],
    ['an error with a name', () => Object.assign(new Error(), { name: 'Odd' }), (value) => Object.keys(value)],
    [
      'a subclass of Map',
      () =>
        new (class extends Map {
          total = (): number => this.size;
        })(),
      (value: { total?: () => number }) => value.total?.(),
    ],
    [
      'a subclass of Date',
      () =>
        new (class extends Date {
          year = (): number => this.getUTCFullYear();
        })(0),
      (value: { year?: () => number }) => value.year?.(),
    ],
    ['a match of a pattern', () => /b/.exec('abc'), (value: RegExpExecArray) => value.index],
    ['an array with a gap', () => Object.assign([], { 2: 1 }), (value: unknown[]) => 0 in value],
    ['an object without a prototype', () => Object.create(null), (value) => 'constructor' in value],
    ['a symbol', () => ({ [Symbol.iterator]: 1 }), (value: { [Symbol.iterator]: unknown }) => value[Symbol.iterator]],
    ['a hidden member', () => Object.defineProperty({}, 'a', { value: 1 }), (value: { a?: number }) => value.a],
    ['a member of a Map', () => Object.assign(new Map(), { a: 1 }), (value: { a?: number }) => value.a],
    [
      'what looks like an actor',
      () => ({ xstate$$type: 1, id: 'a' }),
      (value: { id: string } | undefined) => value?.id,
    ],
  ])('does not lose %s in its context', async (_, create, read) => {
    const ask = assign({
      answer: ({ context }: { context: { value: never; answer?: unknown } }) => read(context.value),
    });
    const set = assign({ value: () => create() });
    const { expected, restored, divergence } = await continued(
      { context: { value: null, answer: null }, on: { SET: { actions: set }, ASK: { actions: ask } } },
      [{ type: 'SET' }],
      [{ type: 'ASK' }],
    );
    expect((restored as { answer: unknown }).answer).toEqual((expected as { answer: unknown }).answer);
    expect(divergence).toBeNull();
  });

  it('keeps delayed events that share an id or an object with its context', async () => {
    const set = raise({ type: 'LATE' }, { id: 'same', delay: 1_000 });
    const on = { SET: { actions: set }, CANCEL: { actions: cancel('same') }, LATE: {} };
    const [SET, CANCEL] = [{ type: 'SET' }, { type: 'CANCEL' }];
    // XState has forgotten the first of the two delayed events.
    expect((await continued({ on }, [SET, SET, CANCEL], [CANCEL])).pending.timers).toHaveLength(1);
    expect((await continued({ on }, [SET], [CANCEL])).pending.timers).toHaveLength(0);

    const remove = assign({
      items: ({ context, event }: { context: { items: unknown[] }; event: { type: string; item?: unknown } }) =>
        context.items.filter((item) => item !== event.item),
    });
    const expire = raise(
      ({ context }: { context: { items: unknown[] } }) => ({ type: 'EXPIRE', item: context.items[0] }),
      { delay: 1_000 },
    );
    const actors = setupActors({
      context: { items: [{ id: 1 }] },
      on: { ADD: { actions: expire }, EXPIRE: { actions: remove } },
    });
    const actor = await actors.open();
    await Promise.all(Array.from({ length: MANY }, (_, at) => actor.send({ type: at === 0 ? 'ADD' : 'NOTHING' })));
    await actor.close();
    const again = await actors.open();
    actors.clock.increment(1_000);
    await expect.poll(() => again.getSnapshot().context).toEqual({ items: [] });
    await again.close();
  });

  it('has keyframes only of the machine that started it', async () => {
    const journals = frequent(memoryJournals());
    const count = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 });
    const config = { id: 'm', context: { n: 0 }, on: { COUNT: { actions: count } } };
    const before = createDurableMachine(createMachine(config as never), { journals });
    const later = { ...config, context: { n: 0, added: 1 }, on: { ...config.on, MORE: {} } };
    const after = createDurableMachine(createMachine(later as never), { journals });
    await (await before.open('a')).close();
    const changed = await after.open('a');
    await Promise.all(Array.from({ length: MANY }, () => changed.send({ type: 'COUNT' })));
    await changed.close();
    const rolledBack = await before.open('a');
    expect(rolledBack.getSnapshot().context).toEqual({ n: MANY });
    await rolledBack.close();
    expect((await before.replay('a')).divergence).toBeNull();
  });

  it('has fewer keyframes if they are large, also if it is opened in between', async () => {
    const actors = setupActors({ context: { large: 'a'.repeat(500_000) } });
    for (let open = 0; open < 4; open += 1) {
      const actor = await actors.open();
      await Promise.all(Array.from({ length: 60 }, () => actor.send({ type: 'NOTHING' })));
      await actor.close();
      if (open === 3) expect(actor.entries.filter(({ type }) => type === 'keyframe')).toHaveLength(1);
    }
  });

  it('is forked by its id, and not with the entries since a keyframe', async () => {
    const { accounts } = await frozenAccount();
    const actor = await accounts.open('a');
    await expect(accounts.fork(actor.entries, { at: 20, id: 'fork' })).rejects.toMatchObject(
      anError('invalid_option', 'Pass the id of the actor.'),
    );
    await actor.close();
  });

  it('continues from a keyframe while it waits for a child process; its result and a stop reach the right one', async () => {
    const journals = frequent(memoryJournals());
    const task = setup({}).createMachine({
      id: 'task',
      initial: 'open',
      states: { open: { on: { FINISH: 'done' } }, done: { type: 'final' } },
      output: 'finished',
    });
    const tasks = createDurableMachine(task, { journals });
    const machine = setup({
      types: { context: {} as { count: number } },
      actors: { task: fromDurable(tasks) },
    }).createMachine({
      id: 'project',
      context: { count: 0 },
      initial: 'waiting',
      states: {
        waiting: { invoke: { src: 'task', systemId: 'task', onDone: 'finished' }, on: { STOP: 'stopped' } },
        finished: {},
        stopped: {},
      },
      on: { COUNT: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
    });
    const projects = createDurableMachine(machine, { journals });
    const actor = await projects.open('p');
    await expect.poll(async () => (await tasks.list()).length).toBe(1);
    for (let count = 0; count < MANY; count += 1) void actor.send({ type: 'COUNT' });
    await actor.park({ wait: true });
    const fork = await projects.fork('p', { at: actor.entries.length - 1, id: 'fork' });
    await expect.poll(async () => (await tasks.list()).length).toBe(2);
    await fork.park({ wait: true });
    const [forked = '', child = ''] = (await tasks.list()).map(({ id }) => id).toSorted();
    for (const id of ['p', 'fork']) {
      const again = await projects.open(id);
      expect(again.getSnapshot().context.count).toBe(MANY);
      if (id === 'p') expect(isPartial(again.entries)).toBe(true);
      await again.close();
    }
    expect(await projects.send('fork', { type: 'STOP' })).toBe(true);
    await tasks.wake();
    expect((await tasks.list({ status: 'stopped' })).map(({ id }) => id)).toEqual([forked]);
    await tasks.send(child, { type: 'FINISH' });
    await projects.wake();
    expect((await projects.query('p')).snapshot.value).toBe('finished');
    for (const id of ['p', 'fork']) expect((await projects.replay(id)).divergence).toBeNull();
  });

  it('has no keyframes while a child actor runs, or if its context contains an object twice', async () => {
    const twice = { n: 1 };
    const machine = setup({ actors: { hangs: fromPromise(() => new Promise(() => {})) } }).createMachine({
      context: { one: twice, other: twice },
      initial: 'calling',
      states: { calling: { invoke: { src: 'hangs' }, on: { ADD: {}, NEXT: 'resting' } }, resting: { on: { ADD: {} } } },
      on: { COUNT: { actions: assign({ extra: () => 1 }) } },
    });
    const actor = await createDurableMachine(machine, { journals: frequent(memoryJournals()) }).open('a');
    const sendMany = async () => {
      for (let count = 0; count < 150; count += 1) void actor.send({ type: 'COUNT' });
      await actor.send({ type: 'COUNT' });
    };
    await sendMany();
    await actor.send({ type: 'NEXT' });
    await sendMany();
    expect(actor.entries.filter(({ type }) => type === 'keyframe')).toEqual([]);
    await actor.close();
  });
});
