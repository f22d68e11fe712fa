/** Taken when it is needed: the rest of PostChain runs where there is none, in a browser say. */
const fs = () => process.getBuiltinModule('node:fs');

/**
 * A process as the owner of a journal: its number, and on Linux when it began, in the kernel's ticks. Numbers are given again, in a
 * container the same one at every start.
 */
export const thisProcess = (): string => `${process.pid} ${seen(process.pid).begun}`.trim();

/** The number of a process that is there still; null where it is gone, or another one has its number. */
export function alive(owner: string): number | null {
  const [number = '', begun = ''] = owner.split(' ');
  const pid = Number(number);
  if (!Number.isSafeInteger(pid) || pid < 1 || !isThere(pid)) return null;
  const now = seen(pid);
  if (now.isDead) return null;
  return begun === '' || now.begun === '' || now.begun === begun ? pid : null;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What the system shows of a process; one that ended and that nobody waited for is dead. */
function seen(pid: number): { readonly begun: string; readonly isDead: boolean } {
  try {
    const text = fs().readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its name stands before, in brackets, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { begun: fields[19] ?? '', isDead: /^[ZX]/iu.test(fields[0] ?? '') };
  } catch {
    return { begun: '', isDead: false };
  }
}
