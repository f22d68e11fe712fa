import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, raise, SimulatedClock, setup } from 'xstate';
import { replayActor } from '../../../src/cli/actor-commands.ts';
import { approval } from '../../../src/durable/approval.ts';
import { checkDeploy } from '../../../src/durable/check-deploy.ts';
import {
  createDurableMachine,
  type DurableMachine,
  type DurableMachineOptions,
} from '../../../src/durable/durable-machine.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';

const HOUR = 3_600_000;

/** What each version did outside, in order. */
let done: string[] = [];

interface FirstContext {
  readonly cents: number;
  readonly log: readonly string[];
}

const first = setup({
  types: {
    context: {} as FirstContext,
    input: {} as { readonly cents: number },
    events: {} as { readonly type: 'PAY' | 'ASK' | 'LATER' | 'CLOSE' },
  },
  actors: { pay: fromPromise<string, number>(async ({ input }) => `paid ${input}`), approval },
  actions: { welcome: () => void done.push('welcome') },
  delays: { reminder: 2 * HOUR },
}).createMachine({
  id: 'order',
  version: '1',
  context: ({ input }) => ({ cents: input.cents, log: [] }),
  initial: 'waiting',
  entry: 'welcome',
  states: {
    waiting: {
      after: { reminder: { actions: assign({ log: ({ context }) => [...context.log, 'reminded'] }) } },
      on: { PAY: 'paying', ASK: 'asking', LATER: { actions: raise({ type: 'PAY' }, { delay: HOUR, id: 'later' }) } },
    },
    paying: { invoke: { src: 'pay', input: ({ context }) => context.cents, onDone: 'paid' } },
    asking: { invoke: { src: 'approval', input: ({ context }) => ({ question: context.cents }), onDone: 'paying' } },
    paid: { on: { CLOSE: 'closed' } },
    closed: { type: 'final' },
  },
});

const second = setup({
  types: {
    context: {} as { readonly euros: number; readonly notes: readonly string[] },
    input: {} as { readonly cents: number },
    events: {} as { readonly type: 'CHARGE' | 'CLOSE' },
  },
  actors: {
    charge: fromPromise<string, number>(async ({ input }) => {
      done.push(`charge ${input}`);
      return `charged ${input}`;
    }),
    approval,
  },
  actions: { announce: () => void done.push('announce') },
  delays: { reminder: 5 * HOUR, expiry: 10 * HOUR },
}).createMachine({
  id: 'order',
  version: '2',
  context: ({ input }) => ({ euros: input.cents / 100, notes: [] }),
  initial: 'open',
  states: {
    open: {
      initial: 'pending',
      after: { expiry: 'lapsed' },
      states: {
        pending: {
          entry: 'announce',
          after: { reminder: { actions: assign({ notes: ({ context }) => [...context.notes, 'reminded'] }) } },
          on: { CHARGE: 'charging' },
        },
        charging: { invoke: { src: 'charge', input: ({ context }) => context.euros, onDone: 'charged' } },
        asking: {
          invoke: {
            src: 'approval',
            input: ({ context }) => ({ question: `${context.euros} euros` }),
            onDone: 'charging',
          },
        },
        charged: { on: { CLOSE: '#order.closed' } },
      },
    },
    lapsed: { type: 'final' },
    closed: { type: 'final' },
  },
});

const migrate = {
  '1': {
    state: { waiting: 'open.pending', asking: 'open.asking', paying: 'open.charging', paid: 'open.charged' },
    context: ({ cents, log }: FirstContext) => ({ euros: cents / 100, notes: log }),
    events: { PAY: 'CHARGE' },
  },
};

function hosts(more: Partial<DurableMachineOptions> = {}) {
  done = [];
  const clock = new SimulatedClock();
  const journals = memoryJournals();
  const logged: string[] = [];
  const shared = { journals, clock, logger: (text: unknown) => void logged.push(String(text)) };
  const older = createDurableMachine(first, shared);
  const newer = createDurableMachine(second, { ...shared, versions: { '1': first }, migrate, ...more });
  const typesOf = async () => (await entriesOf(journals.read('o'))).map(({ type }) => type);
  return { clock, journals, older, newer, logged, typesOf };
}

