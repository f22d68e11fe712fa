import { describe, expect, it } from 'vitest';
import { assign, createMachine } from 'xstate';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { caughtError } from '../../../support/errors.ts';

/** A machine with an impure action: its counter is shared by all runs. */
function turnstile() {
  let used = 0;
  return createMachine({
    id: 'turnstile',
    context: { visitors: { counted: 0 } },
    initial: 'open',
    states: {
      open: {
        on: {
          enter: {
            target: 'shut',
            actions: assign(() => {
              used += 1;
              return { visitors: { counted: used } };
            }),
          },
        },
      },
      shut: {},
    },
  });
}

function refusalOfPaths(abstraction?: ExploreOptions<ReturnType<typeof turnstile>>['abstraction']) {
  const exploration = explore(turnstile(), {
    outcomes: {},
    events: [{ type: 'enter' }],
    ...(abstraction && { abstraction }),
  });
  return caughtError(() => {
    for (const path of cover(exploration)) runPath(exploration, path);
  });
}

describe('runPath, if the real context differs', () => {
  it('fails with the expected and the received value', () => {
    expect(refusalOfPaths()).toEqual({
      code: 'path_failed',
      message:
        'An action depends on more than its context and event, or the abstraction leaves out what decides: in "shut", expected context.visitors.counted to be 1, received 2, after start → enter',
    });
  });

  it('compares only what the abstraction returns', () => {
    expect(refusalOfPaths(({ context: { visitors } }) => ({ isMany: visitors.counted > 1 }))?.message).toMatch(
      /: in "shut", expected isMany to be false, received true, after start → enter$/u,
    );
    expect(refusalOfPaths(({ context: { visitors } }) => visitors.counted)?.message).toMatch(
      /: in "shut", expected the abstraction to be 1, received 2, after start → enter$/u,
    );
    expect(refusalOfPaths(({ context: { visitors } }) => visitors.counted > 0)).toBeNull();
  });
});
