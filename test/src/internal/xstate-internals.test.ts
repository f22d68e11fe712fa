import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  createActor,
  fromPromise,
  type InspectionEvent,
  initialTransition,
  SimulatedClock,
  setup,
  transition,
} from 'xstate';
import {
  activeNodes,
  actorNames,
  candidatesFor,
  initialNodes,
  invokedLogics,
  limitInspection,
  logicOf,
  machineOf,
  parentOf,
  registerSystemIds,
  relay,
  replaceBehavior,
  replaceCandidates,
  replaceLogic,
  reportingAction,
  syncsSnapshots,
  takeOverSystem,
  transitionsTaken,
  unregisterActor,
  withoutPreempted,
} from '../../../src/internal/xstate-internals.ts';

const createMachine = () =>
  setup({
    actors: { fetchUser: fromPromise(async () => {}) },
    delays: { timeout: 1_000 },
    guards: { isReady: () => true, isEmpty: () => false },
  }).createMachine({
    id: 'm',
    initial: 'outer',
    states: {
      outer: {
        initial: 'inner',
        states: { inner: {}, waiting: { after: { timeout: '#m.ended' } } },
        on: {
          go: [
            { guard: 'isEmpty', target: '.inner' },
            { guard: 'isReady', target: '.waiting' },
          ],
        },
      },
      ended: {},
    },
  });

type Machine = ReturnType<typeof createMachine>;
const nodeOf = (machine: Machine, id: string): AnyStateNode => machine.getStateNodeById(id);
const candidatesOf = (machine: Machine): AnyTransitionDefinition[] =>
  nodeOf(machine, 'm.outer').transitions.get('go') ?? [];

function start(machine = createMachine()) {
  const taken: AnyTransitionDefinition[] = [];
  const inspect = (event: InspectionEvent): void => {
    if (event.type === '@xstate.microstep') taken.push(...transitionsTaken(event));
  };
  const actor = createActor(machine, { clock: new SimulatedClock(), inspect });
  actor.start();
  return { actor, taken };
}

