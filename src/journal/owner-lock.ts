/** Loaded on use, because the rest of PostChain also runs in browsers, which have no file system. */
const fs = () => process.getBuiltinModule('node:fs');
const threads = () => process.getBuiltinModule('node:worker_threads');

/**
 * Takes a lock file for this process. Returns null if it is ours now, or the id of the process that holds it. The file appears with its
 * owner already in it, and a lock whose owner is gone is renamed before it is replaced, so only one of several contenders wins.
 */
export function takeLock(path: string): number | null {
  const temporary = `${path}.${process.pid}.${threads().threadId}`;
  for (;;) {
    if (createLock(path, temporary)) return null;
    const owner = ownerOf(path) ?? removeStaleLock(path, temporary);
    if (owner !== null) return owner;
  }
}

/** Removes a lock file if this process holds it. */
export function releaseLock(path: string): void {
  if (readText(path) === thisProcess()) fs().rmSync(path, { force: true });
}

/** Returns the process that holds a lock; null if none does, or it is gone. */
export const ownerOf = (path: string): number | null => aliveOwner(readText(path));

/** Identifies this process as an owner: its id and, on Linux, its start time in kernel ticks, because ids are reused. */
export const thisProcess = (): string => `${process.pid} ${processStat(process.pid).startedAt}`.trim();

/** Returns the id of an owner that still runs; null if it is gone, or another process has its id. */
export function aliveOwner(owner: string): number | null {
  const [id = '', startedAt = ''] = owner.split(' ');
  const pid = Number(id);
  if (!Number.isSafeInteger(pid) || pid < 1 || !processExists(pid)) return null;
  const now = processStat(pid);
  if (now.isDead) return null;
  return startedAt === '' || now.startedAt === '' || now.startedAt === startedAt ? pid : null;
}

/** Creates the lock file by a hard link, which fails if it exists. */
function createLock(path: string, temporary: string): boolean {
  try {
    fs().writeFileSync(temporary, thisProcess(), { mode: 0o600 });
    fs().linkSync(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    return createWithoutLink(path);
  } finally {
    fs().rmSync(temporary, { force: true });
  }
}

/** Creates the lock file on a file system without hard links. */
function createWithoutLink(path: string): boolean {
  try {
    fs().writeFileSync(path, thisProcess(), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a lock whose owner is gone. If another process took it meanwhile, restores it and returns that process. */
function removeStaleLock(path: string, temporary: string): number | null {
  const aside = `${temporary}.aside`;
  try {
    fs().renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  const owner = ownerOf(aside);
  try {
    if (owner !== null) fs().linkSync(aside, path);
  } finally {
    fs().rmSync(aside, { force: true });
  }
  return owner;
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

/** Reads a process's start time and whether it is a zombie. Both are unknown on systems without `/proc`. */
function processStat(pid: number): { readonly startedAt: string; readonly isDead: boolean } {
  try {
    const text = fs().readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { startedAt: fields[19] ?? '', isDead: /^[ZX]/iu.test(fields[0] ?? '') };
  } catch {
    return { startedAt: '', isDead: false };
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

function readText(path: string): string {
  try {
    return fs().readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
