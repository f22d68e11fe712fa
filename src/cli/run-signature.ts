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

/** `signed`: this installation started the run. Otherwise, the reason why that is not known, as a phrase after "because". */
export type SignatureCheck = { readonly isSigned: true } | { readonly isSigned: false; readonly reason: string };

const KEY_BYTES = 32;

const keyPath = (): string => homePath('signing.key');

/**
 * Returns the signature of a run's start, or null if this user's key cannot be stored. It is an HMAC-SHA-256, so only someone who can read
 * the key can make one, and it fits no other run id, session or flags. The key is created on first use.
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

/** Returns the same text for equal JSON values, whatever the order of their members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) =>
    typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      ? Object.fromEntries(Object.entries(inside).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inside,
  );
}

/** A key that others can read or replace proves nothing. */
function readKey(): { readonly key: Buffer | null; readonly problem: string | null } {
  try {
    const { mode, uid } = statSync(keyPath());
    const isPrivate = process.platform === 'win32' || ((mode & 0o077) === 0 && uid === process.getuid?.());
    if (!isPrivate) return { key: null, problem: `${keyPath()} is not readable by only you; remove it` };
    const key = Buffer.from(readFileSync(keyPath(), 'utf8').trim(), 'base64url');
    return key.length === KEY_BYTES
      ? { key, problem: null }
      : { key: null, problem: `${keyPath()} is damaged; remove it` };
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

/** Gives a complete file its name, unless the name is taken. */
function publish(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch {
    // Not every file system has hard links.
    copyFileSync(temporary, path, constants.COPYFILE_EXCL);
  }
}

/** The key appears complete or not at all, and the first of several processes wins. */
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
