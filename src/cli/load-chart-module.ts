import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { firstLineOf, printable } from '../internal/printable.ts';
import { EXPLORE_OPTIONS, type ExploredChart } from '../testing/exploration/explore.ts';
import type { Property } from '../testing/properties/properties.ts';
import { requireHostable } from '../xstate/ports.ts';
import { isMachine } from '../xstate/states.ts';

export interface ChartModule extends ExploredChart<AnyStateMachine> {
  readonly properties: readonly Property[];
}

/**
 * Loads a machine from a module: its export `machine`, its default export, its only machine, or the one named after `#`. Its other exports
 * may be options of `explore` and `properties`, by name or in the default export. `names` are the other charts that the command takes.
 */
export async function loadChartModule(name: string, names: readonly string[]): Promise<ChartModule> {
  const at = existsSync(name) ? -1 : name.lastIndexOf('#');
  const [path, exported] = at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
  if (!existsSync(path))
    throw new PostChainError(
      'invalid_option',
      `Chart "${name}" not found; expected ${names.join(', ')}, or the path of a module that exports a machine`,
    );
  const module = await importModule(path);
  const inner = isMachine(module['default']) ? {} : (Object(module['default']) as Record<string, unknown>);
  const given = { ...inner, ...module };
  const machine = machineIn(path, given, exported);
  requireHostable(machine);
  const { outcomes = {}, properties = [] } = given;
  if (typeof outcomes !== 'object' || outcomes === null)
    throw new PostChainError('invalid_option', `${path}: "outcomes" must be an object keyed by actor name`);
  if (!Array.isArray(properties)) throw new PostChainError('invalid_option', `${path}: "properties" must be an array`);
  const options = Object.entries(given).filter(([name]) => EXPLORE_OPTIONS.split(' ').includes(name));
  return { ...Object.fromEntries(options), machine, outcomes, properties } as ChartModule;
}

function machineIn(
  path: string,
  exports: Readonly<Record<string, unknown>>,
  name: string | undefined,
): AnyStateMachine {
  const machines = Object.entries(exports).filter(([, value]) => isMachine(value));
  const found = exports[name ?? 'machine'] ?? (name === undefined ? exports['default'] : undefined);
  if (isMachine(found)) return found;
  const [only, ...others] = machines;
  if (name === undefined && only !== undefined && others.length === 0) return only[1] as AnyStateMachine;
  const names = machines.map(([key]) => `${path}#${key}`).join(', ');
  throw new PostChainError(
    'invalid_option',
    machines.length > 0
      ? `${path} exports ${machines.length} machines; expected ${names}`
      : `${path} must export an XState machine; its exports are ${Object.keys(exports).join(', ') || 'empty'}`,
  );
}

export async function importModule(name: string): Promise<Record<string, unknown>> {
  process.once('beforeExit', reportUnsettled);
  try {
    return await import(pathToFileURL(resolve(name)).href);
  } catch (cause) {
    throw new PostChainError('invalid_option', `Cannot load ${name}: ${loadError(cause)}`, { cause });
  } finally {
    process.off('beforeExit', reportUnsettled);
  }

  /** Node exits silently if a top-level await can never settle. */
  function reportUnsettled(): void {
    process.stderr.write(`postchain: Cannot load ${printable(name)}: its top-level await never settles\n`);
    process.exit(2);
  }
}

function loadError(cause: unknown): string {
  const problem = firstLineOf(cause);
  const isTypeScript = (cause as { code?: unknown } | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION';
  return isTypeScript && /\.[cm]?ts\b/iu.test(problem)
    ? `Node ${process.versions.node} cannot run TypeScript; pass compiled JavaScript, use Node 22.18 or later, or install tsx and set NODE_OPTIONS="--import tsx"`
    : problem;
}
