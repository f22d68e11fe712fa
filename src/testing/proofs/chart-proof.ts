import type { Chart } from '../../durable/charts/chart.ts';
import { quoted } from '../../internal/printable.ts';
import { describeTransition } from '../structure/chart-structure.ts';

/** What an exploration proved about a chart, as data for a page. */
export interface ChartProof {
  /** The chart's id. */
  readonly chart: string;
  /** The numbers of explored states and edges. */
  readonly states: number;
  readonly edges: number;
  /** The names of the inputs that the exploration started with. */
  readonly starts: readonly string[];
  /** The steps of all shortest paths, as a tree. */
  readonly steps: readonly ProofStep[];
  /** Where the shortest path to each state ends, by the state's id. */
  readonly toState: Readonly<Record<string, PathEnd>>;
  /** Where the shortest path that takes each transition ends; null if none does. Indexes as in `Chart.transitions`. */
  readonly byTransition: readonly (PathEnd | null)[];
  /** Which model calls may be made in or after each state, by the state's id. */
  readonly calls: Readonly<Record<string, readonly CallKind[]>>;
}

/** A call of a phase, or one that writes the answer. */
export type CallKind = 'phases' | 'answer';

/** The number of a step, or −1 − the number of a start. */
type PathEnd = number;

interface ProofStep {
  readonly after: PathEnd;
  /** What occurs, such as `action: replied`. */
  readonly name: string;
  /** The transitions that it takes, as indexes in `Chart.transitions`. */
  readonly taken: readonly number[];
}

/** A path from a start. */
export interface ProvenPath {
  readonly start: string;
  readonly steps: readonly ProofStep[];
}

export function pathEndingAt({ starts, steps }: ChartProof, end: PathEnd): ProvenPath {
  const path: ProofStep[] = [];
  let at = end;
  for (let step = steps[at]; step !== undefined; step = steps[at]) {
    path.unshift(step);
    at = step.after;
  }
  return { start: starts[-1 - at] ?? '', steps: path };
}

/** The exports of `postchain/testing` that explore the built-in charts, by chart id. */
const EXPORTS: Readonly<Record<string, string>> = {
  postChain: 'chainChart',
  attempt: 'attemptChart',
  actionLoop: 'actionChart',
};

/** Returns the source of a Vitest test that drives a built-in machine along a path and expects the last step to take a transition. */
export function testOfPath(chart: Chart, { start, steps }: ProvenPath, transition: number): string {
  const explored = EXPORTS[chart.id] ?? chart.id;
  const name = quoted(describeTransition(chart, transition));
  return `import { ${explored}, collectCoverage, startWalk } from 'postchain/testing';
import { expect, it } from 'vitest';

it(${quoted(`takes ${describeTransition(chart, transition)}`)}, () => {
  const { inspect, coverage } = collectCoverage([${explored}.machine]);
  const walk = startWalk(${explored}.machine, { ...${explored}, input: ${quoted(start)}, inspect });
${steps.map((step) => `  walk.take(${quoted(step.name)});\n`).join('')}  const taken = coverage().flatMap(({ items }) => items.filter(({ times }) => times > 0));
  expect(taken.map(({ name }) => name)).toContain(
    ${name},
  );
  walk.stop();
});
`;
}
