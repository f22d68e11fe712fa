import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
  fromPromise,
  type InspectionEvent,
  setup,
} from 'xstate';
import {
  actorNames,
  limitInspection,
  logicOf,
  parentOf,
  registerSystemIds,
  relay,
  replaceCandidates,
  replaceLogic,
  syncsSnapshots,
  takeOverSystem,
  unregisterActor,
} from '../../../src/xstate/actors.ts';

describe('the XState internals that this product uses', () => {
  it('limits inspection to some types, until another inspector subscribes', () => {
    const types = new Set<InspectionEvent['type']>();
    const inspect = (event: InspectionEvent): void => void types.add(event.type);
    const machine = setup({}).createMachine({ on: { go: {} } });
    const actor = createActor(machine, { inspect });
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

  it('replaces the always transitions of a state', () => {
    const machine = setup({}).createMachine({ initial: 'a', states: { a: { always: 'b' }, b: {} } });
    replaceCandidates(machine.root.states['a'] as AnyStateNode, '', []);
    expect(createActor(machine).start().getSnapshot().value).toBe('a');
  });

  it('lists the actors of a machine by name', () => {
    const machine = setup({ actors: { fetchUser: fromPromise(async () => {}) } }).createMachine({});
    expect([machine, machine.provide({})].map(actorNames)).toEqual([['fetchUser'], ['fetchUser']]);
  });
});
