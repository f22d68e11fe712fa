import { existsSync, statSync } from 'node:fs';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStatus, RunSummary } from '../../machines/contracts/journal.ts';
import { commandLine } from '../../machines/text/quoting.ts';
import { isRun, runSummary } from '../chain/journal/run-journal.ts';
import type { DurableMachine } from '../durable/durable-machine.ts';
import type { Attributes } from '../durable/entries.ts';
import { journalFile } from '../durable/journals/file-journals.ts';
import {
  type ActorSummary,
  type JournalStore,
  type ListOptions,
  newestFirst,
  type Queued,
} from '../durable/journals/journal-store.ts';
import { oneLine } from '../internal/printable.ts';
import { durableMachines, type ModuleFlags, modulePaths } from './durable-modules.ts';
import { type JournalFlags, openExistingJournals } from './open-journals.ts';

/** Where to look for runs and actors. */
export interface FindFlags extends JournalFlags, ModuleFlags {}

/** A run, or a durable actor of another machine: `machine` is the id of its machine, `request` its title or, without one, its machine. */
export type ListedRun = Omit<RunSummary, 'status'> & {
  readonly status: RunStatus | ActorSummary['status'];
  readonly machine?: string;
  /** Why it has failed or is quarantined. */
  readonly reason?: string;
  readonly attributes?: Attributes;
  readonly queued?: Queued;
};

type Filter = Pick<ListOptions, 'where'>;

/** Why an actor has failed or is quarantined; null if neither. */
export const reasonText = ({ reason, status }: ActorSummary): string | null =>
  reason !== null && status === 'interrupted' ? `quarantined: ${reason}` : reason;

/** Returns the runs and durable actors that match a filter, newest first. Throws as `openExistingJournals` does. */
export async function listAll(flags: JournalFlags, filter: Filter = {}): Promise<readonly ListedRun[]> {
  return (await openExistingJournals(flags).list(filter)).map(listedRun);
}

export function listedRun(actor: ActorSummary): ListedRun {
  const listed = runSummary(actor);
  const reason = reasonText(actor);
  const why = reason !== null && { reason };
  if (isRun(actor)) return { ...listed, ...why };
  const { events = [], approvals = [], dueAtMs = null } = actor.waiting ?? {};
  const machine = actor.machine?.id ?? '';
  const others = dueAtMs === null ? 'nothing' : 'timer';
  const waitsFor = approvals.length > 0 ? 'approval' : events.join(', ') || others;
  return {
    ...listed,
    request: actor.title || `actor of ${machine}`,
    status: actor.status,
    ...why,
    ...(Object.keys(actor.attributes).length > 0 && { attributes: actor.attributes }),
    ...(actor.queued && { queued: actor.queued }),
    waiting: listed.waiting && { ...listed.waiting, for: waitsFor, questionIds: approvals.map(({ id }) => id) },
    machine,
  };
}

const ACTOR_WORDS: Readonly<Record<string, string>> = { done: 'completed', error: 'failed' };

/** A status in the words of the inspector. */
export const statusWord = (status: string): string => ACTOR_WORDS[status] ?? status;

const isExistingFile = (name: string): boolean => existsSync(name) && statSync(name).isFile();

export const NO_RUNS = 'No recorded runs. Start one with: postchain run "your question"';

export interface FoundRun {
  readonly kind: 'run';
  readonly store: JournalStore;
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the user named a journal file. */
  readonly isFile: boolean;
  /** Whether the journal may come from someone else: it is not in the user's own journal directory. */
  readonly isForeign: boolean;
}

/** A durable actor of another machine than the chain. */
export interface FoundActor {
  readonly kind: 'actor';
  readonly id: string;
  readonly actor: ActorSummary;
  readonly store: JournalStore;
  /** Whether the user named a journal file. */
  readonly isFile: boolean;
  /** The machine that can continue it; null if no module exports it. */
  readonly host: DurableMachine<AnyStateMachine> | null;
}

export type ActorOfModule = FoundActor & { readonly host: DurableMachine<AnyStateMachine> };

const SHORT_ID_CHARS = 8;

/** Returns a function that shortens a run id to the shortest start, of at least eight characters, that no other run has, and leaves ids of actors unchanged. */
export function shortRunIds(runs: readonly ListedRun[]): (runId: string) => string {
  const times = new Map<string, number>();
  for (const { id: runId } of runs)
    for (let chars = SHORT_ID_CHARS; chars <= runId.length; chars += 1) {
      const start = runId.slice(0, chars);
      times.set(start, (times.get(start) ?? 0) + 1);
    }
  const actors = new Set(runs.flatMap(({ id: runId, machine }) => (machine === undefined ? [] : [runId])));
  return (runId) => {
    if (actors.has(runId)) return runId;
    for (let chars = SHORT_ID_CHARS; chars < runId.length; chars += 1)
      if ((times.get(runId.slice(0, chars)) ?? 0) < 2) return runId.slice(0, chars);
    return runId;
  };
}

const MAX_LISTED = 5;

/** Returns the actors of the durable machines of modules that match a filter, newest first. */
export async function hostedActors(flags: ModuleFlags, filter: Filter = {}): Promise<readonly ActorOfModule[]> {
  const hosts = await durableMachines(flags);
  const actorsOf = async (host: ActorOfModule['host']): Promise<readonly ActorOfModule[]> =>
    (await host.list(filter)).map((actor) => ({
      kind: 'actor',
      id: actor.id,
      actor,
      store: host.journals,
      isFile: false,
      host,
    }));
  return (await Promise.all(hosts.map(actorsOf))).flat().sort((one, other) => newestFirst(one.actor, other.actor));
}

