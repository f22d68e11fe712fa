import type { AnyStateMachine, SnapshotFrom } from 'xstate';
import { count } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { cover } from '../exploration/paths.ts';
import { failureOn, type Route, routeOf, shortestFailure, systemError, TwinRun } from '../exploration/system-route.ts';
import { SYSTEM_OPTIONS, SystemDriver, type SystemOptions } from '../exploration/tested-system.ts';
import { describeTransition } from '../structure/chart-structure.ts';

export interface TestSystemOptions<Machine extends AnyStateMachine = AnyStateMachine, Observation = unknown>
  extends SystemOptions<Machine, Observation> {
  /** What the paths cover, as for `cover`: each item of the chart, or every edge of the exploration. Default: `item`. */
  readonly each?: 'item' | 'edge';
}

/** A covering path that was left out from a step on, because the adapter has no function for the step. */
export interface LeftOutPath {
  readonly path: string;
  readonly step: string;
  /** The missing function, such as `outcomes.charge`. */
  readonly missing: string;
}

/** What a test of a system did. */
export interface SystemReport {
  /** Id of the machine. */
  readonly machine: string;
  /** The number of covering paths that were run. */
  readonly paths: number;
  readonly steps: number;
  readonly leftOut: readonly LeftOutPath[];
  /** The number of transitions in the chart. */
  readonly transitions: number;
  /** The transitions that no step took, as findings print them. */
  readonly untaken: readonly string[];
}

/** What a test has counted so far. */
export class Tally {
  steps = 0;
  readonly taken = new Set<number>();

  readonly add = (transitions: readonly number[]): void => {
    for (const transition of transitions) this.taken.add(transition);
  };
}

/**
 * Tests that a real system does what its model, an explored machine, does: every covering path, step by step. After each step, what `read`
 * returns must be what `expected` returns for the machine's snapshot. Resolves to what was tested.
 *
 * Rejects with `path_failed` at the first difference, with the shortest failing path, also if the system throws or does not answer within
 * `timeoutMs`; with `cancelled` if `signal` aborts.
 *
 * @example
 * const report = await testSystem(explore(checkout, { outcomes: { charge: [done(), fails()] } }), {
 *   system: {
 *     reset: () => page.goto(url),
 *     send: ({ type }) => page.getByRole('button', { name: type }).click(),
 *     outcomes: { charge: ({ kind }) => backend.answer(kind === 'done' ? 200 : 402) },
 *     read: () => page.getByRole('status').textContent(),
 *   },
 * });
 * console.log(systemReportText(report));
 */
export async function testSystem<Machine extends AnyStateMachine, Observation>(
  exploration: Exploration<Machine, SnapshotFrom<Machine>>,
  options: TestSystemOptions<Machine, Observation>,
): Promise<SystemReport> {
  requireKnownOptions('testSystem', options, `${SYSTEM_OPTIONS} each`);
  const { machine, chart } = exploration;
  const { each = 'item' } = options;
  const driver = new SystemDriver(machine, options as unknown as SystemOptions);
  const tally = new Tally();
  const { routes, leftOut } = performableRoutes(exploration, driver, each);
  for (const route of routes) {
    const run = new TwinRun(exploration, driver, route.start, tally.add);
    const failing = await failureOn(route, run);
    tally.steps += run.steps.length;
    if (failing !== null) throw systemError(machine, await shortestFailure(exploration, driver, failing));
  }
  const untaken = chart.transitions.flatMap((_, index) =>
    tally.taken.has(index) ? [] : [describeTransition(chart, index)],
  );
  const transitions = chart.transitions.length;
  return { machine: machine.id, paths: routes.length, steps: tally.steps, leftOut, transitions, untaken };
}

/** Returns the covering paths up to the first step that the adapter cannot do, without those that others begin with. */
function performableRoutes(exploration: Exploration, driver: SystemDriver, each: 'item' | 'edge') {
  const leftOut: LeftOutPath[] = [];
  const all = cover(exploration, { each }).map((path): Route => {
    const { start, steps } = routeOf(path);
    const end = steps.findIndex((step) => driver.missingFor(step) !== null);
    const step = steps[end];
    if (step === undefined) return { start, steps };
    leftOut.push({ path: path.name, step: step.name, missing: driver.missingFor(step) ?? '' });
    return { start, steps: steps.slice(0, end) };
  });
  const begins = (one: Route, other: Route): boolean =>
    one.start === other.start && one.steps.every((step, at) => step.name === other.steps[at]?.name);
  const routes = all.filter((route, at) =>
    all.every(
      (other, index) =>
        index === at || !begins(route, other) || (other.steps.length === route.steps.length && index > at),
    ),
  );
  return { routes, leftOut };
}

/** Formats a report: what was tested, and what was not. */
export function systemReportText(report: SystemReport): string {
  const { machine, paths, steps, leftOut, transitions, untaken } = report;
  const taken = `${transitions - untaken.length} of ${count(transitions, 'transition')}`;
  return [
    `The system does what ${machine} does: ${count(paths, 'path')}, ${count(steps, 'step')}, ${taken}.`,
    ...untaken.map((transition) => `  not taken: ${transition}`),
    ...leftOut.map(({ path, step, missing }) => `  left out from "${step}" on, without "${missing}": ${path}`),
  ].join('\n');
}
