import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, fromPromise, log, raise, SimulatedClock, setup, spawnChild } from 'xstate';
import { approval } from '../../../src/durable/approval.ts';
import { checkDeploy } from '../../../src/durable/check-deploy.ts';
import { createDurableMachine, type DurableMachineOptions } from '../../../src/durable/durable-machine.ts';
import { entriesOf, type JournalStore } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import type { Migration } from '../../../src/durable/migrate.ts';

/** The calls of both versions, in order. */
let calls: string[] = [];

const actors = Object.fromEntries(
  ['load', 'charge', 'check'].map((name) => [
    name,
    fromPromise(async () => {
      calls.push(name);
      return name;
    }),
  ]),
);

const build = (version: string, config: object): AnyStateMachine =>
  setup({ actors: { ...actors, approval } as never }).createMachine({ id: 'm', version, ...config } as never) as never;

interface Given {
  readonly rule?: Migration;
  readonly events?: readonly string[];
  readonly afterMs?: number;
  readonly options?: Partial<DurableMachineOptions>;
  readonly journals?: JournalStore;
}

/** Starts an actor on the first version, sends it events, and opens it on the second one later. */
async function moved(first: object, second: object, given: Given = {}) {
  const { rule = {}, events = [], afterMs = 0, options = {}, journals = memoryJournals() } = given;
  calls = [];
  const clock = new SimulatedClock();
  const logged: unknown[] = [];
  const logger = (...args: unknown[]): void => void logged.push(...args);
  const [one, two] = [build('1', first), build('2', second)];
  const actor = await createDurableMachine(one, { journals, clock, logger, ...options }).open('x');
  for (const type of events) await actor.send({ type });
  await actor.park({ wait: true });
  clock.increment(afterMs);
  const host = createDurableMachine(two, {
    journals,
    clock,
    logger,
    versions: { '1': one },
    migrate: { '1': rule },
    ...options,
  });
  const [checked] = await checkDeploy(host);
  const migrated = await host.open('x');
  const settled = async () => await expect.poll(() => migrated.pending.activities).toEqual([]);
  await settled();
  const dueAtMs = () => migrated.pending.timers.map((timer) => timer.dueAtMs);
  return { actor: migrated, clock, host, journals, logged, one, problem: checked?.problem ?? null, dueAtMs, two };
}

const value = ({ actor }: Awaited<ReturnType<typeof moved>>): unknown => actor.getSnapshot().value;

