import { createMachine } from 'xstate';
import type { ChartState } from '../../../src/durable/charts/chart.ts';
import { chartOf } from '../../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';

/** The charts of a program with one machine. */
const chartsOf = (machine: Parameters<typeof chartOf>[0]): RunCharts => ({ charts: [chartOf(machine)], invoked: {} });

export const trafficLight = chartsOf(
  createMachine({
    id: 'light',
    initial: 'green',
    on: { EMERGENCY: '.red', RESET: '.green' },
    states: {
      green: { on: { PEDESTRIAN: 'yellow' }, after: { 3000: 'yellow' } },
      yellow: { after: { 1000: 'red' } },
      red: {
        initial: 'walk',
        on: { TIMER: 'green' },
        states: {
          walk: { on: { COUNTDOWN: 'wait' } },
          wait: { on: { COUNTDOWN: 'stop' } },
          stop: { on: { REFRESH: {} } },
        },
      },
    },
  }),
);

/** Three regions that hear the same event. */
export const threeRegions = chartsOf(
  createMachine({
    id: 'regions',
    type: 'parallel',
    states: Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [
        name,
        { initial: 'off', states: { off: { on: { TOGGLE: 'on' } }, on: { on: { TOGGLE: 'off' } } } },
      ]),
    ),
  }),
);

/** Groups of states: each group is a sequence that ends in the next group, and every group can be reset. */
export function groupsOf(groups: number, each: number): RunCharts {
  const [ids, steps] = [
    Array.from({ length: groups }, (_, index) => `group${index}`),
    Array.from({ length: each }, (_, index) => `step${index}`),
  ];
  const stepsOf = (index: number) =>
    Object.fromEntries(
      steps.map((step, at) => [
        step,
        { on: at === each - 1 ? { DONE: `#${ids[(index + 1) % groups]}` } : { STEP: steps[at + 1] as string } },
      ]),
    );
  return chartsOf(
    createMachine({
      id: 'groups',
      initial: 'group0',
      states: Object.fromEntries(
        ids.map((id, index) => [id, { id, initial: 'step0', on: { RESET: '#group0' }, states: stepsOf(index) }]),
      ),
    } as Parameters<typeof createMachine>[0]),
  );
}

/** States without hierarchy, each with a number of transitions to others. */
export function flatChart(states: number, ways: number): RunCharts {
  const state = (id: string, parent: string | null): ChartState => ({
    id,
    name: id,
    parent,
    type: parent === null ? 'compound' : 'atomic',
    description: '',
    initial: parent === null ? 'step0' : null,
    invokes: [],
  });
  const ids = Array.from({ length: states }, (_, index) => `step${index}`);
  const transitions = ids.flatMap((source, index) =>
    Array.from({ length: ways }, (_, way) => ({
      source,
      target: [ids[(index * (way + 1) + way + 1) % states] as string],
      event: `WAY_${way}`,
      guard: null,
      otherwise: false,
      actions: [],
    })),
  );
  return {
    charts: [{ id: 'flat', states: [state('flat', null), ...ids.map((id) => state(id, 'flat'))], transitions }],
    invoked: {},
  };
}
