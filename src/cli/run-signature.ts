import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { constants, copyFileSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../internal/make-directory.ts';
import { homePath } from './home.ts';

/** What the CLI opens, starts or connects to when it continues a run, as the journal records it. */
export interface SignedStart {
  readonly runId: string;
  readonly sessionId: string | null;
  /** JSON. */
  readonly flags: unknown;
}

/** Whether this installation started the run. If not, `reason` completes "because …". */
export type SignatureCheck = { readonly isSigned: true } | { readonly isSigned: false; readonly reason: string };

const KEY_BYTES = 32;

const keyPath = (): string => homePath('signing.key');

/**
 * Returns the signature of a run's start: an HMAC-SHA-256 of its id, session and flags with this user's key, which is created on first use.
 * Returns null if the key cannot be stored.
 */
export function signRun(start: SignedStart): string | null {
  const { key } = readKey();
  const used = key ?? createKey();
  return used && hmacOf(start, used);
}

/** Returns whether this installation signed the start of a run. */
export function checkSignature(start: SignedStart, signature: unknown): SignatureCheck {
  const { key, problem } = readKey();
  if (problem !== null) return { isSigned: false, reason: problem };
  if (typeof signature !== 'string')
    return { isSigned: false, reason: 'it was started by an older version or by someone else' };
  const isSame = key !== null && isEqual(signature, hmacOf(start, key));
  return isSame
    ? { isSigned: true }
    : { isSigned: false, reason: 'it was started by another installation, or was changed by someone else' };
}

const hmacOf = ({ runId, sessionId, flags }: SignedStart, key: Buffer): string =>
  createHmac('sha256', key)
    .update(canonicalJson(['postchain run 1', runId, sessionId, flags]))
    .digest('base64url');

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Serializes a JSON value with sorted keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) =>
    typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      ? Object.fromEntries(Object.entries(inside).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inside,
  );
}

/** Reads the signing key. Rejects one that others can read or replace, because it proves nothing. */
function readKey(): { readonly key: Buffer | null; readonly problem: string | null } {
  try {
    const { mode, uid } = statSync(keyPath());
    const isPrivate = process.platform === 'win32' || ((mode & 0o077) === 0 && uid === process.getuid?.());
    if (!isPrivate) return { key: null, problem: `${keyPath()} is not private to you; remove it to create a new key` };
    const key = Buffer.from(readFileSync(keyPath(), 'utf8').trim(), 'base64url');
    return key.length === KEY_BYTES
      ? { key, problem: null }
      : { key: null, problem: `${keyPath()} is damaged; remove it to create a new key` };
  } catch {
    return { key: null, problem: null };
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

/** Creates the key atomically; of several processes, the first one wins. Returns null if it cannot be stored. */
function createKey(): Buffer | null {
  const temporary = `${keyPath()}.${process.pid}`;
  try {
    makeDirectory(dirname(keyPath()));
    writeFileSync(temporary, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, { mode: 0o600 });
    publish(temporary, keyPath());
  } catch {
    // Another process was faster, or the directory cannot be written.
  }
  remove(temporary);
  return readKey().key;
}
