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

/** What the journal relies on in XState's inspection (src/journal): found out by running it, see shared/XSTATE-NOTES.md. */

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

/** Every emitted event of a system, by a listener put on in each actor's own inspection event. */
function listenEverywhere(machine: typeof speaking | typeof parent) {
  const heard: string[] = [];
  const actor = createActor(machine, {
    inspect: (event) => {
      if (event.type === '@xstate.actor') (event.actorRef as AnyActorRef).on('*', ({ type }) => heard.push(type));
    },
  });
  return { actor, heard };
}

describe('what is emitted', () => {
  test('on the first entry reaches a listener put on in the actor’s inspection event, in the root and in its children', () => {
    for (const machine of [speaking, parent]) {
      const { actor, heard } = listenEverywhere(machine);
      actor.start();
      expect(heard).toEqual(['root.said', 'state.said']);
    }
  });

  test('on entering a final state reaches it too', () => {
    const { actor, heard } = listenEverywhere(speaking);
    actor.start();
    actor.send({ type: 'go' });
    expect(heard.at(-1)).toBe('end.said');
  });

  test('on the first entry misses a listener put on after start', () => {
    const heard: string[] = [];
    const actor = createActor(speaking).start();
    actor.on('*', ({ type }) => heard.push(type));
    expect(heard).toEqual([]);
  });
});

/** The inspection events of a machine's run over these events. */
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

  test('carries the transition that was taken: source, event, target and guard', () => {
    const { steps } = inspected(guarded, 'go');
    expect(steps).toHaveLength(2);
    expect(taken(steps[0])).toMatchObject({ eventType: 'go', source: { id: 'guarded.a' }, guard: 'yes' });
    expect(taken(steps[0]).target?.map(({ id }) => id)).toEqual(['guarded.b']);
    expect(steps[0]?.event.type).toBe('go');
  });

  test('reports no guard that said no: they are the candidates before the one taken', () => {
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

  test('of an always-transition has the empty event type, and its candidates are in `always`', () => {
    const { steps } = inspected(guarded, 'go');
    const { source, eventType } = taken(steps[1]);
    expect(eventType).toBe('');
    expect(source.always?.indexOf(taken(steps[1]))).toBe(0);
    expect(steps[1]?.event.type).toBe('go');
  });

  test('is not told for the plain first entry', () => {
    expect(inspected(guarded).steps).toEqual([]);
  });

  test('is told before what its transition emits', () => {
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

describe('inspecting', () => {
  test('never tells @xstate.transition', () => {
    expect(inspected(guarded, 'go').seen.map(({ type }) => String(type))).not.toContain('@xstate.transition');
  });

  test('that throws throws out of createActor', () => {
    const inspect = (): void => {
      throw new Error('in the inspector');
    };
    expect(() => createActor(createMachine({}), { inspect })).toThrowError('in the inspector');
  });

  test('an actor’s snapshot cannot be asked for while the actor is made', () => {
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
