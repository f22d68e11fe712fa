import { beforeAll, expect, it } from 'vitest';
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { createActor } from 'xstate6';
import { type ActorOutcome, done, explore, fails, pathThrough, runPath } from '../../src/entries/testing.ts';
import { hostXState6 } from '../../src/entries/xstate6.ts';
import { createRandom, SEED } from '../support/random.ts';
import { randomScenario } from '../support/random-machines.ts';
import { machineOfSix } from '../support/random-machines-six.ts';
import { sampleSize } from '../support/soak.ts';

const MACHINES = sampleSize('explored machines of XState 6', 60, 1_000);

/** Most of these machines have no end of states. */
const DEPTH = 4;

beforeAll(() => hostXState6({ createActor }));

it('each step of an exploration is what an actor does, for random machines of XState 6', () => {
  const events: readonly EventObject[] = [{ type: 'A' }, { type: 'B' }];
  const outcomes: Readonly<Record<string, readonly ActorOutcome[]>> = { '*': [done(1), fails()] };
  let steps = 0;
  for (let number = 0; number < MACHINES; number += 1) {
    const { machine } = randomScenario(createRandom(SEED + number), machineOfSix);
    const exploration = explore(machine({ called: () => {} }), {
      events: (snapshot: AnyMachineSnapshot) =>
        events.filter(({ type }) => snapshot.machine.events.includes(type)) as never,
      outcomes,
      depth: DEPTH,
      limit: 100_000,
    });
    for (const edge of exploration.edges) {
      steps += 1;
      expect(
        () => runPath(exploration, pathThrough(exploration, edge)),
        `machine ${number}, POSTCHAIN_SEED=${SEED}`,
      ).not.toThrow();
    }
  }
  expect(steps).toBeGreaterThan(MACHINES);
});
