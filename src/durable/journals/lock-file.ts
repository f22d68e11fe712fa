import { parseJson } from '../../internal/json-text.ts';
import type { OpenJournalOptions } from './journal-store.ts';
import {
  fencedError,
  heartbeat,
  isSameLease,
  type Lease,
  leaseState,
  newToken,
  parseHolder,
  takeOver,
  takeUnused,
  thisHolder,
} from './lease.ts';
import { fs } from './line-file.ts';

/** The lease of a journal file, held by this process. */
export interface HeldLock {
  /** Throws if the lock is no longer held. Call it before every write. */
  check(): void;
  release(): void;
}

/**
 * Keeps an earlier holder, which may still be running, from writing to the journal. `check` throws if the lock has been taken over
 * meanwhile. If the fence throws, the earlier holder keeps the lock.
 */
type Fence = (check: () => void) => void;

/** Takes a lock file as `takeUnused` does. All functions of this file also throw the errors of the file system. */
export const takeLock = (path: string, subject: string, fence: Fence): HeldLock =>
  takeUnused(subject, lockPlace(path, subject, fence));

/** Takes a lock file. Waits and rejects as `takeOver` does. */
export const takeOverLock = (path: string, subject: string, how: OpenJournalOptions, fence: Fence): Promise<HeldLock> =>
  takeOver(subject, how, lockPlace(path, subject, fence));

const lockPlace = (path: string, subject: string, fence: Fence) => ({
  read: () => readLock(path),
  replace: (previous: Lease | null) => replaceLock(path, subject, previous, fence),
});

/** Returns the lease in a lock file; null if there is none. */
export const readLock = (path: string): Lease | null => chainOf(path).at(-1)?.lease ?? null;

interface LockLink {
  readonly path: string;
  readonly lease: Lease;
}

/**
 * Returns the lease in a lock file and its successors, the current one last. To replace a lease, a contender creates a file named after
 * it, which only one of several can do, and renames that file over the lock file. A contender that dies in between leaves both.
 */
function chainOf(path: string): readonly LockLink[] {
  const chain: LockLink[] = [];
  for (;;) {
    const at = nextPath(path, chain);
    const lease = readLease(at);
    if (lease === null) return chain;
    if (chain.length === MAX_LINKS) throw new Error(`more than ${MAX_LINKS} files follow the lock file ${path}`);
    chain.push({ path: at, lease });
  }
}

/** Each is left by a process that died while it took over the lock. The next one that succeeds removes them. */
const MAX_LINKS = 1_000;

/** Returns the path of the lease that would follow a chain. */
function nextPath(path: string, chain: readonly LockLink[]): string {
  const last = chain.at(-1);
  if (last === undefined) return path;
  // Its own name is taken by a process that died while it released the lease, or by a file that cannot be read.
  if (chain.slice(0, -1).some(({ lease }) => isSameLease(lease, last.lease))) return `${last.path}.next`;
  return `${path}.${last.lease.holder?.id ?? 'unreadable'}.${last.lease.token}`;
}

/** Replaces a lease with one of this process. Returns null if another process was faster. */
function replaceLock(path: string, subject: string, previous: Lease | null, fence: Fence): HeldLock | null {
  // If another process has held the lock meanwhile, this one must not mistake its earlier lease for the new one.
  const token = newToken();
  const own: Lease = { holder: thisHolder(), token, beatMs: 0 };
  const check = (): void => {
    const current = readLock(path);
    if (!isSameLease(current, own)) throw fencedError(subject, current);
  };
  return claim(path, previous, token, () => fence(check)) ? heldLock(path, own, check) : null;
}

