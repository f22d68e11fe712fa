import { openSqliteFile, type SqliteFile } from '../sqlite-file.ts';

/** A connection to a file of sessions. */
export type SessionFile = SqliteFile;

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
`;

/** Opens a file of sessions, marked with "PCse" in ASCII; others may use it at the same time. Throws where the file is something else. */
export function openSessionFile(path: string): SessionFile {
  return openSqliteFile(path, {
    applicationId: 0x50437365,
    version: 1,
    schema: SCHEMA,
    busyMs: 50,
    synchronous: 'FULL',
  });
}
