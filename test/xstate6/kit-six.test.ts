import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createMachine as createMachine5,
  type EventObject,
} from 'xstate';
import { createActor, createAsyncLogic, createLogic, createMachine, setup, types } from 'xstate6';
import { idempotencyKey } from '../../src/entries/durable.ts';
import {
  collectCoverage,
  cover,
  describeFinding,
  done,
  explore,
  fails,
  findingsOf,
  killReport,
  migratesTo,
  mutantsOf,
  pathThrough,
  runPath,
  soundness,
  startWalk,
  testSystem,
} from '../../src/entries/testing.ts';
import { fromXState6, hostXState6 } from '../../src/entries/xstate6.ts';
import { setXState6Port } from '../../src/xstate/ports.ts';
import { eagerClock } from '../support/eager-clock.ts';
import { machinesOfBoth } from '../support/machines-of-both.ts';

beforeAll(() => hostXState6({ createActor }));

const outcomes = { '*': [done({ receipt: 7 }), fails()] };

/** A mutant may count without end. */
const options = {
  outcomes,
  limit: 200,
  abstraction: ({ context }: AnyMachineSnapshot) => Math.min(Object(context).n ?? 0, 4),
};

/** Which events functions of XState 6 raise or send cannot be read from the chart, so these are given. */
const sentFromOutside: Readonly<Record<string, readonly string[]>> = {
  'a child machine that answers': ['ask'],
  'a raised event': ['go'],
};

/** What an exploration found, without the objects of one version. */
function found(machine: AnyStateMachine, events?: readonly EventObject[]) {
  const exploration = explore(machine, { ...options, ...(events && { events }) });
  return {
    exploration,
    states: exploration.states.map(({ value, snapshot, ended, timers }) => ({
      value,
      status: snapshot.status,
      context: snapshot.context,
      ended,
      timers: timers.map(({ event }) => event.type),
    })),
    edges: exploration.edges.map(({ from, to, occurrence, taken, guards, entered }) => ({
      from,
      to,
      name: occurrence.name,
      taken,
      guards,
      entered,
    })),
    findings: findingsOf(exploration, soundness).map(describeFinding),
    paths: cover(exploration).map(({ name }) => name),
  };
}

