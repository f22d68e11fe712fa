import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, assign, createMachine, fromPromise, setup } from 'xstate';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, sends } from '../../../../src/testing/exploration/occurrences.ts';
import { alwaysEventually } from '../../../../src/testing/properties/always-eventually.ts';
import {
  atMost,
  describeFinding,
  findingsOf,
  never,
  noDeadEnd,
  noDeadTransition,
  noIgnoredEvent,
  noUnhandledError,
  noUnreachableState,
  type Property,
} from '../../../../src/testing/properties/properties.ts';
import { caughtError } from '../../../support/errors.ts';

const work = fromPromise<number>(async () => 0);
const isOver = ({ status }: { readonly status: string }): boolean => status === 'done';

/** A worker with a bounded number of tries. With the default options, all properties hold. */
function worker({
  onError = 'over',
  bound = 3,
  after = 'over',
}: {
  readonly onError?: 'over' | 'working' | null;
  readonly bound?: number;
  readonly after?: 'over' | 'idle';
}) {
  return setup({
    types: { context: {} as { tries: number } },
    actors: { work },
    guards: { mayTry: ({ context }) => context.tries < bound },
  }).createMachine({
    id: 'worker',
    context: { tries: 0 },
    initial: 'working',
    states: {
      working: {
        entry: assign({ tries: ({ context }) => Math.min(9, context.tries + 1) }),
        invoke: {
          src: 'work',
          onDone: [{ guard: 'mayTry', target: 'working', reenter: true }, { target: 'over' }],
          ...(onError !== null && { onError: { target: onError, reenter: true } }),
        },
        after: { 100: after },
        on: { stop: 'over' },
      },
      idle: { on: { start: 'working' } },
      over: { type: 'final' },
    },
  });
}

const explored = (machine: ReturnType<typeof worker>): Exploration =>
  explore(machine, {
    outcomes: { work: [done(1), fails()] },
    events: [{ type: 'stop' }, { type: 'start' }],
  });

const findings = (exploration: Exploration, ...properties: Property[]): readonly string[] =>
  findingsOf(exploration, properties).map(describeFinding);

const eventually = alwaysEventually('over', isOver);

