import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type AnyActorLogic,
  type AnyStateMachine,
  and,
  assign,
  createActor,
  createMachine,
  emit,
  enqueueActions,
  fromCallback,
  fromPromise,
  type InspectionEvent,
  not,
  or,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { type Observation, observeSystem } from '../../../../src/durable/observe/observe-system.ts';
import { transitionsOf } from '../../../../src/testing/structure/chart-structure.ts';
import { instrumentMachine } from '../../../../src/testing/structure/instrumented-machine.ts';
import { throwing } from '../../../support/errors.ts';

/** One line for each observation: the actor, and what it did. */
function line(observation: Observation): string {
  const { actor } = observation;
  const name = actor.parent === null ? 'root' : actor.ref.id;
  const ids = (nodes: readonly { readonly id: string }[] | undefined): string =>
    (nodes ?? []).map(({ id }) => id).join(' ');
  const tried = (candidates: Extract<Observation, { type: 'ignored' }>['candidates']): string =>
    candidates.map(({ transition, result }) => `${ids(transition.target) || '-'}:${result}`).join(' ');
  switch (observation.type) {
    case 'started':
      return `${name} started ${ids(observation.nodes)}`.trim();
    case 'event': {
      const { sender } = observation;
      return `${name} < ${observation.event.type}${sender === null ? '' : ` of ${sender.parent === null ? 'root' : sender.ref.id}`}`;
    }
    case 'transition': {
      const { event, transition, candidates } = observation;
      return `${name} ${event.type}: ${transition.source.id} > ${ids(transition.target) || '-'} [${tried(candidates)}]`;
    }
    case 'ignored':
      return `${name} ignored ${observation.event.type} [${tried(observation.candidates)}]`;
    case 'settled':
      return '';
    case 'ended':
      return `${name} ended ${observation.snapshot.status}`;
    default:
      return observation satisfies never;
  }
}

function observed(logic: AnyActorLogic) {
  const lines: string[] = [];
  const inspect = observeSystem((observation) => {
    const text = line(observation);
    if (text !== '') lines.push(text);
  });
  const actor = createActor(logic, { inspect }) as Actor<AnyActorLogic>;
  actor.subscribe({ error: () => {} });
  return {
    actor,
    lines,
    /** Returns what follows an event. */
    sendAndRead(type: string): readonly string[] {
      const from = lines.length;
      actor.send({ type });
      return lines.slice(from);
    },
  };
}

interface Args {
  readonly context: { readonly n: number };
}

const REGIONS = ['p', 'q'];
const LEAVES = ['a', 'b', 'c'];
const EVENTS = ['E', 'F.one', 'F.two', 'G'];
const guard = fc.constantFrom(
  undefined,
  'even',
  'odd',
  'never',
  not('even'),
  and(['even', () => true]),
  or(['never', { type: 'odd' }]),
  stateIn({ p: 'b' }),
  ({ context }: Args) => context.n % 3 === 0,
);
const target = fc.constantFrom(
  undefined,
  ...REGIONS.flatMap((region) => LEAVES.map((leaf) => `#m.${region}.${leaf}`)),
  '#m.p',
  '#m.q.hist',
  '#m',
);
const transition = fc.record({ guard, target, reenter: fc.boolean() }).map((config) => ({
  ...Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)),
  actions: 'count',
}));
const handlers = fc.dictionary(
  fc.constantFrom(...EVENTS, 'F.*', '*'),
  fc.array(transition, { minLength: 1, maxLength: 3 }),
  { maxKeys: 3 },
);
/** Two parallel regions with transitions across them, wildcards, history and every kind of guard. */
const aMachine = fc.array(handlers, { minLength: 9, maxLength: 9 }).map((all) => {
  const [root, p, q, ...leaves] = all;
  const region = (on: unknown, first: number) => ({
    initial: 'a',
    on,
    states: {
      ...Object.fromEntries(LEAVES.map((leaf, at) => [leaf, { on: leaves[first + at] }])),
      hist: { type: 'history' },
    },
  });
  return createMachine(
    {
      id: 'm',
      type: 'parallel',
      context: { n: 0 },
      on: root,
      states: { p: region(p, 0), q: region(q, 3) },
    } as never,
    {
      guards: {
        even: ({ context }: Args) => context.n % 2 === 0,
        odd: ({ context }: Args) => context.n % 2 === 1,
        never: () => false,
      },
      actions: { count: assign({ n: ({ context }: Args) => context.n + 1 }) },
    } as never,
  ) as AnyStateMachine;
});

