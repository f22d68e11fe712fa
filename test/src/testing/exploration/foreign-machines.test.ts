import { describe, expect, it } from 'vitest';
import {
  type AnyActorLogic,
  type AnyStateMachine,
  assign,
  cancel,
  createMachine,
  enqueueActions,
  fromCallback,
  fromObservable,
  fromPromise,
  raise,
  sendTo,
  setup,
  spawnChild,
  stopChild,
} from 'xstate';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, sends, updates } from '../../../../src/testing/exploration/occurrences.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { startWalk } from '../../../../src/testing/exploration/walk.ts';
import { alwaysEventually } from '../../../../src/testing/properties/always-eventually.ts';
import { describeFinding, findingsOf, noDeadEnd } from '../../../../src/testing/properties/properties.ts';
import { caughtError } from '../../../support/errors.ts';

let realActors = 0;
const count = (): void => {
  realActors += 1;
};
const logics: Readonly<Record<string, AnyActorLogic>> = {
  promise: fromPromise(async () => count()),
  callback: fromCallback(count),
  observable: fromObservable(() => {
    count();
    return { subscribe: () => ({ unsubscribe() {} }) };
  }),
  machine: createMachine({ entry: count, invoke: { src: fromCallback(count) } }),
};

/** Explores a machine, runs all edges on a real actor, walks at random, and returns the names of the edges. */
function explored(machine: AnyStateMachine, options: ExploreOptions<AnyStateMachine> = {}) {
  const exploration = explore(machine, options);
  const collectors = [collectCoverage([machine]), collectCoverage([machine])] as const;
  collectors[0].addExploration(exploration as never);
  for (const path of cover(exploration, { each: 'edge' }))
    runPath(exploration, path, { inspect: collectors[1].inspect });
  const [ofExploration, ofRuns] = collectors.map((collector) =>
    collector.coverage().flatMap(({ items }) => items.flatMap(({ name, times }) => (times > 0 ? [name] : []))),
  );
  expect(ofRuns).toEqual(ofExploration);
  const walk = startWalk(machine, options);
  for (let choice = 0; choice < 30; choice += 1) walk.step(choice * 7);
  walk.stop();
  return exploration;
}

const values = (machine: AnyStateMachine, options: ExploreOptions<AnyStateMachine> = {}): readonly unknown[] =>
  explored(machine, options).states.map(({ value }) => value);