describe('properties', () => {
  it('are given as one flat list', () => {
    for (const [given, received] of [
      [[noDeadEnd], /^properties\[1\]: expected a property; received an array of 1\. Spread lists/u],
      [
        noDeadTransition,
        /^properties\[1\]: expected a property; received a function\. .* call functions, for example /u,
      ],
    ] as const)
      expect(() => findings(explored(worker({})), noDeadEnd, given as never)).toThrow(received);
  });

  it('hold for a correct machine', () => {
    const exploration = explored(worker({}));
    expect(
      findings(
        exploration,
        eventually,
        never('tried more than three times', ({ context }) => context.tries > 3),
        atMost('tries', 3, ({ context }) => context.tries),
        noUnhandledError,
        noDeadEnd,
        noIgnoredEvent({ start: ['worker.working'] }),
        noDeadTransition({ except: ['idle, start → working'] }),
        noUnreachableState({ except: ['worker.idle'] }),
      ).filter((line) => !line.startsWith('holds: ')),
    ).toEqual([]);
  });

  it('alwaysEventually fails if actors can lead the machine through a cycle', () => {
    expect(findings(explored(worker({ onError: 'working' })), eventually)).toEqual([
      expect.stringMatching(
        /^FAILS: always eventually over: it can cycle from "working" by work: (error|done), after start → /u,
      ),
    ]);
  });

  it('alwaysEventually fails if the machine can stay in a state forever, or ends in another one', () => {
    expect(findings(explored(worker({ after: 'idle' })), eventually)).toEqual([
      'FAILS: always eventually over: it stays forever in "idle", after start → after 100 ms',
    ]);
    expect(findings(explored(worker({ onError: null })), eventually)).toEqual([
      'FAILS: always eventually over: it ends in "working", after start → work: error',
    ]);
  });

  it('alwaysEventually ignores a stream that continues, and cycles through finitely many events', () => {
    const stream = (again: string) =>
      explore(
        setup({ actors: { stream: work } }).createMachine({
          initial: 'listening',
          states: {
            listening: {
              invoke: { src: 'stream', onDone: 'over', onError: 'over' },
              after: { 100: 'over' },
              on: { word: { target: again }, lost: 'lost' },
            },
            lost: { invoke: { src: 'stream', onDone: 'listening', onError: 'over' } },
            over: { type: 'final' },
          },
        }),
        { outcomes: { stream: [done(), fails(), sends({ type: 'word' }), sends({ type: 'lost' })] } },
      );
    const exploration = stream('listening');
    expect(findings(exploration, eventually)[0]).toMatch(/can cycle from "listening" by stream: lost → stream: done/u);
    const finitely = alwaysEventually('over', isOver, { finitely: ({ type }) => type === 'lost' });
    expect(findings(exploration, finitely)).toEqual(['holds: always eventually over']);
  });

  it('alwaysEventually shows the cycle that takes the fewest steps to reach and complete', () => {
    const round = setup({ actors: { work } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { src: 'work', onDone: 'b', onError: 'over' } },
        b: { invoke: { src: 'work', onDone: 'c', onError: 'd' } },
        c: { invoke: { src: 'work', onDone: 'e', onError: 'over' } },
        e: { invoke: { src: 'work', onDone: 'a', onError: 'over' } },
        d: { invoke: { src: 'work', onDone: 'over', onError: { target: 'd', reenter: true } } },
        over: { type: 'final' },
      },
    });
    const exploration = explore(round, { outcomes: { work: [done(), fails()] } });
    expect(findings(exploration, eventually)).toEqual([
      'FAILS: always eventually over: it can cycle from "d" by work: error, after start → work: done → work: error → work: error',
    ]);
  });

  it('alwaysEventually fails if the machine stays in a state once finitely many events stop', () => {
    const waiting = (next: 'waiting' | 'over') =>
      explore(
        setup({ actors: { ping: work } }).createMachine({
          initial: 'waiting',
          states: {
            waiting: { invoke: { src: 'ping', onDone: 'pinged', onError: 'pinged' } },
            pinged: { after: { 100: next } },
            over: { type: 'final' },
          },
        }),
        { outcomes: { ping: [done(), fails()] } },
      );
    const finitely = alwaysEventually('over', isOver, { finitely: ({ type }) => /^xstate\.(done|error)/u.test(type) });
    expect(findings(waiting('waiting'), finitely)).toEqual([
      'FAILS: always eventually over: it stays forever in "waiting" once these events stop: ping: done, ping: error, after start',
    ]);
    expect(findings(waiting('over'), finitely)).toEqual(['holds: always eventually over']);
  });

  it('never and atMost show the shortest path to a counterexample', () => {
    const exploration = explored(worker({ bound: 5 }));
    expect(
      findings(
        exploration,
        never('tried more than three times', ({ context }) => context.tries > 3),
        atMost('tries', 4, ({ context }) => context.tries),
      ),
    ).toEqual([
      'FAILS: never tried more than three times: reached in "working", after start → work: done → work: done → work: done',
      'FAILS: at most 4 tries: 5 in "working", after start → work: done → work: done → work: done → work: done',
    ]);
  });

  it('never and atMost judge the snapshots that an abstraction merges, and atMost does not hold for a number that differs', () => {
    const options = { outcomes: { work: [done(1), fails()] }, events: [{ type: 'stop' as const }] };
    const exploration = explore(worker({ onError: 'working' }), { ...options, abstraction: () => null });
    const tries = ({ context }: AnyMachineSnapshot) => context.tries;
    expect(
      findings(
        exploration,
        never('two tries', (snapshot) => tries(snapshot) === 2),
        atMost('tries', 1, tries),
        atMost('tries', 2, tries),
      ),
    ).toEqual([
      'FAILS: never two tries: reached in "working", after start → work: done',
      'FAILS: at most 1 tries: 2 in "working", after start → work: done',
      'FAILS: at most 2 tries: unknown: 2 in "working", and 1 in a state that "abstraction" does not tell apart; return the number from it, after start → work: done',
    ]);
  });

  it('atMost fails if the measure is not a number', () => {
    expect(
      findings(
        explored(worker({})),
        atMost('trys', 4, ({ context }) => context.trys),
      ),
    ).toEqual(['FAILS: at most 4 trys: undefined in "working", after start']);
  });

  it('reject unknown exceptions', () => {
    const exploration = explored(worker({}));
    const errorOf = (property: Property) => caughtError(() => property.check(exploration))?.message;
    expect(errorOf(noIgnoredEvent({ start: ['workin'] }))).toBe(
      'noIgnoredEvent "start": "workin" is not the id of a state of worker',
    );
    expect(errorOf(noIgnoredEvent({ start: ['working', 'worker.idle'] }))).toBeUndefined();
    expect(errorOf(noDeadTransition({ except: ['working'] }))).toMatch(
      /^"except" must use names as findings print them, for example "working, .*"; received "working"$/u,
    );
    expect(errorOf(noUnreachableState({ except: ['idle'] }))).toBe(
      '"except" must use names as findings print them, for example "worker"; received "idle"',
    );
  });

  it('noDeadEnd ignores events that a state forbids', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      on: { GO: '.b' },
      states: { a: {}, b: { on: { GO: {} }, after: { 10: {} } } },
    });
    expect(findings(explore(machine), noDeadEnd)).toEqual([
      'FAILS: no dead end: no event takes a transition in "b", after start → GO → after 10 ms',
    ]);
  });

  it('name dead transitions, unreachable states, dead ends, ignored events and unhandled errors', () => {
    const stuck = explore(
      createMachine({
        id: 'stuck',
        initial: 'here',
        states: { here: { on: { go: { guard: () => false, target: 'there' } } }, there: {} },
      }),
      { outcomes: {}, events: [{ type: 'go' }] },
    );
    expect(findings(stuck, noDeadTransition(), noUnreachableState(), noDeadEnd, noIgnoredEvent())).toEqual([
      'FAILS: no dead transition: here, go, [inline] → there is never taken',
      'FAILS: no unreachable state: stuck.there is never entered',
      'FAILS: no dead end: no event takes a transition in "here", after start',
      'FAILS: no ignored external event: go is ignored in "here", after start → go',
    ]);
    expect(findings(explored(worker({ onError: null })), noUnhandledError)).toEqual([
      'FAILS: no unhandled error: "Scripted failure" ends it in "working", after start → work: error',
    ]);
  });
});
