import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { DurableMachine } from '../durable/durable-machine.ts';
import type { ActorSummary } from '../durable/journals/journal-store.ts';
import { oneLine } from '../internal/printable.ts';
import type { JournalFlags } from './find-run.ts';
import { importModule } from './load-chart-module.ts';

export interface ModuleFlags extends JournalFlags {
  /** Paths of modules that export durable machines; by default `postchain.config.*` of the working directory, if there is one. */
  readonly module?: readonly string[];
}

/** A durable actor, and the machine that can continue it. */
export interface FoundActor {
  readonly host: DurableMachine<AnyStateMachine>;
  readonly actor: ActorSummary;
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

const configs = (): readonly string[] => CONFIGS.filter((config) => existsSync(resolve(config))).slice(0, 1);
const CONFIGS = ['mjs', 'js', 'ts', 'mts'].map((extension) => `postchain.config.${extension}`);

/** Returns the durable machines of the given modules; by default, those of the `postchain.config` file in the working directory, if any. */
export async function durableMachines({
  module: paths = configs(),
}: Pick<ModuleFlags, 'module'>): Promise<readonly DurableMachine<AnyStateMachine>[]> {
  return (await Promise.all(paths.map(durableMachinesIn))).flat();
}

/** Returns the actors of the durable machines of modules, each with its machine. */
export async function hostedActors(flags: Pick<ModuleFlags, 'module'>): Promise<readonly FoundActor[]> {
  const hosts = await durableMachines(flags);
  const actorsOf = async (host: FoundActor['host']): Promise<readonly FoundActor[]> =>
    (await host.list()).map((actor) => ({ host, actor }));
  return (await Promise.all(hosts.map(actorsOf))).flat();
}

/**
 * Finds an actor by its id, or the start of one, in the stores of the given modules. Returns null if no module is given and the configuration
 * of the working directory has no such actor. Throws `invalid_journal` if none or several match.
 */
export async function findHosted(name: string, { module: given }: ModuleFlags): Promise<FoundActor | null> {
  // A journal file needs no module: it is that of a run, or `show` prints it. `last` is the latest run, not the start of an id.
  if (given === undefined && (name === 'last' || existsSync(name))) return null;
  const paths = given ?? configs();
  const hosted = await hostedActors({ module: paths });
  const exact = hosted.find(({ actor }) => actor.id === name);
  const matches = exact ? [exact] : hosted.filter(({ actor }) => actor.id.startsWith(name));
  const [only, ...others] = matches;
  if (others.length > 0) {
    const ids = matches.map(({ actor }) => oneLine(actor.id)).slice(0, 5);
    throw new PostChainError(
      'invalid_journal',
      `${JSON.stringify(name)} matches ${matches.length} actors (${ids.join(', ')}); use a longer prefix`,
    );
  }
  if (only === undefined && given !== undefined) throw unknownActor(name, paths);
  return only ?? null;
}

const unknownActor = (name: string, paths: readonly string[]): PostChainError =>
  new PostChainError(
    'invalid_journal',
    `Actor ${JSON.stringify(name)} not found in the stores of ${paths.join(', ')}; "postchain runs --journals PLACE" lists the ids`,
  );

/** Like `findHosted`, for commands that only durable actors have. */
export async function requireHosted(name: string, flags: ModuleFlags): Promise<FoundActor> {
  const hosted = await findHosted(name, flags);
  if (hosted !== null) return hosted;
  const paths = flags.module ?? configs();
  if (paths.length > 0) throw unknownActor(name, paths);
  throw new PostChainError(
    'invalid_option',
    `Actor ${JSON.stringify(name)} needs its machine; pass --module FILE, a module that exports the result of createDurableMachine, or export it from postchain.config.mjs`,
  );
}
