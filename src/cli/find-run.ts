import { existsSync, statSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStatus, RunSummary } from '../../machines/contracts/journal.ts';
import { commandLine } from '../../machines/text/quoting.ts';
import { isRun, runSummary } from '../chain/journal/run-journal.ts';
import { fileJournals, journalFile } from '../durable/journals/file-journals.ts';
import type { ActorSummary, JournalStore, Journals } from '../durable/journals/journal-store.ts';
import { postgresJournals } from '../durable/journals/postgres-journals.ts';
import { sqliteJournals } from '../durable/journals/sqlite-journals.ts';
import { homePath } from './home.ts';

export interface JournalFlags {
  /** A directory, an SQLite file or the URL of a PostgreSQL database. */
  readonly journals?: string;
}

const SQLITE_FILE = /\.(?:db|sqlite3?)$/iu;
const POSTGRES_URL = /^postgres(?:ql)?:/iu;
const OTHER_URL = /^[a-z][a-z\d+.-]+:\/\//iu;

const defaultPlace = (): string => process.env['POSTCHAIN_JOURNALS'] || homePath('journals');

export function openJournals({ journals = defaultPlace() }: JournalFlags): Journals {
  if (POSTGRES_URL.test(journals)) return postgresJournals(journals);
  if (OTHER_URL.test(journals))
    throw new PostChainError(
      'invalid_option',
      `Cannot open the journals ${JSON.stringify(journals)}; expected a directory, an SQLite file (.db) or a postgres:// URL`,
    );
  return SQLITE_FILE.test(journals) ? sqliteJournals(journals) : fileJournals(journals);
}

/** A run, or a durable actor of another machine: `machine` is the id of its machine, `request` its title or, without one, its machine. */
export type ListedRun = Omit<RunSummary, 'status'> & {
  readonly status: RunStatus | ActorSummary['status'];
  readonly machine?: string;
};

/** Returns all runs and durable actors, newest first. Throws as `openExistingJournals` does. */
export async function listAll(flags: JournalFlags): Promise<readonly ListedRun[]> {
  return (await openExistingJournals(flags).list()).map(listedRun);
}

export function listedRun(actor: ActorSummary): ListedRun {
  const listed = runSummary(actor);
  if (isRun(actor)) return listed;
  const { events = [], approvals = [], dueAtMs = null } = actor.waiting ?? {};
  const machine = actor.machine?.id ?? '';
  const others = dueAtMs === null ? 'nothing' : 'timer';
  const waitsFor = approvals.length > 0 ? 'approval' : events.join(', ') || others;
  return {
    ...listed,
    request: actor.title || `actor of ${machine}`,
    status: actor.status,
    waiting: listed.waiting && { ...listed.waiting, for: waitsFor },
    machine,
  };
}

export const isExistingFile = (name: string): boolean => existsSync(name) && statSync(name).isFile();

/** Finds a durable actor that is not a run: by journal file or id or, if no run matches, by the start of an id or `last`. */
export async function findActor(name: string, flags: JournalFlags) {
  const isFile = isExistingFile(name);
  const store = isFile ? journalFile(name) : openJournals(flags);
  const all = await store.list();
  const actors = all.filter((actor) => !isRun(actor));
  const matches = matchingIds(name, idsOf(all.filter(isRun))).length > 0 ? [] : matchingIds(name, idsOf(actors));
  const exact = actors.find(({ id }) => isFile || id === name);
  if (exact === undefined) requireOne(name, matches, 'actors');
  const actor = exact ?? actors.find(({ id }) => id === matches[0]);
  return actor && { actor, entries: store.read(actor.id) };
}

/** Throws `invalid_path` if the place that the user chose does not exist: it has no runs, but more likely its name is wrong. */
export function openExistingJournals(flags: JournalFlags): JournalStore {
  const store = openJournals(flags);
  const { journals } = flags;
  if (journals === undefined || POSTGRES_URL.test(journals) || existsSync(journals)) return store;
  throw new PostChainError('invalid_path', `The journals ${JSON.stringify(journals)} do not exist; check --journals`);
}

export const NO_RUNS = 'No recorded runs. Start one with: postchain run "your question"';

export interface FoundRun {
  readonly store: JournalStore;
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the user named a journal file. */
  readonly isFile: boolean;
  /** Whether the journal may come from someone else: it is not in the user's own journal directory. */
  readonly isForeign: boolean;
}

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

/** Finds a run by journal file, id, prefix of an id, or `last`. Throws as `requireRun` does. */
export async function findRun(name: string, flags: JournalFlags): Promise<FoundRun> {
  if (isExistingFile(name)) {
    const store = journalFile(name);
    const [run] = await store.list();
    return { store, runId: name, status: run ? runSummary(run).status : 'damaged', isFile: true, isForeign: true };
  }
  const store = openExistingJournals(flags);
  const runs = (await store.list()).filter(isRun).map(runSummary);
  await requireNoActor(name, runs, flags);
  const run = requireRun(name, runs);
  return { store, runId: run.id, status: run.status, isFile: false, isForeign: flags.journals !== undefined };
}

/** Throws `invalid_journal` if the name is that of an actor, not of a run: the error says more than "not found". */
async function requireNoActor(name: string, runs: readonly RunSummary[], flags: JournalFlags): Promise<void> {
  const found = matchingIds(name, idsOf(runs)).length === 0 && (await findActor(name, flags));
  if (!found) return;
  const { id, machine } = found.actor;
  throw new PostChainError(
    'invalid_journal',
    `${JSON.stringify(id)} is a durable actor of ${machine?.id}, not a run; "${commandLine('postchain show', id)}" prints it. To replay, resume or fork it, pass --module FILE, the module that exports its durable machine`,
  );
}

/** Returns the listed run with this id, prefix of an id, or `last`. Throws `unknown_journal` if none matches, `invalid_journal` if several do. */
export function requireRun<Run extends ListedRun>(name: string, runs: readonly Run[]): Run {
  if (name === 'last' && runs.length === 0) throw new PostChainError('unknown_journal', NO_RUNS);
  const ids = matchingIds(name, idsOf(runs));
  const run = runs.find(({ id: runId }) => runId === ids[0]);
  if (run === undefined)
    throw new PostChainError(
      'unknown_journal',
      `Run ${JSON.stringify(name)} not found; expected ${RUN_NAMES}. "postchain runs" lists the ids`,
    );
  requireOne(name, ids, 'runs');
  return run;
}

const idsOf = (listed: readonly { readonly id: string }[]): readonly string[] => listed.map(({ id }) => id);

/** Returns the newest id for `last`, the id with this name, or all that start with it. The newest is first. */
function matchingIds(name: string, ids: readonly string[]): readonly string[] {
  if (name === 'last') return ids.slice(0, 1);
  return ids.includes(name) ? [name] : ids.filter((id) => id.startsWith(name));
}

function requireOne(name: string, ids: readonly string[], noun: 'runs' | 'actors'): void {
  if (ids.length < 2) return;
  const listed = ids.slice(0, MAX_LISTED).join(', ');
  throw new PostChainError(
    'invalid_journal',
    `${JSON.stringify(name)} matches ${ids.length} ${noun} (${listed}); use a longer prefix`,
  );
}

const RUN_NAMES = 'an id, a prefix of an id, "last", or a journal file';