describe('what a state has started before', () => {
  const leaf = { initial: 'a', states: { a: { invoke: { src: 'charge' }, after: { 10000: 'b' } }, b: {} } };

  it('is found by its name, not by its position or its id', async () => {
    const invoke = (...names: string[]) => ({ initial: 'a', states: { a: { invoke: names.map((src) => ({ src })) } } });
    await moved(invoke('load', 'check'), invoke('charge', 'load', 'check'));
    expect(calls).toEqual(['load', 'check', 'charge']);
    const named = (src: string) => ({ initial: 'a', states: { a: { invoke: { src, id: 'i' } } } });
    await moved(named('load'), named('charge'));
    expect(calls).toEqual(['load', 'charge']);
    const other = { initial: 'b', states: { b: { invoke: { src: 'charge', onDone: 'c' } }, c: {} } };
    const { actor } = await moved(named('load'), other, { rule: { state: { a: 'b' } } });
    expect(actor.getSnapshot().value).toBe('c');
  });

  it.each<[string, object, Migration]>([
    ['renamed', { initial: 'p', states: { p: leaf.states.a, b: {} } }, { state: { a: 'p' } }],
    [
      'renamed by a function',
      { initial: 'p', states: { p: leaf.states.a, b: {} } },
      { state: (path) => (path === 'a' ? 'p' : path) },
    ],
    [
      'the initial one of a compound state',
      { initial: 'o', states: { o: { initial: 'p', states: { p: leaf.states.a, b: {} } } } },
      { state: { a: 'o' } },
    ],
    [
      'inside the one that has it now',
      { initial: 'o', states: { o: { ...leaf.states.a, initial: 'p', states: { p: {} } }, b: {} } },
      { state: { a: 'o.p' } },
    ],
  ])('is not repeated, and keeps its due time, if the state is %s', async (_, second, rule) => {
    const { dueAtMs } = await moved(leaf, second, { rule, afterMs: 6_000 });
    expect(calls).toEqual(['charge']);
    expect(dueAtMs()).toEqual([10_000]);
  });

  it('is not repeated in a renamed parent whose leaf alone is named', async () => {
    const nested = (name: string) => ({
      initial: name,
      states: { [name]: { invoke: { src: 'charge' }, after: { 10000: {} }, initial: 'p', states: { p: {} } } },
    });
    const rules: Migration[] = [{ state: { 'old.p': 'nu.p' } }, { state: (path) => path.replace('old', 'nu') }];
    for (const rule of rules) {
      const { dueAtMs } = await moved(nested('old'), nested('nu'), { rule, afterMs: 6_000 });
      expect([calls, dueAtMs()]).toEqual([['charge'], [10_000]]);
    }
  });

  it('is kept once if two states become one', async () => {
    const region = (name: string) => ({
      initial: name,
      states: {
        [name]: { after: { 1000: { actions: assign({ n: ({ context }) => (context as { n: number }).n + 1 }) } } },
      },
    });
    const both = { context: { n: 0 }, type: 'parallel', states: { a: region('x'), b: region('y') } };
    const one = { context: { n: 0 }, ...region('z') };
    const { actor, clock } = await moved(both, one, { rule: { state: { 'a.x': 'z', 'b.y': 'z' } } });
    clock.increment(1000);
    await expect.poll(() => actor.getSnapshot().context).toEqual({ n: 1 });
    expect(actor.pending.timers).toEqual([]);
  });
});

it('a delay that is due fires on the version that started it; the actor is migrated after that', async () => {
  const first = { initial: 'w', states: { w: { after: { 1000: 'late' }, on: { PAY: 'paid' } }, late: {}, paid: {} } };
  const second = { initial: 'w', states: { w: { on: { PAY: 'paid' } }, late: {}, paid: {} } };
  const { actor, clock, host } = await moved(first, second, { afterMs: 1500 });
  clock.increment(0);
  await expect.poll(() => actor.getSnapshot().value).toBe('late');
  await actor.close();
  const again = await host.open('x');
  expect(again.entries.at(-1)?.type).toBe('migrated');
});

it('eventless transitions of the new state are recorded, so that a changed guard diverges', async () => {
  const second = (holds: boolean, actions: unknown[] = []) => ({
    initial: 'w',
    states: { w: { always: { guard: () => holds, target: 'v', actions } }, v: {} },
  });
  const first = { initial: 'w', states: { w: {} } };
  const result = await moved(first, second(true, [log('HELLO')]));
  expect(value(result)).toBe('v');
  expect(result.logged).toEqual(['HELLO']);
  expect(result.actor.entries.at(-1)).toMatchObject({ type: 'transition', target: ['m.v'] });
  await result.actor.close();
  const changed = createDurableMachine(build('2', second(false)), { journals: result.journals, logger: () => {} });
  expect((await changed.replay('x')).divergence).toMatchObject({ received: null });
});

it('history states return to renamed states', async () => {
  const machine = (two: string) => ({
    initial: 'o',
    states: {
      o: {
        initial: 'one',
        states: { one: { on: { GO: two } }, [two]: {}, past: { type: 'history' } },
        on: { OUT: 'out' },
      },
      out: { on: { IN: 'o.past' } },
    },
  });
  const result = await moved(machine('two'), machine('zwei'), {
    rule: { state: { 'o.two': 'o.zwei' } },
    events: ['GO', 'OUT'],
  });
  await result.actor.send({ type: 'IN' });
  expect(value(result)).toEqual({ o: 'zwei' });
});

