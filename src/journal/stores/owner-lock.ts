import { alive, thisProcess } from './owner.ts';

/** Taken when it is needed: the rest of PostChain runs where there is none, in a browser say. */
const fs = () => process.getBuiltinModule('node:fs');
const threads = () => process.getBuiltinModule('node:worker_threads');

/**
 * Marks a journal as written by this process, by a file beside it. Gives who has it, null where it is ours now. The file appears with its
 * owner in it, and one whose owner is gone is moved away before it is taken: of two that come at once, one has it.
 */
export function takeLock(path: string): number | null {
  const own = `${path}.${process.pid}.${threads().threadId}`;
  for (;;) {
    if (appears(path, own)) return null;
    const owner = ownerOf(path) ?? takenAway(path, own);
    if (owner !== null) return owner;
  }
}

/** Nothing where it is another's. */
export function releaseLock(path: string): void {
  if (textIn(path) === thisProcess()) fs().rmSync(path, { force: true });
}

/** The process that has it; null where none does, or it is gone. */
export const ownerOf = (path: string): number | null => alive(textIn(path));

function appears(path: string, own: string): boolean {
  try {
    fs().writeFileSync(own, thisProcess(), { mode: 0o600 });
    fs().linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    return appearsAlone(path);
  } finally {
    fs().rmSync(own, { force: true });
  }
}

/** Where the file system has no links. */
function appearsAlone(path: string): boolean {
  try {
    fs().writeFileSync(path, thisProcess(), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Takes a lock away whose owner is gone. One that somebody took meanwhile is given back: gives who has it. */
function takenAway(path: string, own: string): number | null {
  const aside = `${own}.aside`;
  try {
    fs().renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
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

function textIn(path: string): string {
  try {
    return fs().readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
