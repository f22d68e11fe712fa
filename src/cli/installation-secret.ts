import { randomBytes } from 'node:crypto';
import { constants, copyFileSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../internal/make-directory.ts';
import { homePath } from './home.ts';

const SECRET_BYTES = 32;

/** Reads a secret of this installation. Rejects one that others can read or replace, because it proves nothing. */
export function readSecret(name: string): { readonly secret: Buffer | null; readonly problem: string | null } {
  const path = homePath(name);
  try {
    const { mode, uid } = statSync(path);
    const isPrivate = process.platform === 'win32' || ((mode & 0o077) === 0 && uid === process.getuid?.());
    if (!isPrivate) return { secret: null, problem: `${path} is not private to you; remove it to create a new key` };
    const secret = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url');
    return secret.length === SECRET_BYTES
      ? { secret, problem: null }
      : { secret: null, problem: `${path} is damaged; remove it to create a new key` };
  } catch {
    return { secret: null, problem: null };
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its directory does not exist.
  }
}

/** Moves a complete file to its path, unless that exists. */
function publish(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch {
    // Not every file system has hard links.
    copyFileSync(temporary, path, constants.COPYFILE_EXCL);
  }
}

/** Creates a secret atomically; of several processes, the first one wins. Returns null if it cannot be stored. */
export function createSecret(name: string): Buffer | null {
  const path = homePath(name);
  const temporary = `${path}.${process.pid}`;
  try {
    makeDirectory(dirname(path));
    writeFileSync(temporary, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600 });
    publish(temporary, path);
  } catch {
    // Another process was faster, or the directory cannot be written.
  }
  remove(temporary);
  return readSecret(name).secret;
}
