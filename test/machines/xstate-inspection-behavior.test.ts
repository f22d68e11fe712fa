import { describe, expect, test } from 'vitest';
import {
  type AnyActorRef,
  type AnyTransitionDefinition,
  createActor,
  createMachine,
  emit,
  type InspectedMicrostepEvent,
  type InspectionEvent,
  setup,
} from 'xstate';

/** What the journal relies on in the inspection API of XState (`src/chain/recording`), determined by experiment. */

const speaking = setup({ types: { emitted: {} as { type: string } } }).createMachine({
  initial: 'a',
  entry: emit({ type: 'root.said' }),
  states: {
    a: { entry: emit({ type: 'state.said' }), on: { go: 'b' } },
    b: { type: 'final', entry: emit({ type: 'end.said' }) },
  },
});

const parent = setup({ actors: { child: speaking } }).createMachine({
  initial: 'busy',
  states: { busy: { invoke: { src: 'child', id: 'child', onDone: 'done' } }, done: {} },
});

/** Collects every emitted event of a system with a listener attached on the inspection event of each actor. */
function listenEverywhere(machine: typeof speaking | typeof parent) {
  const heard: string[] = [];
  const actor = createActor(machine, {
    inspect: (event) => {
      if (event.type === '@xstate.actor') (event.actorRef as AnyActorRef).on('*', ({ type }) => heard.push(type));
    },
  });
  return { actor, heard };
}

describe('an emitted event', () => {
  test('on first entry reaches listeners attached on the inspection event of the actor, for the root and its children', () => {
    for (const machine of [speaking, parent]) {
      const { actor, heard } = listenEverywhere(machine);
      actor.start();
      expect(heard).toEqual(['root.said', 'state.said']);
    }
  });

  test('on entry to a final state reaches them too', () => {
    const { actor, heard } = listenEverywhere(speaking);
    actor.start();
    actor.send({ type: 'go' });
    expect(heard.at(-1)).toBe('end.said');
  });

  test('on first entry does not reach a listener attached after start', () => {
    const heard: string[] = [];
    const actor = createActor(speaking).start();
    actor.on('*', ({ type }) => heard.push(type));
    expect(heard).toEqual([]);
  });
});

/** Returns the inspection events of a machine for these events. */
function inspected(machine: Parameters<typeof createActor>[0], ...events: readonly string[]) {
  const seen: InspectionEvent[] = [];
  const actor = createActor(machine, { inspect: (event) => void seen.push(event) }).start();
  for (const type of events) actor.send({ type });
  return { seen, steps: seen.filter((event): event is InspectedMicrostepEvent => event.type === '@xstate.microstep') };
}

const guarded = setup({
  guards: { never: () => false, nor: (_, __: { of: string }) => false, yes: () => true, unasked: () => true },
}).createMachine({
  id: 'guarded',
  initial: 'a',
  states: {
    a: {
      on: {
        go: [
          { guard: 'never', target: 'wrong' },
          { guard: { type: 'nor', params: { of: 'x' } }, target: 'wrong' },
          { guard: 'yes', target: 'b' },
          { guard: 'unasked', target: 'wrong' },
        ],
      },
    },
    b: { always: 'c' },
    c: {},
    wrong: {},
  },
});

describe('a microstep', () => {
  const taken = (step: InspectedMicrostepEvent | undefined) => step?._transitions[0] as AnyTransitionDefinition;

  test('contains the taken transition: source, event, target, and guard', () => {
    const { steps } = inspected(guarded, 'go');
    expect(steps).toHaveLength(2);
    expect(taken(steps[0])).toMatchObject({ eventType: 'go', source: { id: 'guarded.a' }, guard: 'yes' });
    expect(taken(steps[0]).target?.map(({ id }) => id)).toEqual(['guarded.b']);
    expect(steps[0]?.event.type).toBe('go');
  });

  test('omits guards that returned false: they are the candidates before the taken one', () => {
    const { seen, steps } = inspected(guarded, 'go');
    expect(JSON.stringify(seen.map(({ type }) => type))).not.toContain('guard');
    const { source, eventType } = taken(steps[0]);
    const candidates = source.transitions.get(eventType) ?? [];
    expect(candidates.indexOf(taken(steps[0]))).toBe(2);
    expect(candidates.map(({ guard }) => guard)).toEqual([
      'never',
      { type: 'nor', params: { of: 'x' } },
      'yes',
      'unasked',
    ]);
  });

  test('of an always transition has an empty event type, and its candidates are in `always`', () => {
    const { steps } = inspected(guarded, 'go');
    const { source, eventType } = taken(steps[1]);
    expect(eventType).toBe('');
    expect(source.always?.indexOf(taken(steps[1]))).toBe(0);
    expect(steps[1]?.event.type).toBe('go');
  });

  test('is not inspected for a plain first entry', () => {
    expect(inspected(guarded).steps).toEqual([]);
  });

  test('is inspected before the events that its transition emits', () => {
    const order: string[] = [];
    const machine = setup({ types: { emitted: {} as { type: 'said' } } }).createMachine({
      initial: 'a',
      states: { a: { on: { go: 'b' } }, b: { entry: emit({ type: 'said' }) } },
    });
    const actor = createActor(machine, {
      inspect: ({ type }) => {
        if (type === '@xstate.microstep') order.push('microstep');
      },
    });
    actor.on('said', () => order.push('said'));
    actor.start();
    actor.send({ type: 'go' });
    expect([...order].sort()).toEqual(['microstep', 'said']);
    expect(order[0]).toBe('microstep');
  });
});

describe('inspection', () => {
  test('never reports @xstate.transition', () => {
    expect(inspected(guarded, 'go').seen.map(({ type }) => String(type))).not.toContain('@xstate.transition');
  });

  test('propagates an exception of the inspector out of createActor', () => {
    const inspect = (): void => {
      throw new Error('in the inspector');
    };
    expect(() => createActor(createMachine({}), { inspect })).toThrowError('in the inspector');
  });

  test('cannot read the snapshot of an actor while it is created', () => {
    const errors: unknown[] = [];
    createActor(createMachine({}), {
      inspect: (event) => {
        if (event.type !== '@xstate.actor') return;
        try {
          (event.actorRef as AnyActorRef).getSnapshot();
        } catch (error) {
          errors.push(error);
        }
      },
    });
    expect(errors).toHaveLength(1);
  });
});