describe('inline and spawned actors', () => {
  it.each(Object.entries(logics))(
    'do not run, whether invoked or spawned by an action or an assignment: %s',
    (_, src) => {
      realActors = 0;
      const machine = createMachine({
        id: 'm',
        initial: 'invoking',
        context: {},
        states: {
          invoking: { invoke: { src, onDone: 'spawning', onError: 'invoking' } },
          spawning: {
            entry: [
              spawnChild(src, { id: 'one' }),
              enqueueActions(({ enqueue }) => enqueue.spawnChild(src, { id: 'two' })),
              assign(({ spawn }) => {
                spawn(src, { id: 'three' });
                return {};
              }),
            ],
            on: {
              'xstate.done.actor.one': 'over',
              'xstate.done.actor.two': 'over',
              'xstate.done.actor.three': 'over',
            },
          },
          over: { type: 'final' },
        },
      });
      const outcomes = { invoking: [done(), fails()], one: [done()], two: [done()], three: [done()] };
      expect(values(machine, { outcomes })).toContain('over');
      expect(realActors).toBe(0);
    },
  );

  it('do not run if they are spawned when the context is created', () => {
    realActors = 0;
    const machine = createMachine({
      context: ({ spawn }) => ({ ref: spawn(logics['promise'] as AnyActorLogic), input: spawn('named' as never) }),
      on: { 'xstate.done.actor.*': { actions: [] } },
    }).provide({ actors: { named: logics['callback'] } } as never);
    const { edges } = explored(machine, { outcomes: { inline: [done()], named: [sends({ type: 'HI' })] } });
    expect(new Set(edges.map(({ occurrence }) => occurrence.name))).toEqual(new Set(['inline: done', 'named: HI']));
    expect(realActors).toBe(0);
  });

  it('are named after their id, their machine, or the state that invokes them', () => {
    const named = createMachine({ id: 'worker', initial: 'a', states: { a: {} } });
    const { promise } = logics as { promise: AnyActorLogic };
    const machine = createMachine({
      id: 'm',
      type: 'parallel',
      states: {
        a: { invoke: { src: promise, id: 'own' } },
        b: { invoke: { src: named } },
        c: { initial: 'd', states: { d: { invoke: [{ src: promise }, { src: promise }] } } },
      },
    });
    const outcomes = Object.fromEntries(
      ['own', 'worker', 'c.d', 'c.d[1]'].map((name) => [name, [sends({ type: 'X' })]]),
    );
    const { edges } = explored(machine, { outcomes });
    expect(edges.map(({ occurrence }) => occurrence.name)).toEqual(['own: X', 'worker: X', 'c.d: X', 'c.d[1]: X']);
    expect(caughtError(() => explore(machine))?.message).toMatch(/^"outcomes\.own" is missing \(m\.a invokes this/u);
  });
});

describe('a delay', () => {
  const waiting = createMachine({
    id: 'waiting',
    context: { ready: false },
    initial: 'w',
    states: {
      w: {
        invoke: { src: 'prepare', onDone: { actions: assign({ ready: true }) }, onError: 'd' },
        after: { 1000: { guard: ({ context }) => context.ready, target: 'd' } },
        on: { again: { target: 'w', reenter: true } },
      },
      d: { type: 'final' },
    },
  });

  it('elapses once in each stay in its state', () => {
    const exploration = explored(waiting, { outcomes: { prepare: [done()] }, events: [] });
    expect(
      findingsOf(exploration, [noDeadEnd, alwaysEventually('over', ({ status }) => status === 'done')]).map(
        describeFinding,
      ),
    ).toEqual([
      'FAILS: no dead end: no event takes a transition in "w", after start → after 1000 ms → prepare: done',
      'FAILS: always eventually over: it stays forever in "w", after start → after 1000 ms → prepare: done',
    ]);
    const paths = explored(waiting, { outcomes: { prepare: [done()] } }).edges;
    expect(paths.some(({ from, occurrence, to }) => occurrence.name === 'after 1000 ms' && from === to)).toBe(false);
  });

  it('of an action elapses once, unless it is canceled', () => {
    const send = {
      raise: raise({ type: 'TICK' }, { delay: 9, id: 't' }),
      sendTo: sendTo(({ self }) => self, { type: 'TICK' }, { delay: 9, id: 't' }),
    };
    for (const action of Object.values(send)) {
      const machine = createMachine({
        id: 'm',
        initial: 'a',
        states: {
          a: { entry: action, on: { TICK: 'b', STAY: 'c', CANCEL: { target: 'd', actions: cancel('t') } } },
          b: { on: { TICK: 'never' } },
          c: { on: { TICK: 'b' } },
          d: { on: { TICK: 'never' } },
          never: {},
        },
      });
      const events = [{ type: 'STAY' }, { type: 'CANCEL' }];
      const { edges, states } = explored(machine, { events });
      expect(new Set(states.map(({ value }) => value))).toEqual(new Set(['a', 'b', 'c', 'd']));
      expect(edges[0]?.occurrence.name).toBe('TICK (delayed)');
    }
  });

  it('without an implementation elapses at once, as in XState', () => {
    const machine = createMachine({ initial: 'a', states: { a: { after: { soon: 'b' } }, b: {} } });
    expect(values(machine)).toEqual(['b']);
  });
});

describe('an event that a machine sends itself', () => {
  it('is taken before the next event', () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { entry: sendTo(({ self }) => self, { type: 'GO' }), on: { GO: 'b' } }, b: {} },
    });
    expect(values(machine, { events: [] })).toEqual(['b']);
  });
});