describe('observeSystem', () => {
  it('reports the transitions that took effect and the guards that were evaluated, in any machine', () => {
    fc.assert(
      fc.property(aMachine, fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }), (machine, events) => {
        const { machine: instrumented, drainStep } = instrumentMachine(machine);
        const index = new Map(transitionsOf(instrumented).map((transition, at) => [transition, at]));
        const seen: Observation[] = [];
        const actor = createActor(instrumented, { inspect: observeSystem((one) => void seen.push(one)) }).start();
        for (const type of events) {
          seen.length = 0;
          drainStep();
          actor.send({ type });
          const { taken, guards } = drainStep();
          const transitions = seen.filter((one) => one.type === 'transition');
          expect(transitions.map((one) => index.get(one.transition))).toEqual(taken);
          const results = new Map(guards.map(({ transition, holds }) => [transition, holds]));
          const known = seen.flatMap((one) => ('candidates' in one ? one.candidates : []));
          for (const { transition, result } of known) {
            const at = index.get(transition) as number;
            if (transition.guard === undefined) expect(result).not.toBe('false');
            else
              expect([result, results.get(at)]).toEqual([
                result,
                { false: false, taken: true, 'not-evaluated': undefined }[result],
              ]);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('changes nothing about the machine', () => {
    const machine = createMachine({ id: 'm', on: { GO: { guard: and([() => true, not('no')]), actions: 'act' } } });
    const before = [JSON.stringify(machine), JSON.stringify(chartOf(machine)), ...transitionsOf(machine)];
    const { actor } = observed(machine.provide({ guards: { no: () => false } }));
    actor.start().stop();
    expect([JSON.stringify(machine), JSON.stringify(chartOf(machine)), ...transitionsOf(machine)]).toEqual(before);
  });

  it('reports transitions that change no state, raised events and events without a transition', () => {
    const machine = createMachine({
      id: 'm',
      context: { n: 0 },
      initial: 'a',
      states: {
        a: {
          on: {
            COUNT: { guard: ({ context }) => context.n < 1, actions: assign({ n: 1 }) },
            PING: { guard: () => true, actions: [emit({ type: 'pong' }), raise({ type: 'MOVE' })] },
            SELF: { guard: () => true, target: 'a', reenter: true },
            MOVE: 'b',
            NOT: {},
          },
        },
        b: { always: 'c' },
        c: {},
      },
    });
    const { actor, sendAndRead, lines } = observed(machine);
    actor.start();
    expect(lines).toEqual(['root started m m.a']);
    expect(sendAndRead('COUNT')).toEqual(['root < COUNT', 'root COUNT: m.a > - [-:taken]']);
    expect(sendAndRead('COUNT')).toEqual(['root < COUNT', 'root ignored COUNT [-:false]']);
    expect(sendAndRead('SELF')).toEqual(['root < SELF', 'root SELF: m.a > m.a [m.a:taken]']);
    expect(sendAndRead('NOT')).toEqual(['root < NOT', 'root NOT: m.a > - [-:taken]']);
    expect(sendAndRead('PING')).toEqual([
      'root < PING',
      'root PING: m.a > - [-:taken]',
      'root MOVE: m.a > m.b [m.b:taken]',
      'root MOVE: m.b > m.c [m.c:taken]',
    ]);
    expect(sendAndRead('PING')).toEqual(['root < PING', 'root ignored PING []']);
    actor.stop();
    expect(lines.at(-1)).toBe('root ended stopped');
  });

  it('reports the guards of inner states that were false before an outer state took the event', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      on: { 'F.*': [{ guard: () => false, target: '.b' }, { target: '.a' }, '.b'] },
      states: { a: { on: { 'F.one': { guard: () => false, target: 'b' }, '*': { guard: () => false } } }, b: {} },
    });
    const { actor, sendAndRead } = observed(machine);
    actor.start();
    expect(sendAndRead('F.one')).toEqual([
      'root < F.one',
      'root F.one: m > m.a [m.b:false -:false m.b:false m.a:taken m.b:not-evaluated]',
    ]);
  });

  it('reports invoked and spawned actors, named or inline, in order of cause and effect', () => {
    const child = createMachine({
      id: 'child',
      initial: 'x',
      states: { x: { always: 'y' }, y: { on: { ASK: { actions: sendParent({ type: 'TOLD' }) } } } },
    });
    const machine = setup({ actors: { child } }).createMachine({
      id: 'm',
      initial: 'a',
      invoke: { src: createMachine({ id: 'inline', on: { HI: {} } }), id: 'inline' } as never,
      states: {
        a: {
          entry: spawnChild('child', { id: 'kid' }),
          on: { GO: { actions: sendTo('kid', { type: 'ASK' }) }, TOLD: 'b' },
        },
        b: { entry: stopChild('kid'), on: { GO: { actions: sendTo('inline', { type: 'HI' }) } } },
      },
    });
    const { actor, sendAndRead, lines } = observed(machine);
    actor.start();
    expect(lines).toEqual([
      'root started m m.a',
      'inline started inline',
      'kid started child child.x',
      'kid xstate.init: child.x > child.y [child.y:taken]',
    ]);
    expect(sendAndRead('GO')).toEqual([
      'root < GO',
      'root GO: m.a > - [-:taken]',
      'kid < ASK of root',
      'kid ASK: child.y > - [-:taken]',
      'root < TOLD of kid',
      'root TOLD: m.a > m.b [m.b:taken]',
      'kid ended stopped',
    ]);
    expect(sendAndRead('GO')).toEqual([
      'root < GO',
      'root GO: m.b > - [-:taken]',
      'inline < HI of root',
      'inline HI: inline > - [-:taken]',
    ]);
  });

  it('keeps an event that an actor sends to itself until it has processed the current one', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: {
        a: {
          on: {
            GO: {
              target: 'b',
              actions: enqueueActions(({ enqueue, self }) => {
                enqueue(() => self.send({ type: 'LATER' }));
              }),
            },
          },
        },
        b: { on: { LATER: 'c' } },
        c: {},
      },
    });
    const { actor, sendAndRead } = observed(machine);
    actor.start();
    expect(sendAndRead('GO')).toEqual([
      'root < GO',
      'root GO: m.a > m.b [m.b:taken]',
      'root < LATER',
      'root LATER: m.b > m.c [m.c:taken]',
    ]);
  });

  it('reports actors that are not machines, and how they end', async () => {
    const machine = setup({
      actors: {
        good: fromPromise(async () => 1),
        bad: fromPromise(async () => {
          throw new Error('no');
        }),
        call: fromCallback(({ sendBack }) => sendBack({ type: 'CALLED' })),
      },
    }).createMachine({
      id: 'm',
      type: 'parallel',
      states: {
        g: {
          initial: 'on',
          states: { on: { invoke: { id: 'g', src: 'good', onDone: 'off' } }, off: { type: 'final' } },
        },
        b: {
          initial: 'on',
          states: { on: { invoke: { id: 'b', src: 'bad', onError: 'off' } }, off: { type: 'final' } },
        },
        c: {
          initial: 'on',
          states: { on: { invoke: { id: 'c', src: 'call' }, on: { CALLED: 'off' } }, off: { type: 'final' } },
        },
      },
    });
    const { actor, lines } = observed(machine);
    actor.start();
    await expect.poll(() => lines.at(-1)).toBe('root ended done');
    expect(lines).toEqual(expect.arrayContaining(['g ended done', 'b ended error', 'c ended stopped']));
    expect(lines.indexOf('b ended error')).toBe(lines.indexOf('root < xstate.error.actor.b of b') - 1);
    expect(lines).toContain('root < CALLED of c');
  });

  it('reports the end of an actor whose guard or action throws, which XState does not report', async () => {
    const fails = throwing('broken');
    const child = createMachine({ id: 'child', on: { GO: { actions: fails } } });
    const machine = createMachine({
      id: 'm',
      invoke: { src: child, id: 'kid', onError: {} },
      on: { TELL: { actions: sendTo('kid', { type: 'GO' }) }, BREAK: { guard: fails } },
    });
    const { actor, sendAndRead, lines } = observed(machine);
    actor.start();
    expect(sendAndRead('TELL')).toEqual([
      'root < TELL',
      'root TELL: m > - [-:taken]',
      'kid < GO of root',
      'kid ended error',
      'root < xstate.error.actor.kid of kid',
      'root xstate.error.actor.kid: m > - [-:taken]',
    ]);
    expect(sendAndRead('BREAK')).toEqual(['root < BREAK']);
    await Promise.resolve();
    expect(lines.at(-1)).toBe('root ended error');
    expect(sendAndRead('LOST')).toEqual(['root < LOST']);
  });

  it('observes a running system from now on, and a restored one from its state', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { on: { GO: 'a' } } },
    });
    const actor = createActor(machine).start();
    actor.send({ type: 'GO' });
    const lines: string[] = [];
    const inspect = (): ((event: InspectionEvent) => void) => observeSystem((one) => void lines.push(line(one)));
    actor.system.inspect(inspect());
    actor.send({ type: 'GO' });
    createActor(machine, { snapshot: actor.getPersistedSnapshot(), inspect: inspect() }).start();
    expect(lines.filter((text) => text !== '')).toEqual([
      'root started m m.b',
      'root < GO',
      'root GO: m.b > m.a [m.a:taken]',
      'root started m m.a',
    ]);
  });
});
