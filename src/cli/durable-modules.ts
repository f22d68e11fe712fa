import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { DurableMachine } from '../durable/durable-machine.ts';
import { importModule } from './load-chart-module.ts';

export interface ModuleFlags {
  /** Paths of modules that export durable machines; by default `postchain.config.*` of the working directory, if there is one. */
  readonly module?: readonly string[];
}

/** Returns the durable machines that a module exports. Throws `invalid_option` if there are none. */
async function durableMachinesIn(path: string): Promise<readonly DurableMachine<AnyStateMachine>[]> {
  const machines = Object.values(await importModule(path)).filter(isDurableMachine);
  if (machines.length > 0) return [...new Set(machines)];
  throw new PostChainError(
    'invalid_option',
    `${path} exports no durable machine; expected an export of the result of createDurableMachine`,
  );
}

const isDurableMachine = (value: unknown): value is DurableMachine<AnyStateMachine> =>
  typeof Object(value).list === 'function' && typeof Object(value).replay === 'function';

const CONFIGS = ['mjs', 'js', 'ts', 'mts'].map((extension) => `postchain.config.${extension}`);

/** Returns the paths of the given modules; by default, of the `postchain.config` file in the working directory, if any. */
export const modulePaths = ({ module }: ModuleFlags): readonly string[] =>
  module ?? CONFIGS.filter((config) => existsSync(resolve(config))).slice(0, 1);

/** Returns the durable machines of the modules. */
export async function durableMachines(flags: ModuleFlags): Promise<readonly DurableMachine<AnyStateMachine>[]> {
  return (await Promise.all(modulePaths(flags).map(durableMachinesIn))).flat();
}
