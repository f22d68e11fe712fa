import { expect, it } from 'vitest';
import { idempotencyKey } from '../../../../src/entries/durable.ts';
import { repeatedAfterEnd } from '../../../support/durable-runs.ts';
import { createRandom, SEED } from '../../../support/random.ts';
import { randomScenario } from '../../../support/random-machines.ts';
import { divergenceOf, playActor } from '../../../support/restate-actors.ts';

const MACHINES = 300;
const BATCH = 50;

/** Only the process of an actor can send an event to a child from outside. */
function clusterScenario(number: number) {
  const random = createRandom(SEED + number);
  const { steps, ...scenario } = randomScenario(random);
  return { ...scenario, random, steps: steps.filter((step) => typeof step === 'number' || 'type' in step) };
}

it.each(Array.from({ length: MACHINES / BATCH }, (_, at) => at * BATCH))(
  'random machines have one journal on Restate, killed at two outcomes, and repeat nothing that ended (from number %i)',
  async (from) => {
    let same = 0;
    for (let number = from; number < from + BATCH; number += 1) {
      const { random, machine: build, input, steps } = clusterScenario(number);
      const play = async (kills: readonly number[]) => {
        const calls: string[] = [];
        const machine = build({ called: (name, args) => void calls.push(`${name} ${idempotencyKey(args)}`) });
        return { calls, machine, ...(await playActor({ machine, input, steps, kills })) };
      };
      const whole = await play([]);
      const [journal = []] = whole.journals;
      const place = `machine ${number}, POSTCHAIN_SEED=${SEED}`;
      expect(divergenceOf(whole.machine, journal), place).toBeNull();
      const first = random.int(0, Math.max(0, whole.outcomes - 1));
      const kills = [first, random.int(0, Math.max(0, whole.outcomes - 1))].toSorted((one, other) => one - other);
      const killed = await play(kills);
      const killPlace = `${place}, killed at ${kills}`;
      const last = killed.journals.at(-1) ?? [];
      expect(divergenceOf(whole.machine, last), killPlace).toBeNull();
      for (const stored of killed.journals) expect(stored, killPlace).toEqual(last.slice(0, stored.length));
      expect(repeatedAfterEnd(killed.calls, killed.journals[0] ?? []), killPlace).toEqual([]);
      // A callback starts again in each process, and reports again.
      if (last.some((entry) => entry.type === 'activity-event' && Object(entry.event).type === 'TICK')) continue;
      same += 1;
      expect([last, killed.requests, new Set(killed.calls)], killPlace).toEqual([
        journal,
        whole.requests,
        new Set(whole.calls),
      ]);
    }
    expect(same).toBeGreaterThan(BATCH / 2);
  },
);
