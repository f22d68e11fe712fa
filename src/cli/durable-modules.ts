import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { AgentOptions } from '../server/agent-runs.ts';
import { importModule } from './load-chart-module.ts';

export interface ModuleFlags {
  /** Paths of modules that export durable machines; by default `postchain.config.*` of the working directory, if there is one. */
  readonly module?: readonly string[];
}

/** A durable machine of a module, the events that people may send to its actors, and its options as an agent, which are not checked yet. */
export type ModuleMachine = AgentOptions;

/** Returns the durable machines that a module exports, also as options of an agent. Throws `invalid_option` if there are none. */
async function machinesIn(path: string): Promise<readonly ModuleMachine[]> {
  const exported = Object.values(await importModule(path));
  const machines = exported.flatMap((value): readonly ModuleMachine[] => {
    if (isDurableMachine(value)) return [{ host: value }];
    return isDurableMachine(Object(value).host) ? [value as ModuleMachine] : [];
  });
  // A machine may be exported twice: alone and with its options.
  const isDescribed = (one: ModuleMachine): boolean => Object.keys(one).length > 1;
  const found = new Map(
    machines.map(({ host }) => [host, machines.find((one) => one.host === host && isDescribed(one))]),
  );
  if (found.size > 0) return Array.from(found, ([host, described]) => described ?? { host });
  throw new PostChainError(
    'invalid_option',
    `${path} exports no durable machine; expected an export of the result of createDurableMachine`,
  );
}

const isDurableMachine = (value: unknown): value is ModuleMachine['host'] =>
  typeof Object(value).list === 'function' && typeof Object(value).replay === 'function';

const CONFIGS = ['mjs', 'js', 'ts', 'mts'].map((extension) => `postchain.config.${extension}`);

/** Returns the paths of the given modules; by default, of the `postchain.config` file in the working directory, if any. */
export const modulePaths = ({ module }: ModuleFlags): readonly string[] =>
  module ?? CONFIGS.filter((config) => existsSync(resolve(config))).slice(0, 1);

/** Returns the durable machines of the modules, with their events. */
export async function moduleMachines(flags: ModuleFlags): Promise<readonly ModuleMachine[]> {
  return (await Promise.all(modulePaths(flags).map(machinesIn))).flat();
}

/** Returns the durable machines of the modules. */
export async function durableMachines(flags: ModuleFlags): Promise<readonly ModuleMachine['host'][]> {
  return (await moduleMachines(flags)).map(({ host }) => host);
}
