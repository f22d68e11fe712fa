import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { firstLineOf, printable } from '../internal/printable.ts';
import { actionChart } from '../testing/charts/action-chart.ts';
import { attemptChart } from '../testing/charts/attempt-chart.ts';
import { chainChart } from '../testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties, soundness } from '../testing/charts/properties.ts';
import type { Exploration } from '../testing/exploration/exploration.ts';
import type { ExploredChart } from '../testing/exploration/explore.ts';
import { explore } from '../testing/exploration/explore.ts';
import type { Property } from '../testing/properties/properties.ts';

type AnyChart = ExploredChart<AnyStateMachine>;

export interface ChartToExplore {
  readonly chart: AnyChart;
  readonly properties: readonly Property[];
}

/** The three of PostChain by the names that people type. */
const OWN = {
  chain: { chart: chainChart, properties: chainProperties },
  attempt: { chart: attemptChart, properties: attemptProperties },
  action: { chart: actionChart, properties: actionProperties },
} as unknown as Readonly<Record<string, ChartToExplore>>;

/**
 * A chart of our own by its name, or the one of a module: it exports `machine`, and what `explore` takes, by itself or as its default; and
 * perhaps `properties` of its own.
 */
export async function chartToExplore(name: string): Promise<ChartToExplore> {
  if (Object.hasOwn(OWN, name) && OWN[name] !== undefined) return OWN[name];
  if (!existsSync(name))
    throw new PostChainError(
      'invalid_option',
      `There is no chart and no file "${name}": choose one of ${Object.keys(OWN).join(', ')}, or give a module that exports a machine.`,
    );
  const module = await imported(name);
  const given = { ...(Object(module['default']) as Record<string, unknown>), ...module };
  const { machine, outcomes = {}, properties = [] } = given;
  if ((machine as AnyStateMachine | undefined)?.root === undefined)
    throw new PostChainError(
      'invalid_option',
      `${name}: got ${Object.keys(given).join(', ') || 'no export'}; wanted an XState machine as "machine", and "outcomes" for its actors.`,
    );
  if (typeof outcomes !== 'object' || outcomes === null || !Array.isArray(properties))
    throw new PostChainError(
      'invalid_option',
      `${name}: wanted "outcomes" as an object, by the names of actors, and "properties" as an array; leave out what there is none of.`,
    );
  return {
    chart: { ...given, machine, outcomes } as AnyChart,
    properties: [...soundness, ...(properties as readonly Property[])],
  };
}

export const explorationOf = ({ chart }: ChartToExplore): Exploration => explore(chart.machine, chart);

async function imported(name: string): Promise<Record<string, unknown>> {
  process.once('beforeExit', endsNever);
  try {
    return await import(pathToFileURL(resolve(name)).href);
  } catch (cause) {
    throw new PostChainError('invalid_option', `${name} cannot be loaded: ${whyNot(cause)}`, { cause });
  } finally {
    process.off('beforeExit', endsNever);
  }

  /** Node goes, without a word, where nothing is left that could settle it. */
  function endsNever(): void {
    process.stderr.write(`postchain: ${printable(name)} cannot be loaded: it awaits at its top what never comes.\n`);
    process.exit(2);
  }
}

function whyNot(cause: unknown): string {
  if ((cause as { code?: unknown } | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `Node ${process.versions.node} reads no TypeScript; give the JavaScript it is built to, or use Node 22.18 or later`;
  return firstLineOf(cause);
}