/**
 * Finds a run or a durable actor by the path of its journal file, its id or a prefix of its id. Complete ids take precedence over prefixes, and
 * prefixes of run ids over those of actor ids. `last` is the latest run or, with `--module`, the latest actor of its machines. Throws
 * `unknown_journal` if none matches, `invalid_journal` if several do.
 */
export async function find(name: string, flags: FindFlags): Promise<FoundRun | FoundActor> {
  if (isExistingFile(name)) return findFile(name);
  const hosted = await hostedActors(flags);
  const latest = name === 'last' && flags.module !== undefined ? hosted[0] : undefined;
  const known = latest ?? hosted.find(({ id }) => id === name);
  if (known !== undefined) return known;
  const store = openExistingJournals(flags);
  const stored = await store.list();
  const others = stored.flatMap((actor): readonly FoundActor[] =>
    isRun(actor) || hosted.some(({ id }) => id === actor.id) ? [] : [actorIn(store, actor, false)],
  );
  const runs = matching(name, stored.filter(isRun));
  const actors = matching(name, [...hosted, ...others]);
  const [actor] = actors;
  if (actor !== undefined && (runs.length === 0 || actor.id === name)) {
    requireOne(name, actors, 'actors');
    return actor;
  }
  const { id, status } = requireRun(name, runs.map(runSummary));
  return { kind: 'run', store, runId: id, status, isFile: false, isForeign: flags.journals !== undefined };
}

const actorIn = (store: JournalStore, actor: ActorSummary, isFile: boolean): FoundActor => ({
  kind: 'actor',
  id: actor.id,
  actor,
  store,
  isFile,
  host: null,
});

async function findFile(path: string): Promise<FoundRun | FoundActor> {
  const store = journalFile(path);
  const [actor] = await store.list();
  if (actor !== undefined && !isRun(actor)) return actorIn(store, actor, true);
  const status = actor ? runSummary(actor).status : 'damaged';
  return { kind: 'run', store, runId: path, status, isFile: true, isForeign: true };
}

/** Finds a run, or an actor with its machine. Throws `invalid_journal` for an actor whose machine no module exports. */
export async function findContinuable(name: string, flags: FindFlags): Promise<FoundRun | ActorOfModule> {
  const found = await find(name, flags);
  if (found.kind === 'run') return found;
  const { id, host, actor } = found;
  if (host !== null) return { ...found, host };
  throw new PostChainError(
    'invalid_journal',
    `${JSON.stringify(id)} is a durable actor of ${actor.machine?.id}, not a run; "${commandLine('postchain show', id)}" prints it. To replay, resume or fork it, pass --module FILE, the module that exports its durable machine`,
  );
}

/** Finds a run. No module is loaded. */
export async function findRun(name: string, flags: FindFlags): Promise<FoundRun> {
  const found = await findContinuable(name, { ...flags, module: [] });
  // Without a module, an actor has no machine.
  return found as FoundRun;
}

/** Finds an actor with its machine, by id, prefix or `last`. Throws `invalid_option` without modules, `invalid_journal` unless exactly one matches. */
export async function requireHosted(name: string, flags: ModuleFlags): Promise<ActorOfModule> {
  const actors = matching(name, await hostedActors(flags));
  requireOne(name, actors, 'actors');
  const [actor] = actors;
  if (actor !== undefined) return actor;
  const paths = modulePaths(flags);
  throw paths.length === 0
    ? new PostChainError(
        'invalid_option',
        `Actor ${JSON.stringify(name)} needs its machine; pass --module FILE, a module that exports the result of createDurableMachine, or export it from postchain.config.mjs`,
      )
    : new PostChainError(
        'invalid_journal',
        `Actor ${JSON.stringify(name)} not found in the stores of ${paths.join(', ')}; "postchain runs --journals PLACE" lists the ids`,
      );
}

/** Returns the listed run with this id, prefix of an id, or `last`. Throws `unknown_journal` if none matches, `invalid_journal` if several do. */
export function requireRun<Run extends ListedRun>(name: string, runs: readonly Run[]): Run {
  if (name === 'last' && runs.length === 0) throw new PostChainError('unknown_journal', NO_RUNS);
  const matches = matching(name, runs);
  requireOne(name, matches, 'runs');
  const [run] = matches;
  if (run !== undefined) return run;
  throw new PostChainError(
    'unknown_journal',
    `Run ${JSON.stringify(name)} not found; expected ${RUN_NAMES}. "postchain runs" lists the ids`,
  );
}

/** Returns the newest one for `last`, the one with this id, or all whose ids start with it. The newest is first. */
function matching<Listed extends { readonly id: string }>(name: string, listed: readonly Listed[]): readonly Listed[] {
  if (name === 'last') return listed.slice(0, 1);
  const exact = listed.find(({ id }) => id === name);
  return exact === undefined ? listed.filter(({ id }) => id.startsWith(name)) : [exact];
}

function requireOne(name: string, matches: readonly { readonly id: string }[], noun: 'runs' | 'actors'): void {
  if (matches.length < 2) return;
  const listed = matches.slice(0, MAX_LISTED).map(({ id }) => oneLine(id));
  throw new PostChainError(
    'invalid_journal',
    `${JSON.stringify(name)} matches ${matches.length} ${noun} (${listed.join(', ')}); use a longer prefix`,
  );
}

const RUN_NAMES = 'an id, a prefix of an id, "last", or a journal file';
