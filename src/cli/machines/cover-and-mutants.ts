import { PostChainError } from '../../../machines/contracts/error.ts';
import { percentOf, TITLES } from '../../testing/coverage/coverage-report.ts';
import type { Exploration } from '../../testing/exploration/exploration.ts';
import { cover, type Path, reachedItems } from '../../testing/exploration/paths.ts';
import { killReport, mutantsOf } from '../../testing/mutants.ts';
import { describeFinding, findingsOf, type Property } from '../../testing/properties/properties.ts';
import { coverageItems } from '../../testing/structure/coverage-items.ts';
import { exploreModule } from '../explore-module.ts';
import { stateText } from '../state-text.ts';
import type { ExploredFile } from './explore-file.ts';
import { simulate } from './simulate.ts';
import type { SimulatedPath } from './tool-schemas.ts';

/** Returns what paths cover of a machine. By default, they are those that cover all that can be reached. */
export function coverageView(exploration: Exploration, paths: readonly SimulatedPath[] | undefined) {
  const covering = cover(exploration);
  const reachable = reachedItems(exploration);
  const covered = new Set(paths === undefined ? reachable : paths.flatMap((path) => [...itemsOf(exploration, path)]));
  const items = coverageItems(exploration.machine).map((item) => ({ ...item, times: covered.has(item.key) ? 1 : 0 }));
  const adds = (path: Path): boolean =>
    [...reachedItems({ ...exploration, starts: [path.start], edges: path.edges })].some((key) => !covered.has(key));
  const proposed = paths === undefined ? covering : covering.filter(adds);
  return {
    percent: Object.fromEntries(
      [...Object.entries(TITLES), ['all', undefined] as const].map(([kind, title]) => [
        title ?? kind,
        Math.floor(percentOf({ items }, title === undefined ? undefined : (kind as keyof typeof TITLES)) * 10) / 10,
      ]),
    ),
    notCovered: items.flatMap(({ key, kind, name, times }) =>
      times > 0 ? [] : [{ kind, name, ...(!reachable.has(key) && { unreachable: true }) }],
    ),
    paths: proposed.map(({ start, edges }) => ({
      ...(start.name !== '' && { start: start.name }),
      steps: edges.map(({ occurrence: { name } }) => name),
      end: stateText(exploration.states[edges.at(-1)?.to ?? start.state]?.value),
    })),
  };
}

function itemsOf(exploration: Exploration, path: SimulatedPath): ReadonlySet<string> {
  const { start, places, edges } = simulate(exploration, path);
  return reachedItems({ ...exploration, starts: [start], states: places, edges });
}

interface Suite {
  readonly properties: readonly Property[];
  readonly paths: readonly SimulatedPath[];
}

/** Returns which mistakes in the chart the properties, and the states along the paths, do not detect. */
export async function mutantsView({ chart, exploration }: ExploredFile, { properties, paths }: Suite) {
  const expected = paths.map((path) => statesAlong(exploration, path));
  const mutants = mutantsOf(chart.machine);
  const { killed, survivors } = await killReport(mutants, (machine) => {
    const mutant = exploreModule({ ...chart, machine }).exploration;
    const failed = findingsOf(mutant, properties).find(({ witness }) => witness !== null);
    if (failed !== undefined) throw new PostChainError('path_failed', describeFinding(failed));
    const differs = paths.findIndex((path, at) => statesAlong(mutant, path) !== expected[at]);
    if (differs >= 0) throw new PostChainError('path_failed', `path ${differs + 1} leads to other states`);
  });
  return { mutants: mutants.length, detected: killed, notDetected: survivors };
}

function statesAlong(exploration: Exploration, path: SimulatedPath): string {
  const { places } = simulate(exploration, path);
  return places.map(({ snapshot }) => `${stateText(snapshot.value)} ${snapshot.status}`).join(' → ');
}