describe('an actor is not migrated', () => {
  const waiting = { initial: 'w', states: { w: {} } };

  it('while an approval that it has spawned is open', async () => {
    const first = {
      ...waiting,
      entry: spawnChild('approval' as never, { id: 'q', input: { question: 'A7' } } as never),
    };
    const { actor } = await moved(first, waiting);
    expect(actor.pending.approvals).toHaveLength(1);
    expect(actor.entries.some(({ type }) => type === 'migrated')).toBe(false);
  });

  it('in a store that replaces texts', async () => {
    const { problem } = await moved(waiting, waiting, {
      journals: memoryJournals({ redact: (text: string) => text } as never),
    });
    expect(problem).toContain('cannot be migrated from version "1": its journal is redacted');
  });

  it.each<[string, object, Migration, string]>([
    [
      'a delayed event that the new version does not handle',
      waiting,
      {},
      'no state of version "2" handles the delayed event "remind"',
    ],
    [
      'a delayed event with a misspelled new name',
      waiting,
      { events: { remind: 'nugde' } },
      'no state of version "2" handles the event "nugde"',
    ],
    [
      'several wrong keys',
      waiting,
      { state: { ww: 'w', w: 'v' }, events: { remind: 'nugde' } },
      'state: "ww": version "1" has no state "ww"; state: "w": version "2" has no state "v"; events: "remind": no',
    ],
    [
      'a misspelled state',
      waiting,
      { state: { ww: 'w' }, events: { remind: null } },
      'state: "ww": version "1" has no state "ww"',
    ],
  ])('with %s', async (_, second, rule, reason) => {
    const first = {
      initial: 'w',
      states: { w: { entry: raise({ type: 'remind' }, { delay: 1000, id: 'r' }), on: { remind: {} } } },
    };
    const { problem } = await moved(first, second, { rule });
    expect(problem).toContain(reason);
  });
});

describe('a process without the version to which an actor was migrated', () => {
  it.each([
    ['with other states', { initial: 'v', states: { v: {} } }, { state: { w: 'v' } }],
    ['with the same states', { initial: 'w', states: { w: {} } }, {}],
  ])('cannot open, read or fork it (a version %s)', async (_, second, rule) => {
    const { actor, journals, one } = await moved({ initial: 'w', states: { w: {} } }, second, { rule });
    await actor.close();
    const older = createDurableMachine(one, { journals });
    const message = 'it was migrated to version "2", which this process lacks.';
    const error = { code: 'diverged', message: expect.stringContaining(message) };
    await expect(older.open('x')).rejects.toMatchObject(error);
    await expect(older.send('x', { type: 'GO' })).rejects.toMatchObject(error);
    await expect(older.query('x')).rejects.toMatchObject(error);
    await expect(older.fork('x', { at: (await entriesOf(journals.read('x'))).length - 1 })).rejects.toMatchObject(
      error,
    );
    expect((await checkDeploy(older))[0]?.problem).toContain(message);
  });
});

it('delays keep their time if only some of them count, as long as the earlier version is known', async () => {
  const machine = { initial: 'w', states: { w: { after: { 10000: 'v' } }, v: {} } };
  const options = { timeWithoutProcess: () => 'pauses' as const };
  const { actor, clock, host } = await moved(machine, machine, { options, afterMs: 50_000 });
  clock.increment(4_000);
  await actor.close();
  clock.increment(50_000);
  const again = await host.open('x');
  clock.increment(5_900);
  expect(again.getSnapshot().value).toBe('w');
  clock.increment(200);
  await expect.poll(() => again.getSnapshot().value).toBe('v');
});

