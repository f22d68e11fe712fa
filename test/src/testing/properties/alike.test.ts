import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, sends } from '../../../../src/testing/exploration/outcome.ts';
import { abstractionIsConsistent } from '../../../../src/testing/properties/abstraction-is-consistent.ts';
import { describeFinding, findingsOf } from '../../../../src/testing/properties/property.ts';
import { suites } from '../charts/suites.ts';

/** Opens at the third knock. */
const gate = setup({ types: { context: {} as { readonly knocks: number } } }).createMachine({
  id: 'gate',
  context: { knocks: 0 },
  initial: 'shut',
  states: {
    shut: {
      on: {
        knock: [
          { guard: ({ context }) => context.knocks === 2, target: 'open' },
          { actions: assign(({ context }) => ({ knocks: context.knocks + 1 })) },
        ],
      },
    },
    open: {},
  },
});

type Abstraction = NonNullable<ExploreOptions<typeof gate>['abstraction']>;

function told(abstraction?: Abstraction): string {
  const options = { outcomes: {}, events: [{ type: 'knock' }], ...(abstraction && { abstraction }) };
  const [finding] = findingsOf(explore(gate, options), [abstractionIsConsistent]);
  return finding === undefined ? '' : describeFinding(finding);
}

describe('what is alike goes on alike', () => {
  it('where an abstraction leaves out what decides nothing', () => {
    expect(told()).toBe('holds: what is alike goes on alike');
    expect(told(({ context }) => context.knocks)).toBe('holds: what is alike goes on alike');
  });

  it('not where it leaves out what decides, which is told with a way to see it', () => {
    expect(told(({ context }) => context.knocks > 0)).toBe(
      'FAILS: what is alike goes on alike: two ways to "shut" are taken for one, but after the later the guard of shut, knock, [inline] → open says otherwise at "knock", after from its beginning → knock → knock → knock',
    );
  });

  it('in whatever order the actors of parallel states began', () => {
    const sender = fromPromise(async () => {});
    const parallel = setup({ actors: { send: sender, progress: sender } }).createMachine({
      type: 'parallel',
      states: {
        a: {
          initial: 'up',
          states: {
            up: { invoke: { src: 'send', onDone: 'sent', onError: 'wait' } },
            wait: { after: { 10: 'up' } },
            sent: {},
          },
        },
        b: { invoke: { src: 'progress' }, on: { tick: {} } },
      },
    });
    const options = { outcomes: { send: [done(), fails()], progress: [sends({ type: 'tick', percent: 10 })] } };
    expect(abstractionIsConsistent.check(explore(parallel, options))).toBeNull();
  });

  it('is looked at a step further, and no more: what shows only later is not found', () => {
    expect(told(() => 'nothing')).toMatch(/^holds/u);
  });

  it.each(['attempt', 'actionLoop'])('in the exploration of our %s', (name) => {
    const { machine, options } = suites[name] as NonNullable<(typeof suites)[string]>;
    expect(abstractionIsConsistent.check(explore(machine, options))).toBeNull();
  });
});
