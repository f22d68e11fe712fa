import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns a path in this user's directory (journals, sessions, document cache, inspector token): `POSTCHAIN_HOME`, or `~/.postchain`. */
export const homePath = (name: string): string =>
  join(process.env['POSTCHAIN_HOME'] || join(homedir(), '.postchain'), name);
