import type Database from 'libsql';

/** A connection to a file of sessions. */
export type SessionFile = InstanceType<typeof Database>;

/** Marks a database as a file of sessions: "PCse" in ASCII. */
const APPLICATION_ID = 0x50437365;
const SCHEMA_VERSION = 1;

/** How long the library itself waits for another process, in milliseconds; it blocks this one for so long. */
const BUSY_MS = 50;

/** Session ids and turns are JSON text: SQLite would cut a plain one at a zero character. */
const SCHEMA = `
  CREATE TABLE turn (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    turn TEXT NOT NULL,
    UNIQUE (session, run)
  ) STRICT;
  CREATE INDEX turn_by_session ON turn (session, id);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens a file of sessions; makes one, for nobody but its owner to read, where there is none. Throws where the file is something else,
 * and does not change it then. The path is absolute: the library would take others for addresses of servers.
 */
export async function openSessionFile(path: string): Promise<SessionFile> {
  const Sqlite = await load();
  const { closeSync, openSync } = await import('node:fs');
  closeSync(openSync(path, 'a', 0o600));
  const file = new Sqlite(path, { timeout: BUSY_MS });
  try {
    if (!isPrepared(file)) file.transaction(() => prepare(file)).immediate();
    file.pragma('journal_mode = WAL');
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

async function load() {
  try {
    return (await import('libsql')).default;
  } catch (cause) {
    throw new Error('the package libsql is missing: npm install libsql', { cause });
  }
}

/** Whether the schema is there, as this version has it. */
function isPrepared(file: SessionFile): boolean {
  const application = numberOf(file, 'PRAGMA application_id');
  return application === APPLICATION_ID && numberOf(file, 'PRAGMA user_version') === SCHEMA_VERSION;
}

/**
 * Makes the schema in a new file. Throws where the file is something else. Within a transaction: of two processes that begin at once, the
 * second finds what the first made, and neither sees half of it.
 */
function prepare(file: SessionFile): void {
  if (isPrepared(file)) return;
  const application = numberOf(file, 'PRAGMA application_id');
  const version = numberOf(file, 'PRAGMA user_version');
  if (application === APPLICATION_ID)
    throw new Error(`it is of version ${version}, and this PostChain reads version ${SCHEMA_VERSION}`);
  const isNew = application === 0 && version === 0 && numberOf(file, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (!isNew) throw new Error('it is the database of another program');
  file.exec(SCHEMA);
}

/** The one number that a statement gives. */
function numberOf(file: SessionFile, sql: string): number {
  const [row] = file.prepare(sql).raw().all([]) as [number][];
  return row?.[0] ?? 0;
}