/** Starts an order on the first version, sends it an event, and closes it when it only waits. */
async function parked(
  older: DurableMachine<typeof first>,
  event?: Parameters<DurableMachine<typeof first>['send']>[1],
) {
  const actor = await older.open('o', { input: { cents: 1200 } });
  if (event !== undefined) await actor.send(event);
  await actor.park({ wait: true });
}

describe('an actor of an earlier version', () => {
  it('continues in the state, and with the context, that its migration names', async () => {
    const { older, newer, typesOf } = hosts();
    await parked(older);
    const actor = await newer.open('o');
    expect(actor.getSnapshot()).toMatchObject({ value: { open: 'pending' }, context: { euros: 12, notes: [] } });
    expect(done).toEqual(['welcome']);
    await actor.send({ type: 'CHARGE' });
    await expect.poll(() => actor.getSnapshot().value).toEqual({ open: 'charged' });
    expect(done).toEqual(['welcome', 'charge 12']);
    await actor.close();
    expect(await typesOf()).toContain('migrated');
    expect((await newer.replay('o')).divergence).toBeNull();
    const again = await newer.open('o');
    expect(again.getSnapshot().value).toEqual({ open: 'charged' });
    expect((await typesOf()).filter((type) => type === 'migrated')).toHaveLength(1);
  });

  it('keeps the due time of a delay that the new state has too, and starts the others', async () => {
    const { clock, older, newer } = hosts();
    await parked(older);
    clock.increment(HOUR);
    const actor = await newer.open('o');
    expect(actor.pending.timers).toEqual([
      { actor: '', event: 'xstate.after.reminder.order.open.pending', dueAtMs: 2 * HOUR },
      { actor: '', event: 'xstate.after.expiry.order.open', dueAtMs: 11 * HOUR },
    ]);
    clock.increment(HOUR);
    await expect.poll(() => actor.getSnapshot().context.notes).toEqual(['reminded']);
  });

  it('renames waiting delayed events, and drops those that map to null', async () => {
    const { clock, older, newer } = hosts();
    await parked(older, { type: 'LATER' });
    clock.increment(HOUR / 2);
    const actor = await newer.open('o');
    expect(actor.pending.timers.find(({ event }) => event === 'CHARGE')).toMatchObject({ dueAtMs: HOUR });
    clock.increment(HOUR / 2);
    await expect.poll(() => actor.getSnapshot().value).toEqual({ open: 'charged' });
    const dropping = hosts({ migrate: { '1': { ...migrate['1'], events: { PAY: null } } } });
    await parked(dropping.older, { type: 'LATER' });
    const { pending } = await dropping.newer.open('o');
    expect(pending.timers.map(({ event }) => event)).not.toContain('CHARGE');
  });

  it('asks an open question again, as the new state does', async () => {
    const { older, newer } = hosts();
    await parked(older, { type: 'ASK' });
    const [asked] = (await older.query('o')).pending.approvals;
    const actor = await newer.open('o');
    const [question] = actor.pending.approvals;
    expect(question).toMatchObject({ question: '12 euros' });
    const answer = { type: 'approval.given', decision: 'approve' } as const;
    expect(await actor.send({ ...answer, id: asked?.id ?? '', digest: asked?.digest ?? '' })).toBe(false);
    expect(await actor.send({ ...answer, id: question?.id ?? '', digest: question?.digest ?? '' })).toBe(true);
    await expect.poll(() => actor.getSnapshot().value).toEqual({ open: 'charged' });
  });

  it('ends a call in progress on its own version, and is migrated the next time it is opened', async () => {
    const { older, newer } = hosts();
    const actor = await older.open('o', { input: { cents: 1200 } });
    void actor.send({ type: 'PAY' });
    await actor.close();
    const paying = await newer.open('o');
    await expect.poll(() => paying.getSnapshot().value).toBe('paid');
    await paying.close();
    expect((await newer.open('o')).getSnapshot().value).toEqual({ open: 'charged' });
    expect(done).toEqual(['welcome']);
  });

  it('maps each region of a parallel state, with the states inside a mapped one, and what history states remember', async () => {
    const region = { initial: 'one', states: { one: { on: { GO: 'two' } }, two: {} } } as const;
    const build = (version: string, left: string) =>
      createMachine({
        id: 'm',
        version,
        initial: 'both',
        states: {
          both: {
            type: 'parallel',
            on: { OUT: 'out' },
            states: {
              [left]: region,
              right: { ...region, on: { BACK: '#m.both.right.one' } },
              past: { type: 'history', history: 'deep' },
            },
          },
          out: { on: { IN: 'both.past' } },
        },
      });
    const journals = memoryJournals();
    const old = build('1', 'left');
    const actor = await createDurableMachine(old, { journals }).open('x');
    await actor.send({ type: 'GO' });
    await actor.send({ type: 'BACK' });
    await actor.close();
    const newer = createDurableMachine(build('2', 'west'), {
      journals,
      versions: { '1': old },
      migrate: { '1': { state: { 'both.left': 'both.west' } } },
    });
    const migrated = await newer.open('x');
    expect(migrated.getSnapshot().value).toEqual({ both: { west: 'two', right: 'one' } });
    await migrated.send({ type: 'OUT' });
    await migrated.send({ type: 'IN' });
    expect(migrated.getSnapshot().value).toEqual({ both: { west: 'two', right: 'one' } });
  });

  it('ignores a wildcard of the new state', async () => {
    const build = (version: string, on: object) =>
      createMachine({ id: 'm', version, initial: 'a', states: { a: { on, after: { 1000: 'b' } }, b: {} } });
    const journals = memoryJournals();
    await (await createDurableMachine(build('1', { GO: 'b' }), { journals }).open('x')).close();
    const newer = createDurableMachine(build('2', { '*': 'b' }), {
      journals,
      versions: { '1': build('1', { GO: 'b' }) },
      migrate: { '1': {} },
    });
    expect((await newer.open('x')).getSnapshot().value).toBe('a');
  });

  it.each([
    [
      'a state that the new version lacks',
      { state: { waiting: 'open.nowhere' } },
      'state: "waiting": version "2" has no state "open.nowhere"',
    ],
    [
      'a final state',
      { state: { waiting: 'lapsed' } },
      'state "waiting" maps to "lapsed", which is a final state in version "2"; map it to another state',
    ],
    ['a context that is not an object', { context: () => null as never }, 'context: expected an object; received null'],
    [
      'a context that throws',
      {
        context: () => {
          throw new Error('no price');
        },
      },
      'no price',
    ],
    ['a context that cannot be stored', { context: () => ({ euros: () => {} }) }, 'context.euros'],
  ])('stays as it was, with the reason: %s', async (_, wrong, reason) => {
    const { older, newer, logged, typesOf } = hosts({ migrate: { '1': { ...migrate['1'], ...wrong } } });
    await parked(older);
    const [checked] = await checkDeploy(newer);
    expect(checked?.problem).toContain(`actor o cannot be migrated from version "1": `);
    expect(checked?.problem).toContain(reason);
    const actor = await newer.open('o');
    expect(actor.getSnapshot()).toMatchObject({ value: 'waiting', context: { cents: 1200 } });
    expect(logged).toEqual([`${checked?.problem}. It continues on the earlier version.`]);
    await actor.send({ type: 'PAY' } as never);
    await expect.poll(() => actor.getSnapshot().value).toBe('paid');
    expect(await typesOf()).not.toContain('migrated');
  });

  it('no longer needs its earlier version after the migration, and is listed with the new one', async () => {
    const { older, newer, journals, clock } = hosts();
    await parked(older);
    expect(await checkDeploy(newer)).toEqual([
      { id: 'o', status: 'waiting', problem: null, version: '1', migratesTo: '2' },
    ]);
    await (await newer.open('o')).close();
    expect((await newer.list())[0]?.machine).toMatchObject({ version: '2' });
    const later = createDurableMachine(second, { journals, clock });
    const from = (await entriesOf(journals.read('o'))).findIndex(({ type }) => type === 'migrated');
    expect(await later.replay('o')).toMatchObject({ divergence: null, from });
    expect(await newer.replay('o')).toMatchObject({ divergence: null, from: 0 });
    const hosted = { host: later, id: 'o', actor: (await later.list())[0] };
    expect((await replayActor(hosted as never)).text).toContain(`, from the migration in entry ${from}: this module`);
    const actor = await later.open('o');
    expect(actor.getSnapshot().value).toEqual({ open: 'pending' });
    await actor.send({ type: 'CHARGE' });
    await actor.park({ wait: true });
    expect((await later.query('o')).snapshot.value).toEqual({ open: 'charged' });
  });

  it('is forked before and after its migration, but with another input only before', async () => {
    const { older, newer, journals } = hosts();
    await parked(older, { type: 'LATER' });
    const actor = await newer.open('o');
    await actor.send({ type: 'CHARGE' });
    await actor.park({ wait: true });
    const entries = await entriesOf(journals.read('o'));
    const at = entries.findIndex(({ type }) => type === 'migrated');
    const before = await newer.fork('o', { at: 0 });
    expect(before.getSnapshot()).toMatchObject({ value: { open: 'pending' }, context: { euros: 12 } });
    const after = await newer.fork('o', { at: entries.length - 1 });
    expect(after.getSnapshot().value).toEqual({ open: 'charged' });
    const other = await newer.fork('o', { at: 0, input: { cents: 100 } });
    expect(other.getSnapshot()).toMatchObject({ context: { cents: 100 } });
    await expect(newer.fork('o', { at, input: { cents: 100 } })).rejects.toThrow(
      `at: expected an entry before the migration (entry ${at}), because a fork with another input cannot repeat it`,
    );
  });

  it('continues after a kill at each entry, without a call whose result is stored', async () => {
    const { older, newer, journals, clock } = hosts();
    await parked(older, { type: 'LATER' });
    const whole = await newer.open('o');
    await whole.send({ type: 'CHARGE' });
    await expect.poll(() => whole.getSnapshot().value).toEqual({ open: 'charged' });
    await whole.send({ type: 'CLOSE' });
    await whole.output.catch(() => {});
    await whole.close();
    const entries = await entriesOf(journals.read('o'));
    for (let life = 1; life <= entries.length; life += 1) {
      const store = memoryJournals();
      const writer = store.create('o');
      await writer.write(entries.slice(0, life));
      await writer.close();
      done = [];
      const host = createDurableMachine(second, { journals: store, clock, versions: { '1': first }, migrate });
      const isCharged = entries.slice(0, life).some((entry) => entry.type === 'activity-event');
      const place = `killed at entry ${life} of ${entries.length}`;
      // An effect in progress ends on the first version.
      await (await host.open('o')).park({ wait: true });
      await host.send('o', { type: 'CHARGE' });
      const actor = await host.open('o');
      await actor.send({ type: 'CLOSE' });
      expect(actor.getSnapshot(), place).toMatchObject({ status: 'done', value: 'closed', context: { euros: 12 } });
      expect(
        done.filter((call) => call === 'charge 12'),
        place,
      ).toHaveLength(isCharged ? 0 : 1);
      await actor.close();
      expect((await host.replay('o')).divergence, place).toBeNull();
    }
  });
});

