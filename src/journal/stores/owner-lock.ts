/** Taken when it is needed: the rest of PostChain runs where there is none, in a browser say. */
const fs = () => process.getBuiltinModule('node:fs');

/** Marks a journal as written by this process, by a file beside it. Gives who has it, null where it is ours now. */
export function takeLock(path: string): number | null {
  for (;;) {
    try {
      fs().writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = ownerOf(path);
    if (owner !== null) return owner;
    // Whoever made it is gone.
    fs().rmSync(path, { force: true });
  }
}

/** The process that has it; null where none does, or it is gone. */
export function ownerOf(path: string): number | null {
  try {
    const owner = Number(fs().readFileSync(path, 'utf8'));
    return isAlive(owner) ? owner : null;
  } catch {
    return null;
  }
}

export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