describe('a state that is done only in the current version', () => {
  const packing = (more: object) => ({
    initial: 'packing',
    states: {
      packing: { initial: 'open', states: { open: { on: { pack: 'packed' } }, packed: { type: 'final' } }, ...more },
      sent: {},
    },
  });

  it('is refused with the reason, also by the check before a deployment, unless it is mapped to what follows', async () => {
    const [first, second] = [packing({}), packing({ onDone: 'sent' })];
    const { actor, problem, logged } = await moved(first, second, { events: ['pack'] });
    expect(problem).toContain(
      'the state "packing.packed" makes "packing" done in version "2", but a migration does not take "onDone"; map it to the state that follows',
    );
    expect([actor.getSnapshot().value, logged.length]).toEqual([{ packing: 'packed' }, 1]);
    const mapped = await moved(first, second, { events: ['pack'], rule: { state: { 'packing.packed': 'sent' } } });
    expect([mapped.actor.getSnapshot().value, mapped.problem]).toEqual(['sent', null]);
    const early = await moved(first, second);
    await early.actor.send({ type: 'pack' });
    expect([early.actor.getSnapshot().value, early.problem]).toEqual(['sent', null]);
  });

  it('is refused if the machine would be done, but not if its guard did not hold before either', async () => {
    const region = (states: object) => ({ initial: 'a', states: { a: { on: { go: 'b' } }, ...states } });
    const [ends, stays] = [region({ b: { type: 'final' } }), region({ b: {} })];
    const two = await moved(
      { type: 'parallel', states: { one: ends, two: stays } },
      { type: 'parallel', states: { one: ends } },
      { events: ['go'], rule: { state: (path) => (path === 'two.b' ? 'one' : path) } },
    );
    expect(two.problem).toMatch(/ends the machine in version "2"; map it/u);
    const guarded = packing({ onDone: { guard: () => false, target: 'sent' } });
    expect((await moved(guarded, guarded, { events: ['pack'] })).problem).toBeNull();
  });

  it('is refused for an initial state that is final, and for a parallel state with a history state', async () => {
    const ended = { initial: 'f', states: { f: { type: 'final' } }, onDone: 'c' };
    const into = await moved(
      { initial: 'a', states: { a: {} } },
      { initial: 'a', states: { a: {}, b: ended, c: {} } },
      { rule: { state: { a: 'b' } } },
    );
    expect(into.problem).toMatch(/makes "b" done in version "2"/u);
    const around = { initial: 'b', states: { b: ended, c: {} } };
    const inside = await moved(
      { initial: 'a', states: { a: {} } },
      { initial: 'a', states: { a: {}, d: around } },
      { rule: { state: { a: 'd' } } },
    );
    expect(inside.problem).toMatch(/the state "a" makes "d\.b" done/u);
    const regions = (states: object) => ({ type: 'parallel', states: { x: {}, ...states } });
    const added = await moved(regions({}), regions({ y: around }));
    expect(added.problem).toMatch(/: a new state makes "y\.b" done/u);
    const one = { initial: 'a', states: { a: { on: { go: 'b' } }, b: { type: 'final' } } };
    const both = (more: object) => ({
      initial: 'p',
      states: { p: { type: 'parallel', states: { one, before: { type: 'history' } }, ...more }, sent: {} },
    });
    const { problem } = await moved(both({}), both({ onDone: 'sent' }), { events: ['go'] });
    expect(problem).toMatch(/makes "p" done in version "2"/u);
  });
});

it('reads how an actor has ended although its version is missing', async () => {
  const journals = memoryJournals();
  const one = build('1', {
    initial: 'a',
    states: { a: { on: { go: 'b', keep: 'c' } }, b: { type: 'final' }, c: {} },
    output: { total: 3n },
  });
  const first = createDurableMachine(one, { journals });
  await first.open('ended');
  await first.send('ended', { type: 'go' });
  await first.open('waits');
  await first.send('waits', { type: 'keep' });
  const two = createDurableMachine(build('2', { initial: 'x', states: { x: {} } }), { journals });
  const { snapshot, pending } = await two.query('ended');
  expect([snapshot, pending.events]).toEqual([{ status: 'done', output: { total: 3n }, error: undefined }, []]);
  await expect(two.query('waits')).rejects.toMatchObject({ code: 'diverged' });
  const changed = build('1', { initial: 'a', states: { a: {} } });
  await expect(createDurableMachine(changed, { journals }).query('ended')).rejects.toMatchObject({ code: 'diverged' });
});