describe('spawned actors', () => {
  const kid = createMachine({ id: 'kid', initial: 'a', states: { a: { on: { END: 'b' } }, b: { type: 'final' } } });
  const friends = (id?: () => string) =>
    createMachine({
      id: 'friends',
      context: { friends: [] as { id: string }[] },
      on: {
        ADD: {
          guard: ({ context }) => context.friends.length < 2,
          actions: assign({
            friends: ({ context, spawn }) => [
              ...context.friends,
              spawn(kid as never, (id ? { id: id() } : {}) as never),
            ],
          }),
        },
        DROP: {
          guard: ({ context }) => context.friends.length > 0,
          actions: [
            stopChild(({ context }) => context.friends[0] as never),
            assign({ friends: ({ context }) => context.friends.slice(1) }),
          ],
        },
        'xstate.error.actor.*': { actions: [] },
      },
    });

  it('may have ids that XState generates', () => {
    const { states } = explored(friends(), { outcomes: { kid: [done(), fails()] } });
    // None, one or two of them, of which each runs or has ended.
    expect(states.length).toBe(1 + 2 + 4);
  });

  it('may have random ids if the abstraction leaves them out', () => {
    const outcomes = { kid: [done(), fails()] };
    const abstraction: ExploreOptions<AnyStateMachine>['abstraction'] = ({ context }) => context.friends.length;
    const machine = friends(() => `friend ${Math.random()}`);
    // None, one or two of them, of which none to all run.
    expect(explored(machine, { outcomes, abstraction }).states.length).toBe(1 + 2 + 3);
  });

  it('count only while they run', () => {
    const machine = createMachine({
      context: { kid: null },
      initial: 'a',
      states: {
        a: { on: { GO: { target: 'b', actions: assign(({ spawn }) => ({ kid: spawn('kid' as never) as never })) } } },
        b: { on: { 'xstate.done.actor.*': 'a' } },
      },
    }).provide({ actors: { kid } } as never);
    // None, one that runs, or one that has ended.
    expect(explored(machine, { outcomes: { kid: [done()] }, limit: 20 }).states.length).toBe(3);
  });

  it('may share an id if they are of different logic', () => {
    const machine = setup({
      actors: { one: fromPromise(async () => {}), two: fromPromise(async () => {}) },
    }).createMachine({
      initial: 'a',
      states: {
        a: {
          on: {
            ONE: { target: 'b', actions: spawnChild('one', { id: 'same' }) },
            TWO: { target: 'b', actions: spawnChild('two', { id: 'same' }) },
          },
        },
        b: { on: { 'xstate.done.actor.same': 'c' } },
        c: {},
      },
    });
    expect(values(machine, { outcomes: { one: [], two: [done()] } })).toContain('c');
  });

  it.each([
    ['an action', spawnChild('kid' as never, { id: 'a' } as never), 'xstate.done.actor.a'],
    ['an action without an id', spawnChild('kid' as never), 'xstate.done.actor.*'],
    ['enqueueActions', enqueueActions(({ enqueue }) => enqueue.spawnChild('kid' as never)), 'xstate.done.actor.*'],
    ['an assignment', assign(({ spawn }) => ({ kid: spawn('kid' as never) })), 'xstate.done.actor.*'],
    ['inline logic', spawnChild(fromPromise(async () => {}) as never), 'xstate.done.actor.*'],
  ])('have the outcomes of "*" if none are given for them: %s', (_, spawning, type) => {
    const machine = createMachine({
      initial: 'a',
      context: { kid: null },
      states: { a: { on: { GO: 'b' } }, b: { entry: spawning as never, on: { [type]: 'c' } }, c: { type: 'final' } },
    }).provide({ actors: { kid } } as never);
    expect(values(machine, { outcomes: { '*': [done()] } })).toEqual(['a', 'b', 'c']);
    expect(values(machine, { outcomes: { '*': [done()], [type.includes('*') ? '*' : 'a']: [] } })).toEqual(['a', 'b']);
  });

  it('that were never started are rejected in "outcomes"', () => {
    expect(caughtError(() => explore(friends(), { outcomes: { kid: [], other: [] } }))?.message).toBe(
      '"outcomes.other" does not match an actor of friends, which starts no actors',
    );
  });
});

describe('the system', () => {
  it('knows an actor by its system id while it runs', () => {
    const machine = createMachine({
      context: { found: [] as boolean[] },
      initial: 'a',
      states: {
        a: { on: { GO: 'b' } },
        b: {
          entry: spawnChild(logics['promise'] as AnyActorLogic, { id: 'w', systemId: 'worker' }),
          exit: stopChild('w'),
          on: {
            LOOK: { actions: assign({ found: ({ system }) => [system.get('worker') !== undefined] }) },
            AGAIN: { target: 'b', reenter: true },
            BACK: 'a',
          },
        },
      },
    });
    const { states } = explored(machine, { outcomes: { w: [] } });
    expect(new Set(states.map(({ snapshot }) => snapshot.context.found[0]))).toEqual(new Set([undefined, true]));
  });

  it('gives a machine the same ids in an exploration and a run', () => {
    const machine = createMachine({
      context: ({ self }) => ({ ids: [self.id, self.sessionId] }),
      on: { GO: { actions: assign({ ids: ({ self, context }) => [...context['ids'].slice(0, 2), `${self.id}!`] }) } },
    });
    expect(explored(machine).states.length).toBe(2);
  });
});

