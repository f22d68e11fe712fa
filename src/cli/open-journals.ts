import { existsSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import { fileJournals } from '../durable/journals/file-journals.ts';
import type { JournalStore, Journals } from '../durable/journals/journal-store.ts';
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

/** Throws `invalid_path` if the place that the user chose does not exist: it has no runs, but more likely its name is wrong. */
export function openExistingJournals(flags: JournalFlags): JournalStore {
  const store = openJournals(flags);
  const { journals } = flags;
  if (journals === undefined || POSTGRES_URL.test(journals) || existsSync(journals)) return store;
  throw new PostChainError('invalid_path', `The journals ${JSON.stringify(journals)} do not exist; check --journals`);
}
