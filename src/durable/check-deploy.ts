import { type Divergence, differenceText } from './replay.ts';

/** An actor, or a run, that has not ended. */
export interface CheckedActor {
  readonly id: string;
  readonly status: string;
  /** Why it cannot continue on the current code, or be migrated, in one line; null if it can. */
  readonly problem: string | null;
  /** The version of its machine, if that is not the current one. */
  readonly version?: string | null;
  /** The version to which it will be migrated when it is opened. With a `problem`, it continues on its own version instead. */
  readonly migratesTo?: string;
}

interface ListedActor {
  readonly id: string;
  readonly status: string;
  readonly machine?: { readonly id: string } | null;
}

/** The methods of a durable machine that `checkDeploy` calls. */
export interface CheckedMachine {
  list(options?: { readonly allMachines?: boolean }): Promise<readonly ListedActor[]>;
  replay(id: string): Promise<{
    readonly divergence: Divergence | null;
    readonly version?: string | null;
    readonly migration?: { readonly problem: string | null } | null;
  }>;
  readonly machine?: { readonly version?: string };
}

const ENDED: ReadonlySet<string> = new Set(['done', 'error', 'stopped']);

/**
 * Replays every actor that has not ended with the current code, without calls or effects. Run it before a deployment. The idea comes from
 * Temporal's replayer.
 */
export async function checkDeploy(machine: CheckedMachine): Promise<readonly CheckedActor[]> {
  const waiting = (await machine.list()).filter(({ status }) => !ENDED.has(status));
  const current = machine.machine?.version ?? null;
  return checkEach(waiting, async ({ id }) => {
    const { divergence, version = current, migration = null } = await machine.replay(id);
    const problem = divergence === null ? (migration?.problem ?? null) : differenceText(divergence);
    return {
      problem,
      ...(version !== current && { version }),
      ...(migration !== null && current !== null && { migratesTo: current }),
    };
  });
}

/** Returns the actors in the machines' stores that have not ended and belong to none of the machines, with that as their problem. */
export async function uncheckedActors(
  machines: readonly Pick<CheckedMachine, 'list'>[],
  exporter: string,
): Promise<readonly CheckedActor[]> {
  const idOf = ({ machine }: ListedActor): string | null => machine?.id ?? null;
  const own = new Set((await Promise.all(machines.map((each) => each.list()))).flat().map(idOf));
  const all = (await Promise.all(machines.map((each) => each.list({ allMachines: true })))).flat();
  const others = all.filter((actor) => !ENDED.has(actor.status) && idOf(actor) !== null && !own.has(idOf(actor)));
  // Machines may share a store.
  const distinct = new Map(others.map((actor) => [`${idOf(actor)} ${actor.id}`, actor]));
  return [...distinct.values()].map((actor) => {
    const problem = `not checked: machine "${idOf(actor)}" is not exported by ${exporter}`;
    return { id: actor.id, status: actor.status, problem };
  });
}

/** Checks one actor at a time, so that only one journal is in memory. If a check throws, the message is the problem. */
export async function checkEach<Actor extends { readonly id: string; readonly status: string }>(
  actors: readonly Actor[],
  check: (actor: Actor) => Promise<Omit<CheckedActor, 'id' | 'status'>>,
): Promise<readonly CheckedActor[]> {
  const checked: CheckedActor[] = [];
  for (const actor of actors) {
    const { id, status } = actor;
    const result = await check(actor).catch((error: unknown) => ({
      problem: (error as Error | null)?.message ?? String(error),
    }));
    checked.push({ id, status, ...result });
  }
  return checked;
}