describe('onSnapshot', () => {
  const inner = setup({ types: { input: {} as { n: number }, context: {} as { n: number } } }).createMachine({
    id: 'inner',
    context: ({ input }) => input,
    initial: 'a',
    states: { a: {}, b: {} },
  });
  const watching = (src: AnyActorLogic, shown: (snapshot: { value: string; context: { n: number } }) => unknown) =>
    createMachine({
      context: { seen: null as unknown },
      invoke: {
        src,
        id: 'child',
        input: { n: 3 },
        onSnapshot: { actions: assign({ seen: ({ event }) => shown(event.snapshot as never) }) },
      },
    });
  const seen = (machine: AnyStateMachine, outcomes: ExploreOptions<AnyStateMachine>['outcomes'] = { child: [] }) =>
    explored(machine, { outcomes }).states.map(({ snapshot }) => snapshot.context.seen);

  it('receives the first snapshot, and those that an outcome names', () => {
    const machine = watching(inner, ({ value, context }) => `${value}${context.n}`);
    expect(seen(machine)).toEqual(['a3']);
    expect(seen(machine, { child: [updates({ value: 'b', context: { n: 4 } })] })).toEqual(['a3', 'b4']);
    expect(seen(watching(logics['observable'] as AnyActorLogic, ({ context }) => context))).toEqual([undefined]);
  });

  it('names a snapshot that is not followed', () => {
    const machine = createMachine({
      id: 'm',
      invoke: { src: inner, id: 'child', input: { n: 1 } },
      on: { LOOK: { actions: enqueueActions(({ self }) => self.getSnapshot().children['child']?.getSnapshot()) } },
    });
    expect(caughtError(() => explore(machine, { outcomes: { child: [] } }))).toEqual({
      code: 'exploration_failed',
      message:
        'm reads the snapshot of its actor "child" in {} on "LOOK", which an exploration does not follow; pass a stand-in for the actor in "actors"',
    });
    expect(values(machine, { outcomes: { child: [] }, actors: { child: inner } })).toEqual([{}]);
  });
});

describe('without events', () => {
  const form = (typing: object = {}) =>
    createMachine({
      id: 'form',
      context: { text: '' },
      initial: 'editing',
      states: {
        editing: { on: { NEXT: 'sent', FORBIDDEN: {}, 'key.*': 'typing', ...typing } },
        typing: { on: { '*': 'editing' } },
        sent: {},
      },
    });
  const typed = form({ TYPE: { actions: assign({ text: ({ event }) => event['text'] }) } });

  it('each type is sent without a payload, also those that only a wildcard matches', () => {
    const names = new Set(explored(form()).edges.map(({ occurrence }) => occurrence.name));
    expect(names).toEqual(new Set(['NEXT', 'FORBIDDEN', 'key.any', 'any other event']));
  });

  it('reading the payload of a default event is an error, also in a walk', () => {
    const needed = {
      code: 'invalid_option',
      message: `"events" is missing, and "TYPE" needs a payload: its "text" is read in "editing" on "TYPE"; pass for example events: [{ type: 'TYPE', text: … }, { type: 'NEXT' }, { type: 'FORBIDDEN' }, { type: 'key.any' }, { type: 'any other event' }]`,
    };
    expect(caughtError(() => explore(typed))).toEqual(needed);
    expect(caughtError(() => startWalk(typed).step(3))?.code).toBe('invalid_option');
    expect(explore(typed, { events: [{ type: 'TYPE', text: 'a' }] }).states.length).toBe(2);
  });

  it("XState's own events, including those of version 4, are not sent from outside", () => {
    const machine = createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'load', src: 'load' }, on: { 'done.invoke.load': 'b', 'xstate.done.actor.x': 'b' } },
        b: {},
      },
    });
    expect(values(machine, { outcomes: { load: [done()] } })).toEqual(['a', 'a']);
  });

  it('an event may be stored in the context', () => {
    const machine = createMachine({
      context: { last: null as unknown },
      on: {
        GO: { actions: assign({ last: ({ event }) => event }) },
        STAY: { actions: assign({ last: ({ event }) => ({ ...event }) }) },
      },
    });
    expect(explored(machine).states.map(({ snapshot }) => snapshot.context.last)).toEqual([
      null,
      { type: 'GO' },
      { type: 'STAY' },
    ]);
  });

  it('events that an actor sends are not sent from outside', () => {
    const machine = createMachine({
      invoke: { src: 'load', onError: {} },
      on: { progress: { actions: assign({ percent: ({ event }) => event['percent'] }) }, stop: {} },
      context: { percent: 0 },
    });
    const { edges } = explored(machine, { outcomes: { load: [sends({ type: 'progress', percent: 50 })] } });
    expect(new Set(edges.map(({ occurrence }) => occurrence.name))).toEqual(new Set(['load: progress', 'stop']));
  });
});
