import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, sends } from '../../../../src/testing/exploration/outcome.ts';
import { alwaysEventually } from '../../../../src/testing/properties/always-eventually.ts';
import { noDeadTransition, noUnreachableState } from '../../../../src/testing/properties/chart.ts';
import { noIgnoredEvent } from '../../../../src/testing/properties/ignored-events.ts';
import { describeFinding, findingsOf, type Property } from '../../../../src/testing/properties/property.ts';
import { atMost, never, noDeadEnd, noUnhandledError } from '../../../../src/testing/properties/states.ts';
import { refusalOf } from '../../../support/refusal-of.ts';

const work = fromPromise<number>(async () => 0);
const isOver = ({ status }: { readonly status: string }): boolean => status === 'done';

/** Works until it is done; as it is, everything holds of it. */
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

const said = (exploration: Exploration, ...properties: Property[]): readonly string[] =>
  findingsOf(exploration, properties).map(describeFinding);

const eventually = alwaysEventually('over', isOver);

describe('a property', () => {
  it('holds of a machine that is as it should be', () => {
    const exploration = explored(worker({}));
    expect(
      said(
        exploration,
        eventually,
        never('at it more than three times', ({ context }) => context.tries > 3),
        atMost('tries', 3, ({ context }) => context.tries),
        noUnhandledError,
        noDeadEnd,
        noIgnoredEvent({ start: ['worker.working'] }),
        noDeadTransition({ except: ['idle, start → working'] }),
        noUnreachableState({ except: ['worker.idle'] }),
      ).filter((line) => !line.startsWith('holds: ')),
    ).toEqual([]);
  });

  it('always eventually: does not hold where actors can lead it in a circle, which is told', () => {
    expect(said(explored(worker({ onError: 'working' })), eventually)).toEqual([
      expect.stringMatching(
        /^FAILS: always eventually over: it goes in a circle from "working" by work: (error|done), after from its beginning → /u,
      ),
    ]);
  });

  it('always eventually: does not hold where it can stand for ever, or ends otherwise', () => {
    expect(said(explored(worker({ after: 'idle' })), eventually)).toEqual([
      'FAILS: always eventually over: it stands for ever in "idle", after from its beginning → after 100 ms',
    ]);
    expect(said(explored(worker({ onError: null })), eventually)).toEqual([
      'FAILS: always eventually over: it ends in "working", after from its beginning → work: error',
    ]);
  });

  it('always eventually: leaves out a stream that goes on, and what comes only so often', () => {
    const stream = (again: string) =>
      explore(
        setup({ actors: { tell: work } }).createMachine({
          initial: 'hearing',
          states: {
            hearing: {
              invoke: { src: 'tell', onDone: 'over', onError: 'over' },
              after: { 100: 'over' },
              on: { word: { target: again }, lost: 'lost' },
            },
            lost: { invoke: { src: 'tell', onDone: 'hearing', onError: 'over' } },
            over: { type: 'final' },
          },
        }),
        { outcomes: { tell: [done(), fails(), sends({ type: 'word' }), sends({ type: 'lost' })] } },
      );
    const heard = stream('hearing');
    expect(said(heard, eventually)[0]).toMatch(/goes in a circle from "hearing" by tell: lost → tell: done/u);
    const finitely = alwaysEventually('over', isOver, { finitely: ({ type }) => type === 'lost' });
    expect(said(heard, finitely)).toEqual(['holds: always eventually over']);
  });

  it('always eventually: shows the circle that is seen by the fewest steps', () => {
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
    expect(said(exploration, eventually)).toEqual([
      'FAILS: always eventually over: it goes in a circle from "d" by work: error, after from its beginning → work: done → work: error → work: error',
    ]);
  });

  it('always eventually: does not hold where it stands when there is no more of what comes only so often', () => {
    const waiting = (next: 'waiting' | 'over') =>
      explore(
        setup({ actors: { tell: work } }).createMachine({
          initial: 'waiting',
          states: {
            waiting: { invoke: { src: 'tell', onDone: 'told', onError: 'told' } },
            told: { after: { 100: next } },
            over: { type: 'final' },
          },
        }),
        { outcomes: { tell: [done(), fails()] } },
      );
    const finitely = alwaysEventually('over', isOver, { finitely: ({ type }) => /^xstate\.(done|error)/u.test(type) });
    expect(said(waiting('waiting'), finitely)).toEqual([
      'FAILS: always eventually over: it stands for ever in "waiting" once there is no more of tell: done or tell: error, after from its beginning',
    ]);
    expect(said(waiting('over'), finitely)).toEqual(['holds: always eventually over']);
  });

  it('never, and at most: show the shortest path to where it is so', () => {
    const exploration = explored(worker({ bound: 5 }));
    expect(
      said(
        exploration,
        never('at it more than three times', ({ context }) => context.tries > 3),
        atMost('tries', 4, ({ context }) => context.tries),
      ),
    ).toEqual([
      'FAILS: never at it more than three times: it is so in "working", after from its beginning → work: done → work: done → work: done',
      'FAILS: at most 4 tries: there are 5 in "working", after from its beginning → work: done → work: done → work: done → work: done',
    ]);
  });

  it('at most: does not hold of what is no number', () => {
    expect(
      said(
        explored(worker({})),
        atMost('trys', 4, ({ context }) => context.trys),
      ),
    ).toEqual(['FAILS: at most 4 trys: there are undefined in "working", after from its beginning']);
  });

  it('refuses exceptions for what there is not', () => {
    const exploration = explored(worker({}));
    const refusal = (property: Property) => refusalOf(() => property.check(exploration))?.message;
    expect(refusal(noIgnoredEvent({ start: ['workin'] }))).toBe(
      'noIgnoredEvent: got "workin"; wanted a state of worker, by its id.',
    );
    expect(refusal(noIgnoredEvent({ start: ['working', 'worker.idle'] }))).toBeUndefined();
    expect(refusal(noDeadTransition({ except: ['working'] }))).toMatch(
      /^except: got "working"; wanted one as a finding names it: "working, /u,
    );
    expect(refusal(noUnreachableState({ except: ['idle'] }))).toBe(
      'except: got "idle"; wanted one as a finding names it: "worker".',
    );
  });

  it('tells what is dead, unreachable, stuck, unheard or unhandled', () => {
    const stuck = explore(
      createMachine({
        id: 'stuck',
        initial: 'here',
        states: { here: { on: { go: { guard: () => false, target: 'there' } } }, there: {} },
      }),
      { outcomes: {}, events: [{ type: 'go' }] },
    );
    expect(said(stuck, noDeadTransition(), noUnreachableState(), noDeadEnd, noIgnoredEvent())).toEqual([
      'FAILS: no transition is dead: here, go, [inline] → there is never taken',
      'FAILS: no state is unreachable: stuck.there is never entered',
      'FAILS: no state is without a way out: nothing that can happen moves it in "here", after from its beginning',
      'FAILS: no event from outside is ignored: go is, in "here", after from its beginning → go',
    ]);
    expect(said(explored(worker({ onError: null })), noUnhandledError)).toEqual([
      'FAILS: no error of an actor goes unhandled: it is so in "working", after from its beginning → work: error',
    ]);
  });
});