/** Makes this process the holder, with the given token. */
function claim(path: string, previous: Lease | null, token: number, fence: () => void): boolean {
  const text = JSON.stringify({ ...thisHolder(), token });
  const before = chainOf(path);
  if (!isSameLease(before.at(-1)?.lease ?? null, previous)) return false;
  const successor = nextPath(path, before);
  if (!createFile(successor, text)) return false;
  if (successor === path) return true;
  const chain = chainOf(path);
  // Since it was read, the lease was replaced and its successor renamed.
  if (chain.at(-1)?.path !== successor) {
    fs().rmSync(successor, { force: true });
    return false;
  }
  try {
    // The earlier leases stay until then: if this process fails or dies, the next one fences their holders.
    if (chain.slice(0, -1).some(({ lease }) => leaseState(lease) !== 'free')) fence();
  } catch (error) {
    fs().rmSync(successor, { force: true });
    throw error;
  }
  try {
    fs().renameSync(successor, path);
  } catch (error) {
    // A process that took over while this one was paused has removed the file.
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  // A process that is paused before it renames its file must not find it again.
  for (const passed of chain.slice(1, -1)) fs().rmSync(passed.path, { force: true });
  removeRemains(path);
  return true;
}

const REMAINS = /^(?:\.[\w-]+)+\.(?:copy|new|next|\d+)$/u;

/** Removes what killed processes have left beside the lock file of this process. What cannot be removed stays: the lock is taken. */
function removeRemains(path: string): void {
  const { basename, dirname, join } = process.getBuiltinModule('node:path');
  try {
    for (const name of fs().readdirSync(dirname(path))) {
      if (!name.startsWith(basename(path)) || !REMAINS.test(name.slice(basename(path).length))) continue;
      const remains = join(dirname(path), name);
      // Only the holder copies the journal. A contender that is still running removes its own files.
      if (name.endsWith('.copy') || leaseState(readLease(remains)) === 'free') fs().rmSync(remains, { force: true });
    }
  } catch {}
}

function heldLock(path: string, own: Lease, check: () => void): HeldLock {
  const beats = heartbeat(() => {
    try {
      check();
      const now = new Date();
      fs().utimesSync(path, now, now);
    } catch {
      // The next write reports a lost lock.
    }
  });
  return {
    check() {
      check();
      beats.ifLate();
    },
    release() {
      beats.end();
      try {
        if (isSameLease(readLock(path), own)) removeLock(path, own);
      } catch {
        // The lease ends with this process.
      }
    },
  };
}

/**
 * Removes a lock that this process holds. Claims it first, as a takeover does, so as not to remove the lock of a process that is taking it
 * over. The claim is a hard link to the lock itself, so it also works on a full disk.
 */
function removeLock(path: string, own: Lease): void {
  const successor = nextPath(path, [{ path, lease: own }]);
  const isClaimed = linkFile(path, successor);
  if (isClaimed === false) return;
  // This process may have been paused since.
  if (isSameLease(readLease(path), own)) fs().rmSync(path, { force: true });
  if (isClaimed) fs().rmSync(successor, { force: true });
}

/** Creates a file atomically with its text, using a hard link to a temporary one. Returns false if it exists. */
export function createFile(path: string, text: string, temporary = `${path}.${thisHolder().id}.new`): boolean {
  try {
    fs().writeFileSync(temporary, text, { mode: 0o600 });
    return linkFile(temporary, path) ?? createWithoutLink(path, text);
  } finally {
    fs().rmSync(temporary, { force: true });
  }
}

/** Returns whether the link was created; null if that is not possible, for example without hard links. */
function linkFile(from: string, to: string): boolean | null {
  try {
    fs().linkSync(from, to);
    return true;
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? false : null;
  }
}

/** Creates a file on a file system without hard links. */
function createWithoutLink(path: string, text: string): boolean {
  try {
    fs().writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    fs().rmSync(path, { force: true });
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * Returns the lease in a file: null if the file does not exist, a lease without a holder if its content is invalid. Throws if the file
 * cannot be read. The file's modification time is the last heartbeat.
 */
function readLease(path: string): Lease | null {
  // Opening the file first makes a network file system return its current modification time.
  const file = openIfThere(path);
  if (file === null) return null;
  try {
    const value = Object(parseJson(fs().readFileSync(file, 'utf8'))) as { readonly token?: unknown };
    const token = Number.isSafeInteger(value.token) ? Number(value.token) : 0;
    return { holder: parseHolder(value), token, beatMs: fs().fstatSync(file).mtimeMs };
  } finally {
    fs().closeSync(file);
  }
}

function openIfThere(path: string): number | null {
  try {
    // Each write looks for a successor, and rarely finds one. Throwing an error would take as long as the rest of the write.
    return fs().statSync(path, { throwIfNoEntry: false }) === undefined ? null : fs().openSync(path, 'r');
  } catch (error) {
    if (NO_FILE.has(codeOf(error))) return null;
    throw error;
  }
}

/** Error codes for a file that does not exist. Earlier versions allowed longer journal names, so a successor's name may be too long. */
const NO_FILE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);
