import { beforeAll, describe, expect, it } from 'vitest';
import { createActor } from 'xstate6';
import { hostXState6 } from '../../src/entries/xstate6.ts';
import {
  asText,
  fromEachKeyframe,
  isStepped,
  repeatedAfterEnd,
  runScenario,
  stopScenario,
  withoutSeq,
} from '../support/durable-runs.ts';
import { createRandom, type Random, SEED } from '../support/random.ts';
import { randomScenario } from '../support/random-machines.ts';
import { machineOfSix } from '../support/random-machines-six.ts';
import { sampleSize } from '../support/soak.ts';

const MACHINES = sampleSize('random machines of XState 6', 200, 2_000);

const randoms = (): readonly Random[] => Array.from({ length: MACHINES }, (_, number) => createRandom(SEED + number));

const scenarioOf = (random: Random) => ({ ...randomScenario(random, machineOfSix), ends: null });

describe('random machines of XState 6, with calls, sources, children, delays and effects', () => {
  beforeAll(() => hostXState6({ createActor }));

  it('replay identically, also from keyframes, and survive a kill', async () => {
    for (const [number, random] of randoms().entries()) {
      const scenario = scenarioOf(random);
      const keyframes = random.chance(0.5);
      const whole = await runScenario(scenario, { keyframes });
      const label = `machine ${number}, POSTCHAIN_SEED=${SEED}`;
      expect((await whole.machine.replay('a')).divergence, label).toBeNull();
      for (const end of fromEachKeyframe(whole)) expect(end, label).toEqual([null, asText(whole.snapshot.context)]);
      const life = random.int(0, whole.entries.length - 1);
      const killed = await runScenario(scenario, { life, keyframes });
      const place = `${label}, killed at entry ${life}`;
      expect((await killed.machine.replay('a')).divergence, place).toBeNull();
      expect(repeatedAfterEnd(killed.calls, killed.entries.slice(0, life)), place).toEqual([]);
    }
  });

  it('do the same on another version with the same states, to which they are migrated at any step', async () => {
    let migrated = 0;
    for (const [number, random] of randoms().entries()) {
      const scenario = scenarioOf(random);
      const after = random.int(0, scenario.steps.length - 1);
      const keyframes = random.chance(0.5);
      const place = `machine ${number}, POSTCHAIN_SEED=${SEED}, opened again after step ${after}`;
      const same = await runScenario(scenario, { keyframes, reopen: { after, isMigrated: false } });
      const other = await runScenario(scenario, { keyframes, reopen: { after, isMigrated: true } });
      expect(other.entries.filter(isStepped).map(withoutSeq), place).toEqual(
        same.entries.filter(isStepped).map(withoutSeq),
      );
      expect((await other.machine.replay('a')).divergence, place).toBeNull();
      if (other.entries.some(({ type }) => type === 'migrated')) migrated += 1;
    }
    expect(migrated).toBeGreaterThan(MACHINES / 10);
  });

  it('are stopped after a kill at each entry', async () => {
    for (const [number, random] of randoms()
      .slice(0, MACHINES / 10)
      .entries()) {
      const scenario = scenarioOf(random);
      const whole = await runScenario(scenario, { keyframes: false });
      for (let life = 1; life <= whole.entries.length; life += 1) {
        const { divergence, calls } = await stopScenario(scenario, whole, life);
        const place = `machine ${number}, POSTCHAIN_SEED=${SEED}, stopped after a kill at entry ${life}`;
        expect(divergence, place).toBeNull();
        expect(
          calls.filter((call) => !call.startsWith('effect ')),
          place,
        ).toEqual([]);
      }
    }
  });
});
