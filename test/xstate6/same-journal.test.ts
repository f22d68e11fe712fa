import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { createActor } from 'xstate6';
import { chartOf } from '../../src/durable/charts/chart.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { hostXState6 } from '../../src/entries/xstate6.ts';
import { runScenario } from '../support/durable-runs.ts';
import { type Both, machinesOfBoth } from '../support/machines-of-both.ts';

beforeAll(() => hostXState6({ createActor }));

describe.each(Object.entries(machinesOfBoth))(
  'a machine with %s, written for XState 5 and 6',
  (_, { five, six, steps }) => {
    it('has the same chart and the same journal, entry by entry', async () => {
      expect(withoutActions(six())).toEqual(withoutActions(five()));
      const [one, other] = [await journalOf(five(), steps), await journalOf(six(), steps)];
      expect(other).toEqual(one);
      expect(one.length).toBeGreaterThan(steps.length);
    });
  },
);

async function journalOf(machine: AnyStateMachine, steps: Both['steps']): Promise<readonly DurableEntry[]> {
  const events = steps.map((step) => (typeof step === 'number' ? step : { type: step }));
  const { entries } = await runScenario({ machine: () => machine, steps: events, ends: null });
  return entries.map(comparable);
}

/** Version 5 names its own actions in a chart; in version 6, functions take their place. */
function withoutActions(machine: AnyStateMachine): object {
  const { id, states, transitions } = chartOf(machine);
  return { id, states, transitions: transitions.map(({ actions: _, ...transition }) => transition) };
}

/** Each actor has another seed, and the digest is that of the chart with its actions. */
function comparable(entry: DurableEntry): DurableEntry {
  if (entry.type === 'keyframe') return { ...entry, state: { ...entry.state, random: 0 } };
  return entry.type === 'start' ? { ...entry, seed: 0, machine: { ...entry.machine, digest: '' } } : entry;
}
