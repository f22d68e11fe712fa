import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { count, firstLineOf, grouped, printable, printableJson } from '../internal/printable.ts';
import { actionChart } from '../testing/charts/action-chart.ts';
import { attemptChart } from '../testing/charts/attempt-chart.ts';
import { chainChart } from '../testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties, soundness } from '../testing/charts/properties.ts';
import type { Exploration } from '../testing/exploration/exploration.ts';
import { type ExploredChart, explore } from '../testing/exploration/explore.ts';
import { cover } from '../testing/exploration/paths.ts';
import { reachedItems } from '../testing/exploration/reached-items.ts';
import type { Property } from '../testing/properties/properties.ts';
import { coverageItems } from '../testing/structure/coverage-items.ts';
import { createLongWork, type LongWork } from './long-work.ts';
import { wrapLines } from './screen.ts';

export async function exploreCommand(name: string, { json = false }: { readonly json?: boolean }): Promise<string> {
  const work = createLongWork();
  try {
    const { exploration } = await exploreChart(name, work);
    return json
      ? `${printableJson(JSON.stringify(asData(exploration)))}\n`
      : wrapLines(printable(`${summaryLines(exploration, work).join('\n')}\n`), process.stdout);
  } finally {
    work.end();
  }
}

/** `guard` is that of the last transition taken. */
function asData({ machine, chart, starts, states, edges }: Exploration) {
  return {
    machine: machine.id,
    starts: starts.map(({ name, state }) => ({ name, state })),
    states: states.map(({ id, value, depth, snapshot: { status } }) => ({ id, value, depth, status })),
    edges: edges.map(({ from, to, occurrence, taken }) => ({
      from,
      event: occurrence.name,
      to,
      transitions: taken,
      guard: chart.transitions[taken.at(-1) ?? -1]?.guard ?? null,
    })),
  };
}

function summaryLines(exploration: Exploration, work: LongWork): readonly string[] {
  const { machine, states, edges } = exploration;
  const items = coverageItems(machine);
  const reached = reachedItems(exploration);
  const missing = items.filter(({ key }) => !reached.has(key));
  work.update('Finding the covering paths');
  const paths = cover(exploration).length;
  return [
    `${machine.id}: ${count(states.length, 'state')}, ${count(edges.length, 'edge')}, ${count(paths, 'covering path')}`,
    `${items.length - missing.length} of ${count(items.length, 'chart item')} reached${missing.length === 0 ? '' : '; not reached:'}`,
    ...missing.map(({ kind, name }) => `  ${kind.padEnd(10)} ${name}`),
  ];
}

interface LoadedChart {
  readonly chart: ExploredChart<AnyStateMachine>;
  readonly properties: readonly Property[];
}

const BUILT_IN = {
  chain: { chart: chainChart, properties: chainProperties },
  attempt: { chart: attemptChart, properties: attemptProperties },
  action: { chart: actionChart, properties: actionProperties },
} as unknown as Readonly<Record<string, LoadedChart>>;

/** Explores a built-in chart by name, or the chart of a module. Returns the exploration and the properties to check. */
export async function exploreChart(name: string, work: LongWork) {
  const { chart, properties } = await loadChart(name);
  const onProgress = (explored: number, found: number): void =>
    work.update(`Exploring ${chart.machine.id}: ${grouped(explored)} of ${grouped(found)} states found so far`);
  return { exploration: explore(chart.machine, { ...chart, onProgress }) as Exploration, properties };
}

/** A module exports `machine`, the options of `explore`, and optionally `properties`, by name or in its default export. */
async function loadChart(name: string): Promise<LoadedChart> {
  if (Object.hasOwn(BUILT_IN, name) && BUILT_IN[name] !== undefined) return BUILT_IN[name];
  if (!existsSync(name))
    throw new PostChainError(
      'invalid_option',
      `Chart "${name}" not found; expected ${Object.keys(BUILT_IN).join(', ')}, or the path of a module that exports a machine`,
    );
  const module = await importModule(name);
  const given = { ...(Object(module['default']) as Record<string, unknown>), ...module };
  const { machine, outcomes = {}, properties = [] } = given;
  if ((machine as AnyStateMachine | undefined)?.root === undefined)
    throw new PostChainError(
      'invalid_option',
      `${name} must export an XState machine as "machine"; its exports are ${Object.keys(given).join(', ') || 'empty'}`,
    );
  if (typeof outcomes !== 'object' || outcomes === null)
    throw new PostChainError('invalid_option', `${name}: "outcomes" must be an object keyed by actor name`);
  if (!Array.isArray(properties)) throw new PostChainError('invalid_option', `${name}: "properties" must be an array`);
  return {
    chart: { ...given, machine, outcomes } as ExploredChart<AnyStateMachine>,
    properties: [...soundness, ...(properties as readonly Property[])],
  };
}

async function importModule(name: string): Promise<Record<string, unknown>> {
  process.once('beforeExit', reportUnsettled);
  try {
    return await import(pathToFileURL(resolve(name)).href);
  } catch (cause) {
    throw new PostChainError('invalid_option', `Cannot load ${name}: ${loadError(name, cause)}`, { cause });
  } finally {
    process.off('beforeExit', reportUnsettled);
  }

  /** Node exits silently if a top-level await can never settle. */
  function reportUnsettled(): void {
    process.stderr.write(`postchain: Cannot load ${printable(name)}: its top-level await never settles\n`);
    process.exit(2);
  }
}

const EXPECTED_MODULE = 'expected the path of a module that exports "machine" and "outcomes"';

function loadError(name: string, cause: unknown): string {
  switch ((cause as { code?: unknown } | null)?.code) {
    case 'ERR_UNKNOWN_FILE_EXTENSION':
      return /\.[cm]?tsx?$/iu.test(name)
        ? `Node ${process.versions.node} cannot run TypeScript; pass compiled JavaScript or use Node 22.18 or later`
        : `it is not JavaScript or TypeScript; ${EXPECTED_MODULE}`;
    case 'ERR_IMPORT_ATTRIBUTE_MISSING':
    case 'ERR_IMPORT_ASSERTION_TYPE_MISSING':
      return /\.json$/iu.test(name)
        ? `it is JSON; ${EXPECTED_MODULE}`
        : `it imports JSON without an import attribute; write import … with { type: 'json' }`;
    case 'ERR_UNSUPPORTED_DIR_IMPORT':
      return `it is a directory; ${EXPECTED_MODULE}`;
    default:
      return firstLineOf(cause);
  }
}
