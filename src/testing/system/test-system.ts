import type { AnyStateMachine, SnapshotFrom } from 'xstate';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { cover } from '../exploration/paths.ts';
import { failureOn, type Route, routeOf, shortestFailure, systemError, TwinRun } from '../exploration/system-route.ts';
import { SYSTEM_OPTIONS, SystemDriver, type SystemOptions } from '../exploration/tested-system.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import type { TestSystemOptions, WalksOptions } from './system-options.ts';
import { type LeftOutPath, type SystemReport, Tally } from './system-report.ts';
import { walkSystem } from './walks.ts';

/**
 * Tests that a real system does what its model, an explored machine, does: every covering path and, with `walks`, random ones, step by step.
 * After each step, what `read` returns must be what `expected` returns for the machine's snapshot. Resolves to what was tested.
 *
 * Rejects with `path_failed` at the first difference, with the shortest failing path, also if the system throws or does not answer within
 * `timeoutMs`; with `cancelled` if `signal` aborts; with `package_missing` if `walks` is given and fast-check is not installed.
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
  requireKnownOptions('testSystem', options, `${SYSTEM_OPTIONS} each walks`);
  const { machine, chart } = exploration;
  const { each = 'item', walks } = options;
  const driver = new SystemDriver(machine, options as unknown as SystemOptions);
  const tally = new Tally();
  const { routes, leftOut } = performableRoutes(exploration, driver, each);
  for (const route of routes) {
    const run = new TwinRun(exploration, driver, route.start, tally.take);
    const failing = await failureOn(route, run);
    tally.steps += run.steps.length;
    if (failing !== null) throw systemError(machine, await shortestFailure(exploration, driver, failing));
  }
  const seed = walks === undefined ? null : await walkSystem(exploration, driver, walks as WalksOptions, tally);
  const untaken = chart.transitions.flatMap((_, index) =>
    tally.taken.has(index) ? [] : [describeTransition(chart, index)],
  );
  return {
    machine: machine.id,
    paths: routes.length,
    walks: tally.walks,
    seed,
    steps: tally.steps,
    leftOut,
    transitions: chart.transitions.length,
    untaken,
  };
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