describe('an actor that a compatible version continued', () => {
  const build = (version: string, added: object = {}) =>
    createMachine({ id: 'm', version, initial: 'a', states: { a: { on: { GO: 'b' } }, b: { on: added }, c: {} } });

  it('does not diverge when `versions` names the version that started it', async () => {
    const journals = memoryJournals();
    const [one, two] = [build('1'), build('2', { MORE: 'c' })];
    await (await createDurableMachine(one, { journals }).open('x')).close();
    const actor = await createDurableMachine(two, { journals }).open('x');
    await actor.send({ type: 'GO' });
    await actor.send({ type: 'MORE' });
    await actor.close();
    const documented = createDurableMachine(two, { journals, versions: { '1': one } });
    expect((await documented.replay('x')).divergence).toBeNull();
    expect((await documented.open('x')).getSnapshot().value).toBe('c');
  });
});

describe('migrations', () => {
  it.each([
    [
      { migrate: { '0': {} } },
      'migrate: expected keys of "versions", without the version of the machine itself; received "0"',
    ],
    [{ migrate: { '2': {} }, versions: { '2': first } }, 'without the version of the machine itself; received "2"'],
    [{ migrate: { '1': { states: {} } } }, 'states'],
    [{ migrate: { '1': 'waiting' } }, 'received'],
  ])('are refused when the machine is created (%#)', (options, message) => {
    expect(() =>
      createDurableMachine(second, { journals: memoryJournals(), versions: { '1': first }, ...options } as never),
    ).toThrow(message);
  });
});
