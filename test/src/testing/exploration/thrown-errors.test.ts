import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, createMachine, enqueueActions, raise, sendTo } from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { cover, type Path } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { startWalk } from '../../../../src/testing/exploration/walk.ts';
import { describeFinding, findingsOf, noUnhandledError } from '../../../../src/testing/properties/properties.ts';
import { caughtError } from '../../../support/errors.ts';

const fail = (): never => {
  throw new Error('no idea');
};

describe('the exploration continues, and an error is a finding with its path, if it is thrown by', () => {
  it.each<[string, object]>([
    ['an assignment', { on: { GO: { actions: assign(fail) } } }],
    ['a guard', { on: { GO: { guard: fail, target: 'b' } } }],
    ['the parameters of a guard', { on: { GO: { guard: { type: 'any', params: fail }, target: 'b' } } }],
    ['a raised event', { on: { GO: { actions: raise(fail) } } }],
    ['a delay', { on: { GO: { actions: raise({ type: 'SAFE' }, { delay: fail }) } } }],
    ['a target', { on: { GO: { actions: sendTo(fail, { type: 'SAFE' } as never) } } }],
    ['queued actions', { on: { GO: { actions: enqueueActions(fail) } } }],
    ['the input of an actor', { on: { GO: 'calling' } }],
    ['the output of the machine', { on: { GO: 'over' } }],
    ['an entry action', { on: { GO: 'entering' } }],
    ['an eventless guard', { on: { GO: 'deciding' } }],
  ])('%s', (_, a) => {
    const machine: AnyStateMachine = createMachine({
      id: 'm',
      initial: 'a',
      states: {
        a,
        b: {},
        calling: { invoke: { src: 'call', input: fail } },
        over: { type: 'final' },
        entering: { entry: assign(fail) },
        deciding: { always: { guard: fail, target: 'b' } },
      },
      output: fail,
      on: { SAFE: '.b' },
    } as never).provide({ guards: { any: () => true } } as never);
    const events = [{ type: 'GO' }, { type: 'SAFE' }];
    const exploration = explore(machine, { outcomes: { call: [] }, events });
    for (const path of cover(exploration)) runPath(exploration, path);
    expect(exploration.states.map(({ value }) => value)).toContain('b');
    expect(findingsOf(exploration, [noUnhandledError]).map(describeFinding)).toEqual([
      expect.stringMatching(/^FAILS: no unhandled error: ".*no idea" ends it in "a", after start → GO$/u),
    ]);
    const walk = startWalk(machine, { outcomes: { call: [] }, events: [{ type: 'GO' }] as never });
    expect(caughtError(() => walk.step(0))?.message).toMatch(/^m threw and stopped: .*, after start → GO$/u);
  });
});

describe('an error is also a finding', () => {
  const errors = (machine: AnyStateMachine): readonly string[] =>
    findingsOf(explore(machine), [noUnhandledError]).map(describeFinding);

  it('if it is thrown at the start', () => {
    const machine = createMachine({ id: 'm', initial: 'a', states: { a: { entry: assign(fail) } } });
    expect(errors(machine)).toEqual(['FAILS: no unhandled error: "no idea" ends it in "a", after start']);
  });

  it('beside different ones, each with its path', () => {
    const machine = createMachine({
      id: 'm',
      on: { ONE: { actions: assign(fail) }, TWO: { actions: raise((): never => [].reduce(fail)) } },
    });
    expect(errors(machine)[0]).toMatch(
      /"no idea" ends it in \{\} \(also ".*", after start → TWO\), after start → ONE$/u,
    );
  });

  it('also if it differs only in members beside one that cannot be stored, or in its cause', () => {
    const failing = (code: number, cause?: unknown) =>
      assign((): never => {
        throw Object.assign(new Error('Refused', { cause }), { code, retry: () => {} });
      });
    const machine = createMachine({
      id: 'm',
      on: {
        ONE: { actions: failing(1) },
        TWO: { actions: failing(2) },
        THREE: { actions: failing(2, new Error('No disk')) },
        FOUR: { actions: failing(2) },
      },
    });
    expect(explore(machine).states.map(({ snapshot }) => snapshot.status)).toEqual([
      'active',
      'error',
      'error',
      'error',
    ]);
  });

  it('if it stops an infinite loop', () => {
    const dizzy = createMachine({
      id: 'dizzy',
      initial: 'still',
      states: { still: { on: { push: 'left' } }, left: { always: 'right' }, right: { always: 'left' } },
    });
    expect(errors(dizzy)).toEqual([
      'FAILS: no unhandled error: "infinite loop at right, always → left" ends it in "still", after start → push',
    ]);
    expect(caughtError(() => startWalk(dizzy).step(0))?.message).toMatch(
      /^dizzy threw and stopped: infinite loop at /u,
    );
    const echo = createMachine({
      id: 'echo',
      on: { PING: { actions: sendTo(({ self }) => self, { type: 'PING' }) } },
    });
    expect(errors(echo)).toEqual([
      'FAILS: no unhandled error: "infinite loop at echo, PING → (no target)" ends it in {}, after start → PING',
    ]);
  });
});

it('runPath throws the error of a custom action, with the path', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    states: { a: { on: { GO: { target: 'b', actions: fail } } }, b: {} },
  });
  const exploration = explore(machine);
  expect(caughtError(() => runPath(exploration, cover(exploration)[0] as Path))).toEqual({
    code: 'path_failed',
    message: 'The actor failed in "a": no idea, after start → GO',
  });
});