describe('the XState internals that this product uses', () => {
  it('limits inspection to some types, until another inspector subscribes', () => {
    const types = new Set<InspectionEvent['type']>();
    const inspect = (event: InspectionEvent): void => void types.add(event.type);
    const actor = createActor(createMachine(), { inspect });
    limitInspection(actor, new Set(['@xstate.microstep']));
    types.clear();
    actor.start();
    actor.send({ type: 'go' });
    expect([...types]).toEqual(['@xstate.microstep']);
    actor.system.inspect(() => {});
    actor.send({ type: 'go' });
    expect([...types]).toEqual(expect.arrayContaining(['@xstate.event', '@xstate.snapshot']));
    actor.stop();
  });

  it('lists the active nodes, each parent before its children', () => {
    const { actor } = start();
    expect(activeNodes(actor.getSnapshot()).map(({ id }) => id)).toEqual(['m', 'm.outer', 'm.outer.inner']);
  });

  it('reports the transitions of a microstep as the objects of the machine', () => {
    const machine = createMachine();
    const { actor, taken } = start(machine);
    actor.send({ type: 'go' });
    expect(taken.at(-1)).toBe(candidatesOf(machine)[1]);
  });

  it('takes over the session ids and timers of a system, and the logic of its actors', () => {
    const parent = setup({ actors: { fetchUser: fromPromise(() => Promise.reject(new Error('must not run'))) } });
    const machine = parent.createMachine({
      invoke: [
        { src: 'fetchUser', onSnapshot: {} },
        { src: fromPromise(() => Promise.reject(new Error('must not run'))), systemId: 'inline' },
      ],
      after: { 10: { actions: [] } },
    });
    const timers: unknown[] = [];
    let booked = 0;
    const inert = { getInitialSnapshot: () => ({ status: 'active' }), transition: (snapshot: unknown) => snapshot };
    const inspect = ({ type, actorRef }: InspectionEvent): void => {
      if (type !== '@xstate.actor') return;
      const ref = actorRef as AnyActorRef;
      if (parentOf(ref) !== undefined) {
        timers.push(['syncs', syncsSnapshots(ref), typeof logicOf(ref)]);
        replaceLogic(ref, inert as never);
        return;
      }
      takeOverSystem(ref, () => `id ${booked++}`, {
        schedule: (_, __, event, delay, id) => timers.push(['scheduled', event.type, delay, id]),
        cancel: (_, id) => timers.push(['canceled', id]),
        cancelAll: () => timers.push(['all canceled']),
      });
    };
    const actor: AnyActorRef = createActor(machine, { inspect }).start();
    const children = Object.values((actor.getSnapshot() as AnyMachineSnapshot).children) as AnyActorRef[];
    expect([actor, ...children].map(({ sessionId }) => sessionId)).toEqual(['id 0', 'id 1', 'id 2']);
    expect(actor.system.get('inline')).toBe(children[1]);
    unregisterActor(actor.system, children[1] as AnyActorRef);
    expect(actor.system.getAll()).toEqual({});
    registerSystemIds(actor.system, children);
    expect(actor.system.getAll()).toEqual({ inline: children[1] });
    const received: string[] = [];
    actor.system.inspect(({ type }) => void received.push(type));
    relay(children[0] as AnyActorRef, actor, { type: 'go' });
    expect(received).toContain('@xstate.event');
    (actor as Actor<AnyStateMachine>).stop();
    const after = 'xstate.after.10.(machine)';
    expect(timers).toEqual([
      ['syncs', true, 'object'],
      ['syncs', false, 'object'],
      ['scheduled', after, 10, after],
      // One for each actor of the system.
      ...Array(3).fill(['all canceled']),
    ]);
  });

  it('reports an action that runs, also in a pure step', () => {
    const machine = createMachine();
    const ran: string[] = [];
    nodeOf(machine, 'm.outer.waiting').entry.push(reportingAction(() => ran.push('entered')));
    const [first] = initialTransition(machine);
    transition(machine, first, { type: 'go' } as never);
    expect(ran).toEqual(['entered']);
  });

  it('lists the logic that a state invokes, also if it is inline', () => {
    const inline = fromPromise(async () => {});
    const { root } = setup({ actors: { named: inline } }).createMachine({
      invoke: [{ src: 'named' }, { src: inline }],
      initial: 'a',
      states: { a: {} },
    });
    expect(invokedLogics(root)).toEqual(['named', inline]);
    expect(invokedLogics(root.states['a'] as AnyStateNode)).toEqual([]);
  });

  it('lists the actors of a machine by name', () => {
    expect(actorNames(createMachine())).toEqual(['fetchUser']);
    expect(actorNames(createMachine().provide({ actors: { fetchUser: fromPromise(async () => {}) } }))).toEqual([
      'fetchUser',
    ]);
  });

  it('lists the candidates for an event in the order in which XState evaluates them', () => {
    const tried: string[] = [];
    const on = (name: string) => [{ guard: () => void tried.push(name) as never }];
    const machine = setup({}).createMachine({
      on: Object.fromEntries(['*', 'a.*', 'a', 'a.b.*', 'a.b', 'b.*'].map((name) => [name, on(name)])),
    });
    createActor(machine).start().send({ type: 'a.b' });
    expect(tried).toEqual(['a.b', 'a.b.*', 'a.*', '*']);
    expect(candidatesFor(machine.root, 'a.b').map(({ eventType }) => eventType)).toEqual(tried);
  });

  it('knows which of two conflicting transitions takes effect', () => {
    const region = (target: string) => ({ initial: 'one', states: { one: { on: { go: target } }, two: {} } });
    const machine = setup({}).createMachine({
      id: 'm',
      initial: 'both',
      states: { both: { type: 'parallel', states: { x: region('#m.left'), y: region('two') } }, left: {} },
    });
    const { actor, taken } = start(machine as never);
    const nodes = activeNodes(actor.getSnapshot());
    expect(initialNodes(machine.root)).toEqual(nodes);
    actor.send({ type: 'go' });
    expect(actor.getSnapshot().value).toBe('left');
    expect(taken.map(({ source }) => source.id)).toEqual(['m.both.x.one', 'm.both.y.one']);
    expect(withoutPreempted(taken, { nodes, history: {} })).toEqual(taken.slice(0, 1));
  });

  it('finds the machine and the parent of an actor', () => {
    const child = createMachine();
    const parent = setup({ actors: { child } }).createMachine({ invoke: { src: 'child', id: 'kid' } });
    const actor = createActor(parent).start();
    const kid = actor.getSnapshot().children['kid'] as NonNullable<Parameters<typeof machineOf>[0]>;
    expect([machineOf(kid), parentOf(kid), parentOf(actor)]).toEqual([child, actor, undefined]);
    expect(machineOf(createActor(fromPromise(async () => {})))).toBeNull();
  });

  it('replaces the candidates for an event', () => {
    const machine = createMachine();
    const [first] = candidatesOf(machine);
    replaceCandidates(nodeOf(machine, 'm.outer'), 'go', [first as AnyTransitionDefinition]);
    const { actor } = start(machine);
    actor.send({ type: 'go' });
    expect(actor.getSnapshot().value).toEqual({ outer: 'inner' });

    replaceCandidates(nodeOf(machine, 'm.outer'), 'go', []);
    expect(candidatesOf(machine)).toEqual([]);
    expect(start(machine).actor.getSnapshot().can({ type: 'go' })).toBe(false);
  });

  it('replaces the always transitions of a state', () => {
    const machine = createMachine();
    const [, go] = candidatesOf(machine);
    const always = { ...(go as AnyTransitionDefinition), eventType: '', target: [nodeOf(machine, 'm.ended')] };
    replaceCandidates(nodeOf(machine, 'm.outer.waiting'), '', [always]);
    const { actor } = start(machine);
    actor.send({ type: 'go' });
    expect(actor.getSnapshot().value).toBe('ended');
  });

  it('replaces the guard and the actions of one transition, not of the machine it was copied from', () => {
    const original = createMachine();
    const copy = original.provide({});
    let runs = 0;
    const [first] = candidatesOf(copy);
    replaceBehavior(first as AnyTransitionDefinition, { guard: () => true, actions: [() => (runs += 1)] });
    const { actor } = start(copy);
    actor.send({ type: 'go' });
    expect([actor.getSnapshot().value, runs]).toEqual([{ outer: 'inner' }, 1]);
    const untouched = start(original).actor;
    untouched.send({ type: 'go' });
    expect([untouched.getSnapshot().value, runs]).toEqual([{ outer: 'waiting' }, 1]);
  });
});
