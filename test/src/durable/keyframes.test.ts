import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import {
  type ActorJournals,
  createDurableMachine,
  type DurableEntry,
  fileJournals,
  memoryJournals,
  sqliteJournals,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
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

const isPartial = (entries: readonly DurableEntry[]): boolean => entries[1]?.type === 'keyframe' && entries[1].seq > 1;

/** A store with the journal of an account that received many events and was then frozen. */
async function frozenAccount(journals: ActorJournals, clock: TestClock) {
  const accounts = createDurableMachine(account(), { journals, clock });
  const actor = await accounts.open('a');
  for (let count = 0; count < 1_500; count += 1) void actor.send({ type: 'ADD' }, { id: `add ${count}` });
  await actor.send({ type: 'FREEZE' });
  const { context } = actor.getSnapshot();
  await actor.close();
  return { context, entries: actor.entries };
}

describe('an actor with a long journal', () => {
  it.each<[string, (folder: string) => ActorJournals]>([
    ['memory', () => memoryJournals()],
    ['files', (folder) => fileJournals(folder)],
    ['SQLite', (folder) => sqliteJournals(join(folder, 'actors.db'))],
  ])('in %s continues from a keyframe as from the start [D2, D3, D4]', async (_, create) => {
    const journals = create(temporaryFolder());
    const clock = new TestClock();
    const { context, entries } = await frozenAccount(journals, clock);
    const accounts = createDurableMachine(account(), { journals, clock });

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

  it('is woken for a delay that its keyframe contains', async () => {
    const journals = memoryJournals();
    const clock = new TestClock();
    await frozenAccount(journals, clock);
    const accounts = createDurableMachine(account(), { journals, clock });
    expect(await accounts.wake()).toEqual([]);
    clock.increment(1_000);
    expect(await accounts.wake()).toEqual(['a']);
  });

  it('is replayed from the start if its keyframes do not match the machine', async () => {
    const clock = new TestClock();
    const { context, entries } = await frozenAccount(memoryJournals(), clock);
    const keyframes = entries.filter(({ type }) => type === 'keyframe');
    const wrong = entries.map((entry) =>
      entry === keyframes.at(-1) && entry.type === 'keyframe'
        ? { ...entry, state: { ...entry.state, random: 7 } }
        : entry,
    );
    const journals = memoryJournals();
    const writer = journals.create('a');
    await writer.write(wrong);
    await writer.close();
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

  it('is rejected after its functions changed, with the first divergence of the whole journal', async () => {
    const journals = memoryJournals();
    const clock = new TestClock();
    await frozenAccount(journals, clock);
    const accounts = createDurableMachine(account(1), { journals, clock });
    await expect(accounts.open('a')).rejects.toMatchObject({ code: 'diverged' });
  });

  it('has no keyframes while a child actor runs, or if its context contains an object twice', async () => {
    const twice = { n: 1 };
    const machine = setup({ actors: { hangs: fromPromise(() => new Promise(() => {})) } }).createMachine({
      context: { one: twice, other: twice },
      initial: 'calling',
      states: { calling: { invoke: { src: 'hangs' }, on: { ADD: {}, NEXT: 'resting' } }, resting: { on: { ADD: {} } } },
      on: { COUNT: { actions: assign({ extra: () => 1 }) } },
    });
    const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('a');
    const sendMany = async () => {
      for (let count = 0; count < 1_500; count += 1) void actor.send({ type: 'COUNT' });
      await actor.send({ type: 'COUNT' });
    };
    await sendMany();
    await actor.send({ type: 'NEXT' });
    await sendMany();
    expect(actor.entries.filter(({ type }) => type === 'keyframe')).toEqual([]);
    await actor.close();
  });
});
