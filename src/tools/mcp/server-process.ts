import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How long the pipes of a process that exited are read on, where a process of its own still holds them. */
const DRAIN_MS = 500;

/** How long a process that is of no more use may take to end when it is told to. */
const GRACE_MS = 500;

/** What becomes of a server's process: how it ended, in words, and that nothing of it stays. */
export interface ServerProcess {
  /** Aborts, with an Error that says why, when the process can be spoken to no more. */
  readonly gone: AbortSignal;
  watch(child: ChildProcess): void;
  /** What went wrong; it is told where the process does not say more. */
  blame(error: Error): void;
  /** It can be spoken to no more. */
  close(): void;
  /** Listens to it no more, and ends it. */
  abandon(): void;
  /** Resolves when it has exited; holds its pipes no longer. */
  exited(): Promise<void>;
}

/** `lastWords` is what it wrote last to its standard error. */
export function createServerProcess(lastWords: () => string): ServerProcess {
  const gone = new AbortController();
  let child: ChildProcess | undefined;
  let fate = 'it closed';
  const close = (): void => {
    const words = lastWords();
    gone.abort(new Error(`${fate}${words && `; its last words: ${words}`}`));
  };
  const letGo = (): void => {
    for (const pipe of [child?.stdin, child?.stdout, child?.stderr]) pipe?.destroy();
  };
  return {
    gone: gone.signal,
    close,
    watch: (started) => {
      child = started;
      child.once('exit', (code, signal) => {
        fate = `it exited with ${code === null ? signal : `code ${code}`}`;
        setTimeout(letGo, DRAIN_MS).unref();
      });
    },
    blame: ({ message }) => {
      fate = message;
    },
    abandon: () => {
      close();
      child?.stdout?.destroy();
      child?.kill();
      setTimeout(() => child?.kill('SIGKILL'), GRACE_MS).unref();
    },
    exited: async () => {
      letGo();
      if (isRunning(child)) await once(child, 'exit');
    },
  };
}

function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
