import type { Chart } from '../../durable/charts/chart.ts';
import { type CoverageItem, stateKey } from '../structure/coverage-items.ts';

/** A part of a chart, and how often it was reached. */
export interface CoveredItem extends CoverageItem {
  readonly times: number;
}

export interface MachineCoverage {
  readonly machine: string;
  readonly chart: Chart;
  readonly items: readonly CoveredItem[];
}

/** Gives different machines different names. */
export function withUniqueNames(all: readonly MachineCoverage[]): readonly MachineCoverage[] {
  const taken = new Set<string>();
  return all.map((one) => {
    const numbered = (nth: number): string => (nth === 1 ? one.machine : `${one.machine} (${nth})`);
    let nth = 1;
    while (taken.has(numbered(nth))) nth += 1;
    taken.add(numbered(nth));
    return renamed(one, numbered(nth));
  });
}

/** Replaces the name of a machine, also in the ids of its states. */
export function renamed(one: MachineCoverage, name: string): MachineCoverage {
  const { machine, chart, items } = one;
  if (name === machine) return one;
  const rename = (text: string): string =>
    text.startsWith(machine) && /^(?:$|[.:])/u.test(text.slice(machine.length))
      ? `${name}${text.slice(machine.length)}`
      : text;
  return {
    machine: name,
    chart: renamedChart(chart, rename),
    items: items.map((item) => ({
      ...item,
      name: rename(item.name),
      key: item.kind === 'state' ? stateKey(rename(item.name)) : item.key,
    })),
  };
}

const renamedChart = ({ id, states, transitions }: Chart, rename: (id: string) => string): Chart => ({
  id: rename(id),
  states: states.map((state) => ({
    ...state,
    id: rename(state.id),
    name: state.parent === null ? rename(state.name) : state.name,
    parent: state.parent && rename(state.parent),
    initial: state.initial && rename(state.initial),
  })),
  transitions: transitions.map((transition) => ({
    ...transition,
    source: rename(transition.source),
    target: transition.target.map(rename),
  })),
});
