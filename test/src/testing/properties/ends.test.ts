import { describe, expect, it } from 'vitest';
import { fromPromise, raise, setup } from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails } from '../../../../src/testing/exploration/occurrences.ts';
import { canAlwaysEnd, endsWithin, noEndlessRetry, noIgnoredDelay } from '../../../../src/testing/properties/ends.ts';
import { describeFinding, findingsOf, type Property } from '../../../../src/testing/properties/properties.ts';

const base = setup({ actors: { load: fromPromise(async () => {}) } });
type Config = Parameters<typeof base.createMachine>[0];

function finding(property: Property, config: Config): string | undefined {
  const machine = base.createMachine({ ...config, id: 'm' } as Config);
  const exploration = explore(machine, { outcomes: { '*': [done(), fails()] } });
  return findingsOf(exploration, [property]).map(describeFinding)[0];
}

/** Loads again after a failure, by the given way. */
const retrying = (onError: object, states: object = {}): Config =>
  ({
    initial: 'loading',
    states: {
      loading: { invoke: { src: 'load', onDone: 'loaded', onError } },
      loaded: { type: 'final' },
      ...states,
    },
  }) as Config;

const steps: Config = {
  initial: 'a',
  states: { a: { on: { next: 'b', skip: 'c' } }, b: { on: { next: 'c' } }, c: { type: 'final' } },
};

describe('endsWithin', () => {
  it('holds if even the longest run ends after that number of events', () => {
    expect(finding(endsWithin(2), steps)).toBe('holds: ends within 2 events');
  });

  it('fails with a longest run, a cycle, or a state that nothing leaves', () => {
    expect(finding(endsWithin(1), steps)).toBe(
      'FAILS: ends within 1 events: it is still in "b" after 1 events, after start → next',
    );
    expect(finding(endsWithin(3), retrying({ target: 'loading', reenter: true }))).toContain(
      'start → load: error → load: error → load: error',
    );
    expect(finding(endsWithin(9), { initial: 'a', states: { a: { on: { next: 'b' } }, b: {} } })).toBe(
      'FAILS: ends within 9 events: it stays forever in "b", after start → next',
    );
  });

  it('does not count events that are ignored', () => {
    expect(finding(endsWithin(1), { initial: 'a', states: { a: { on: { next: 'b' } }, b: { type: 'final' } } })).toBe(
      'holds: ends within 1 events',
    );
  });
});

describe('canAlwaysEnd', () => {
  it('fails with the shortest path to states that events cannot lead out of', () => {
    const config: Config = {
      initial: 'a',
      states: {
        a: { on: { end: 'c', turn: 'b' } },
        b: { on: { on: 'd' } },
        c: { type: 'final' },
        d: { on: { back: 'b' } },
      },
    };
    expect(finding(canAlwaysEnd, config)).toBe(
      'FAILS: can always end: no events lead from "b" to the end, after start → turn',
    );
    expect(finding(canAlwaysEnd, steps)).toBe('holds: can always end');
  });

  it('expects a parallel machine to end only if each of its regions may be done', () => {
    const region = (inner: object) => ({ initial: 'on', states: { on: {}, ...inner } });
    expect(finding(canAlwaysEnd, { type: 'parallel', states: { a: region({}), b: region({}) } } as Config)).toContain(
      'holds',
    );
    const end = { end: { type: 'final' } };
    expect(finding(canAlwaysEnd, { type: 'parallel', states: { a: region(end), b: region(end) } } as Config)).toContain(
      'FAILS: can always end: no events lead from {"a":"on","b":"on"} to the end',
    );
  });

  it('holds for a machine that is not meant to end', () => {
    expect(finding(canAlwaysEnd, { initial: 'a', states: { a: { on: { x: 'b' } }, b: { on: { x: 'a' } } } })).toContain(
      'holds',
    );
  });
});

describe('noEndlessRetry', () => {
  it('fails if an actor that always fails is started again at once', () => {
    expect(finding(noEndlessRetry, retrying({ target: 'loading', reenter: true }))).toBe(
      'FAILS: no endless retry without a delay: load: error leads from "loading" back to it, after start → load: error',
    );
  });

  it('holds if a delay or an event from outside comes between', () => {
    expect(finding(noEndlessRetry, retrying('waiting' as never, { waiting: { after: { 100: 'loading' } } }))).toContain(
      'holds',
    );
    expect(finding(noEndlessRetry, retrying('failed' as never, { failed: { on: { retry: 'loading' } } }))).toContain(
      'holds',
    );
  });
});

describe('noIgnoredDelay', () => {
  const timed = (exit: object): Config =>
    ({
      initial: 'a',
      states: {
        a: { entry: raise({ type: 'late' }, { delay: 100, id: 'timer' }), ...exit, on: { next: 'b', late: 'b' } },
        b: { on: { next: 'c' } },
        c: {},
      },
    }) as Config;

  it('fails if a timer elapses in a state that does not wait for it', () => {
    expect(finding(noIgnoredDelay, timed({}))).toBe(
      'FAILS: no ignored delay: late (delayed) elapses in "b", which ignores it, after start → next → late (delayed)',
    );
  });

  it('fails also if each round of a loop leaves a timer behind', () => {
    const again = {
      initial: 'a',
      states: { a: { entry: raise({ type: 'late' }, { delay: 100 }), on: { next: 'b' } }, b: { on: { next: 'a' } } },
    };
    expect(finding(noIgnoredDelay, again as Config)).toContain('FAILS: no ignored delay: late (delayed)');
  });

  it('holds for delays of states, which XState cancels', () => {
    expect(
      finding(noIgnoredDelay, { initial: 'a', states: { a: { after: { 100: 'b' }, on: { next: 'b' } }, b: {} } }),
    ).toBe('holds: no ignored delay');
  });
});