describe.each(Object.entries(machinesOfBoth))('%s', (name, { five, six }) => {
  const events = sentFromOutside[name]?.map((type) => ({ type }));
  it('is explored alike in both versions', () => {
    const [{ exploration: _five, ...one }, { exploration: _six, ...other }] = [
      found(five(), events),
      found(six(), events),
    ];
    expect(other).toEqual(one);
  });

  it('runs each covering path on an actor', () => {
    const { exploration } = found(six(), events);
    for (const path of cover(exploration)) runPath(exploration, path);
  });

  it('has the same mutants, and the same of them are detected', async () => {
    const [one, other] = await Promise.all(
      [five(), six()].map((machine) => {
        const expected = JSON.stringify(found(machine, events).edges);
        return killReport(mutantsOf(machine), (mutant) => {
          if (JSON.stringify(found(mutant, events).edges) !== expected) throw new Error('It differs');
        });
      }),
    );
    expect(other).toEqual(one);
    expect(other?.killed).toBeGreaterThan(0);
  });

  it('can be led step by step', () => {
    const walk = startWalk(six(), { outcomes, ...(events && { events }) });
    const twin = startWalk(five(), { outcomes, ...(events && { events }) });
    for (const choice of [0, 1, 2, 0, 1, 2, 0, 0]) {
      walk.step(choice);
      twin.step(choice);
    }
    expect(walk.names).toEqual(twin.names);
    expect(walk.snapshot.value).toEqual(twin.snapshot.value);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: XState 6 has no types for these arguments outside of a literal.
type Args = any;

const machineOf = (config: object): AnyStateMachine => createMachine(config as never) as unknown as AnyStateMachine;

const asking = (rest: object): AnyStateMachine =>
  machineOf({
    id: 'desk',
    initial: 'asking',
    states: {
      asking: {
        invoke: { id: 'model', src: createAsyncLogic({ run: async () => 'yes' }), onDone: 'answered' },
        ...rest,
      },
      answered: { type: 'final' },
    },
  });

it('executes no custom action in an exploration, and each of them on a path', () => {
  const keys: string[] = [];
  const machine = asking({
    entry: ({ self }: Args, enqueue: Args) => enqueue(() => keys.push(idempotencyKey({ self }))),
  });
  const exploration = explore(machine, { outcomes: { model: [done('yes')] } });
  expect(keys).toEqual([]);
  for (const path of cover(exploration)) runPath(exploration, path);
  expect(keys).toEqual(['test:effect:0']);
});

it('ends in an error if a function of the machine throws', () => {
  const machine = asking({
    on: {
      cancel: () => {
        throw new Error('Not allowed');
      },
    },
  });
  const { states } = explore(machine, { outcomes: { model: [done('yes')] } });
  expect(states.map(({ snapshot }) => snapshot.status)).toEqual(['active', 'done', 'error']);
});

it('follows a delay of an action, and one that is canceled', () => {
  const machine = asking({
    on: {
      later: (_: Args, enqueue: Args) => enqueue.raise({ type: 'now' }, { delay: 50, id: 'soon' }),
      never: (_: Args, enqueue: Args) => enqueue.cancel('soon'),
      now: 'answered',
    },
  });
  const events = [{ type: 'later' }, { type: 'never' }];
  const { edges } = explore(machine, { outcomes: { model: [] }, events });
  expect(edges.map(({ from, to, occurrence }) => `${from} ${occurrence.name} ${to}`)).toEqual([
    '0 later 1',
    '0 never 0',
    '1 now (delayed) 2',
    '1 later 1',
    '1 never 0',
  ]);
});

it('starts an actor again under the id of one that has ended', () => {
  const logic = createAsyncLogic({ run: async () => 'yes' });
  const machine = machineOf({
    id: 'desk',
    initial: 'idle',
    states: {
      idle: {
        on: {
          ask: (_: Args, enqueue: Args) => void enqueue.spawn(logic, { id: 'model' }),
          close: 'closed',
        },
      },
      closed: { type: 'final' },
    },
  });
  const events = [{ type: 'ask' }, { type: 'close' }];
  const exploration = explore(machine, { outcomes: { model: [done('yes')] }, events });
  expect(exploration.edges.map(({ from, to, occurrence }) => `${from} ${occurrence.name} ${to}`)).toEqual([
    '0 ask 1',
    '0 close 2',
    '1 model: done 0',
    '1 ask 3',
    '1 close 2',
  ]);
  expect(exploration.states[3]?.snapshot.error).toMatchObject({ message: expect.stringContaining('already in use') });
  for (const path of cover(exploration)) runPath(exploration, path);
});

it('reads the snapshot of a stand-in, which starts nothing in an exploration', () => {
  let calls = 0;
  const gauge = createLogic({
    context: { level: 3 },
    run: ({ context, event }: Args, enqueue: Args) => {
      enqueue.effect(() => {
        calls += 1;
      });
      return event.type === 'rise' ? { context: { level: context.level + 1 } } : undefined;
    },
  } as never);
  const machine = machineOf({
    id: 'tank',
    invoke: { id: 'gauge', src: 'gauge' },
    initial: 'filling',
    states: {
      filling: {
        on: {
          look: ({ children }: Args) =>
            children.gauge.getSnapshot().context.level === 3 ? { target: 'full' } : undefined,
          fill: ({ children }: Args, enqueue: Args) => enqueue.sendTo(children.gauge, { type: 'rise' }),
        },
      },
      full: { type: 'final' },
    },
  }).provide({ actors: { gauge } } as never);
  const exploration = explore(machine, {
    outcomes: { gauge: [] },
    actors: { gauge: gauge as never },
    events: [{ type: 'fill' }, { type: 'look' }],
  });
  expect(calls).toBe(0);
  expect(exploration.edges.map(({ from, to, occurrence }) => `${from} ${occurrence.name} ${to}`)).toEqual([
    '0 fill 0',
    '0 look 1',
  ]);
});

it('finds an actor by its system id in each step', () => {
  const machine = machineOf({
    id: 'desk',
    initial: 'idle',
    states: {
      idle: { on: { ask: 'asking' } },
      asking: {
        invoke: { id: 'model', registryKey: 'model', src: createAsyncLogic({ run: async () => 'yes' }) },
        on: { check: ({ system }: Args) => (system.get('model') === undefined ? { target: 'idle' } : undefined) },
      },
    },
  });
  const exploration = explore(machine, { outcomes: { model: [] }, events: [{ type: 'ask' }, { type: 'check' }] });
  for (const edge of exploration.edges) runPath(exploration, pathThrough(exploration, edge));
  expect(exploration.edges.map(({ from, to, occurrence }) => `${from} ${occurrence.name} ${to}`)).toEqual([
    '0 ask 1',
    '0 check 0',
    '1 ask 1',
    '1 check 1',
  ]);
});

it('tests a running system against a machine of XState 6', async () => {
  const machine = machineOf({
    id: 'door',
    initial: 'open',
    states: { open: { on: { close: 'closed' } }, closed: { on: { open: 'open' } } },
  });
  const system = { reset: () => {}, send: () => {}, read: () => 'open' };
  await expect(testSystem(explore(machine), { system, clock: eagerClock() } as never)).rejects.toThrow(
    'expected what is read to be "closed", received "open", after start → close',
  );
});

it('knows the types of a machine with schemas', () => {
  const lamp = setup({
    schemas: { context: types<{ watts: number }>(), events: { dim: types<{ by: number }>() } },
  }).createMachine({
    id: 'lamp',
    context: { watts: 2 },
    on: { dim: ({ context, event }) => ({ context: { watts: context.watts - event.by } }) },
  });
  const { states } = explore(fromXState6(lamp), {
    events: [{ type: 'dim', by: 2 }],
    abstraction: ({ context }) => context.watts > 0,
  });
  expect(states.map(({ snapshot }) => snapshot.context.watts)).toEqual([2, 0]);
});

describe('refuses', () => {
  it('any machine of XState 6 before hostXState6', () => {
    setXState6Port(null);
    expect(() => explore(asking({}))).toThrow(/Call hostXState6\(\)/u);
    expect(() => mutantsOf(asking({}))).toThrow(/Call hostXState6\(\)/u);
    hostXState6({ createActor });
  });

  it('an event whose payload is read, without `events`', () => {
    const machine = asking({
      on: { rate: ({ event }: Args) => (event.stars > 3 ? { target: 'answered' } : undefined) },
    });
    expect(() => explore(machine, { outcomes: { model: [] } })).toThrow(
      /"events" is missing, and "rate" needs a payload: its "stars" is read/u,
    );
  });

  it('a machine that reads the snapshot of a stub', () => {
    const machine = asking({
      on: { peek: ({ children }: Args) => (children.model.getSnapshot().output ? { target: 'answered' } : undefined) },
    });
    expect(() => explore(machine, { outcomes: { model: [] } })).toThrow(/reads the snapshot of its actor "model"/u);
  });

  it('an actor without outcomes, also a child machine', () => {
    expect(() => explore(asking({}))).toThrow(/"outcomes.model" is missing/u);
    const parent = machineOf({ id: 'parent', invoke: { id: 'child', src: asking({}) } });
    expect(() => explore(parent)).toThrow(/"outcomes.child" is missing .*a child machine of XState 6 is not explored/u);
  });

  it('`inspect`, and the collector of coverage', () => {
    const exploration = explore(asking({}), { outcomes: { model: [done('yes')] } });
    const [path] = cover(exploration);
    expect(() => runPath(exploration, path as never, { inspect: () => {} })).toThrow(
      /"inspect" does not work with desk/u,
    );
    expect(() => collectCoverage([asking({})])).toThrow(/desk.*XState 6/u);
  });
});

const five = createMachine5({
  id: 'order',
  version: '1',
  initial: 'waiting',
  states: { waiting: { on: { pay: 'paid' }, after: { 1000: 'late' } }, late: {}, paid: { type: 'final' } },
});

const next = (states: object): AnyStateMachine => machineOf({ id: 'order', version: '2', initial: 'open', states });

const open = { on: { pay: { target: 'paid' } }, after: { 1000: { target: 'late' } } };

it('proves that each state of a machine of XState 5 moves to one of XState 6', () => {
  const six = next({ open, late: {}, paid: { type: 'final' } });
  const [finding] = findingsOf(explore(five), [migratesTo(explore(six), { state: { waiting: 'open' } })]);
  expect(finding?.witness).toBeNull();
});

it('names the state of a machine of XState 5 that XState 6 does not reach', () => {
  const six = next({ open, overdue: {}, late: { type: 'final' }, paid: { type: 'final' } });
  const findings = findingsOf(explore(five), [
    migratesTo(explore(six), { state: { waiting: 'open', late: 'overdue' } }),
  ]);
  expect(findings.map(describeFinding)).toEqual([
    'FAILS: each state at rest migrates to version "2": "late" leads to "overdue", which the current version never reaches, after start → after 1000 ms',
  ]);
});
