import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalStore, RunSummary } from '../../machines/contracts/journal.ts';
import { fileJournals, journalFile } from '../journal/file-journals.ts';
import { sqliteJournals } from '../journal/sqlite-journals.ts';

export interface JournalFlags {
  /** A folder, or an SQLite file. */
  readonly journals?: string;
}

const SQLITE = /\.(?:db|sqlite3?)$/iu;

/** Where journals are kept when nobody says where: `POSTCHAIN_JOURNALS`, or a folder of the user's. */
const defaultPlace = (): string => process.env['POSTCHAIN_JOURNALS'] || join(homedir(), '.postchain', 'journals');

export function openJournals({ journals = defaultPlace() }: JournalFlags): JournalStore {
  return SQLITE.test(journals) ? sqliteJournals(journals) : fileJournals(journals);
}

/**
 * Where a new run is kept. A place that nobody asked for (a home that cannot be written, say) is no reason not to run: the run then says
 * that it is not kept.
 */
export function journalsForRun(flags: JournalFlags): JournalStore {
  const store = openJournals(flags);
  if (flags.journals !== undefined || process.env['POSTCHAIN_JOURNALS']) return store;
  return {
    ...store,
    create(runId) {
      try {
        return store.create(runId);
      } catch (error) {
        return { failure: error instanceof Error ? error.message : String(error), write: () => {}, close: () => {} };
      }
    },
  };
}

export const NO_RUNS = 'There are no runs yet: postchain run "a question" makes one.';

export interface FoundRun {
  readonly store: JournalStore;
  readonly runId: string;
  /** Whether it was named by a file: then anybody may have written it. */
  readonly isFile: boolean;
}

/**
 * A run by what people call it: a journal file, an id or the beginning of one, or `last`. Throws `invalid_journal` where there is none, or
 * more than one.
 */
export async function findRun(name: string, flags: JournalFlags): Promise<FoundRun> {
  if (existsSync(name) && statSync(name).isFile()) return { store: journalFile(name), runId: name, isFile: true };
  const store = openJournals(flags);
  const runs = await store.list();
  const found = name === 'last' ? runs.slice(0, 1) : matching(runs, name);
  const [run] = found;
  if (run !== undefined && found.length === 1) return { store, runId: run.runId, isFile: false };
  if (name === 'last') throw new PostChainError('invalid_journal', NO_RUNS);
  throw new PostChainError(
    'invalid_journal',
    run === undefined
      ? `There is no run ${JSON.stringify(name)}: wanted a journal file, an id of "postchain runs", or "last".`
      : `${JSON.stringify(name)} is the beginning of ${found.length} ids: ${found
          .map(({ runId }) => runId)
          .slice(0, 5)
          .join(', ')}.`,
  );
}

function matching(runs: readonly RunSummary[], name: string): readonly RunSummary[] {
  const whole = runs.filter(({ runId }) => runId === name);
  return whole.length > 0 ? whole : runs.filter(({ runId }) => runId.startsWith(name));
}
