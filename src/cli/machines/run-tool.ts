import { chartOf } from '../../durable/charts/chart.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { mermaid } from '../../durable/charts/mermaid.ts';
import type { Exploration, ExploredEdge } from '../../testing/exploration/exploration.ts';
import { type Path, pathTo, reachedItems } from '../../testing/exploration/paths.ts';
import { findingsOf, type Property, type Witness } from '../../testing/properties/properties.ts';
import { describeTransition } from '../../testing/structure/chart-structure.ts';
import { coverageItems } from '../../testing/structure/coverage-items.ts';
import { lintProperties } from '../explore-module.ts';
import { loadChartModule } from '../load-chart-module.ts';
import { stateText } from '../state-text.ts';
import { coverageView, mutantsView } from './cover-and-mutants.ts';
import { type ExploredFile, exploreFile } from './explore-file.ts';
import { replayFile } from './replay-file.ts';
import { placeView, simulate, stepView } from './simulate.ts';
import { propertiesOf } from './stated-properties.ts';
import { machineTools, type ToolInput, type ToolName } from './tool-schemas.ts';

type Tools = { readonly [Name in ToolName]: (input: ToolInput<Name>) => Promise<object> };

const tools: Tools = {
  async lint(input) {
    const explored = await exploreFile(input);
    return findingsView(explored, lintProperties(explored.chart));
  },

  async explore(input) {
    const { exploration, assumed } = await exploreFile(input);
    return {
      ...sizeOf(exploration),
      ...statesView(exploration),
      notReached: notReached(exploration),
      ...assumption(assumed),
    };
  },

  async check({ properties: stated, ...input }) {
    const explored = await exploreFile(input);
    const { chart } = explored;
    return findingsView(explored, stated === undefined ? lintProperties(chart) : propertiesOf(chart.machine, stated));
  },

  async diagram({ file, depth }) {
    const chart = chartOf((await loadChartModule(file, [])).machine);
    return { machine: chart.id, mermaid: mermaid(chart, depth === undefined ? {} : { depth }) };
  },

  async simulate({ start, steps, ...input }) {
    const { exploration } = await exploreFile({ ...input, depth: 0 });
    const { start: first, places, edges } = simulate(exploration, { start, steps });
    const [at, ...after] = places.map((place) => placeView(exploration, place));
    return {
      machine: exploration.machine.id,
      start: { ...stepView(exploration, first), ...at },
      steps: edges.map((edge, index) => ({
        event: edge.occurrence.name,
        ...(edge.taken.length === 0 && { ignored: true }),
        ...stepView(exploration, edge),
        ...after[index],
      })),
    };
  },

  async cover({ paths, ...input }) {
    const { exploration, assumed } = await exploreFile(input);
    return { machine: exploration.machine.id, ...coverageView(exploration, paths), ...assumption(assumed) };
  },

  async mutants({ properties: stated, paths = [], ...input }) {
    const explored = await exploreFile(input);
    const { chart, assumed } = explored;
    const properties = stated === undefined ? lintProperties(chart) : propertiesOf(chart.machine, stated);
    return {
      machine: chart.machine.id,
      ...(await mutantsView(explored, { properties, paths })),
      ...assumption(assumed),
    };
  },

  replay: replayFile,
};

/** Runs a tool on the machine of a file. The input has been validated. */
export function runTool(name: ToolName, input: unknown): Promise<object> {
  const run = tools[name] as (input: unknown) => Promise<object>;
  return run(machineTools[name].input.parse(input));
}

const assumption = (assumed: readonly string[]) => (assumed.length === 0 ? {} : { assumed: assumed.join('. ') });

const sizeOf = ({ machine, states, edges, isComplete }: Exploration) => ({
  machine: machine.id,
  states: states.length,
  edges: edges.length,
  isComplete,
});

function findingsView({ exploration, assumed }: ExploredFile, properties: readonly Property[]) {
  const findings = findingsOf(exploration, properties);
  const skipped = properties.filter(({ name }) => !findings.some(({ property }) => property === name));
  const failed = findings.filter(({ witness }) => witness !== null).length;
  return {
    ...sizeOf(exploration),
    holds: failed === 0 && skipped.length === 0,
    findings: findings.map(({ property, witness }) =>
      witness === null
        ? { property, holds: true }
        : { property, holds: false, ...counterexample(exploration, witness) },
    ),
    ...(skipped.length > 0 && {
      notChecked: `${skipped.map(({ name }) => name).join(', ')}: "depth" cut the exploration off`,
    }),
    ...assumption(assumed),
  };
}

/** `at` are the paths of the states that the text names, in its order, or else of those at the end of the path. `path` can be passed to `simulate` as `steps`, by the events. */
const counterexample = (exploration: Exploration, { what, path }: Witness) => ({
  what,
  at: statesIn(exploration, what, path),
  ...(path !== null && pathView(exploration, path)),
});

function statesIn({ machine, states }: Exploration, what: string, path: Path | null): readonly string[] {
  const nodes = new Map(
    nodesOf(machine).flatMap(({ id, path: keys }) => [id, keys.join('.')].map((name) => [name, keys.join('.')])),
  );
  const words = what.match(/[^\s"',;:{}]+/gu) ?? [];
  const named = [...new Set(words.map((word) => nodes.get(word) ?? ''))].filter(Boolean);
  const last = path === null ? undefined : states[path.edges.at(-1)?.to ?? path.start.state];
  return named.length > 0 || last === undefined ? named : stateText(last.snapshot.value).split(' and ');
}

function pathView({ states }: Exploration, { start, edges }: Path) {
  const stateOf = (id: number): string => stateText(states[id]?.value);
  const last = states[edges.at(-1)?.to ?? start.state];
  return {
    ...(start.name !== '' && { input: start.name }),
    start: stateOf(start.state),
    path: edges.map(({ occurrence: { name }, to }) => ({ event: name, state: stateOf(to) })),
    status: last?.snapshot.status,
    context: last?.snapshot.context,
  };
}

/** The states by their values, each with the shortest path, and the transitions between them. */
function statesView(exploration: Exploration) {
  const { states, edges, chart } = exploration;
  const textOf = (id: number): string => stateText(states[id]?.value);
  const byText = new Map(states.map((state) => [textOf(state.id), state] as const).reverse());
  const rowOf = ({ from, to, occurrence, taken }: ExploredEdge) => ({
    from: textOf(from),
    event: occurrence.name,
    to: textOf(to),
    by: taken.map((index) => describeTransition(chart, index)),
  });
  const rows = edges.filter(({ taken }) => taken.length > 0).map(rowOf);
  return {
    reached: [...byText].reverse().map(([state, { id, snapshot }]) => ({
      state,
      status: snapshot.status,
      path: pathTo(exploration, id).edges.map(({ occurrence: { name } }) => name),
    })),
    transitions: [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()],
  };
}

function notReached(exploration: Exploration) {
  const reached = reachedItems(exploration);
  return coverageItems(exploration.machine).flatMap(({ key, kind, name }) =>
    reached.has(key) ? [] : [{ kind, name }],
  );
}
