import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails, sends } from '../../../../src/testing/exploration/occurrences.ts';
import { abstractionIsConsistent } from '../../../../src/testing/properties/abstraction-is-consistent.ts';
import { describeFinding, findingsOf } from '../../../../src/testing/properties/properties.ts';

/** Opens on the third knock. */
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

function check(abstraction?: Abstraction): string {
  const options = { outcomes: {}, events: [{ type: 'knock' }], ...(abstraction && { abstraction }) };
  const [finding] = findingsOf(explore(gate, options), [abstractionIsConsistent]);
  return finding === undefined ? '' : describeFinding(finding);
}

describe('abstractionIsConsistent', () => {
  it('holds if the abstraction leaves out only what decides nothing', () => {
    expect(check()).toBe('holds: the abstraction is consistent');
    expect(check(({ context }) => context.knocks)).toBe('holds: the abstraction is consistent');
  });

  it('fails with a path if the abstraction leaves out what decides', () => {
    expect(check(({ context }) => context.knocks > 0)).toBe(
      'FAILS: the abstraction is consistent: two snapshots of "shut" have equal abstractions, but in the later one the guard of "shut, knock, [inline] → open" differs on "knock", after start → knock → knock → knock',
    );
  });

  it('holds in whatever order the actors of parallel states start', () => {
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

  it('looks only one step ahead, so it misses later differences', () => {
    expect(check(() => 'nothing')).toMatch(/^holds/u);
  });
});
