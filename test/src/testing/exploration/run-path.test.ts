import { describe, expect, it } from 'vitest';
import { assign, createMachine } from 'xstate';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { refusalOf } from '../../../support/refusal-of.ts';

/** Counts how often anybody has used it, and not how often it was used since it began. */
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
  return refusalOf(() => {
    for (const path of cover(exploration)) runPath(exploration, path);
  });
}

describe('a path that a real machine goes, but with another context', () => {
  it('fails, by what there is and what was explored', () => {
    expect(refusalOfPaths()).toEqual({
      code: 'path_failed',
      message:
        'An action goes by more than its context and its event, or an abstraction leaves out what decides: in "shut", context.visitors.counted is 2, wanted 1, after its beginning → enter.',
    });
  });

  it('fails by what an abstraction keeps, and by nothing else', () => {
    expect(refusalOfPaths(({ context: { visitors } }) => ({ isMany: visitors.counted > 1 }))?.message).toMatch(
      /: in "shut", isMany is true, wanted false, after its beginning → enter\.$/u,
    );
    expect(refusalOfPaths(({ context: { visitors } }) => visitors.counted)?.message).toMatch(
      /: in "shut", what its abstraction has is 2, wanted 1, after its beginning → enter\.$/u,
    );
    expect(refusalOfPaths(({ context: { visitors } }) => visitors.counted > 0)).toBeNull();
  });
});
