import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { PostChainError } from '../../machines/contracts/error.ts';
import { makeFolder } from '../internal/make-folder.ts';
import type { SqliteSessions } from '../journal/sessions/sqlite-sessions.ts';

/** Where sessions are kept when nobody says where. */
const defaultFile = (): string => join(homedir(), '.postchain', 'sessions.db');

/**
 * The file of a run's session; null for a run without one. It is opened now, so that what is wrong with it is found before anything
 * starts. Throws `session_failed` or `invalid_option`.
 */
export async function openSessions(flags: {
  readonly session?: string;
  readonly sessionFile?: string;
}): Promise<SqliteSessions | null> {
  if (flags.session === undefined) {
    if (flags.sessionFile === undefined) return null;
    throw new PostChainError('invalid_option', '--session-file: got no session; wanted --session ID beside it.');
  }
  const { sqliteSessions } = await import('../journal/sessions/sqlite-sessions.ts');
  const sessions = sqliteSessions(flags.sessionFile ?? prepareFolder(defaultFile()));
  await sessions.open();
  return sessions;
}

/** The folder of the default file is nobody else's to look into. */
function prepareFolder(path: string): string {
  try {
    makeFolder(dirname(path));
  } catch {
    // Opening the file says so.
  }
  return path;
}
