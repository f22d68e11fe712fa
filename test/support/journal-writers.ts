import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import type { DurableEntry } from '../../src/durable/entries.ts';

const UNSHARE = 'unshare';
const CONTAINER = ['--pid', '--fork', '--mount-proc', '--kill-child'];

/** Whether this machine can start a process in a PID namespace of its own. */
export const hasContainers = spawnSync(UNSHARE, [...CONTAINER, 'true']).status === 0;

type Order =
  | { readonly create: string }
  | { readonly open: string; readonly force?: boolean }
  | { readonly write: readonly DurableEntry[] }
  | { readonly close: true };

/** A process that writes a journal. */
export interface WriterProcess {
  /** Sends an order and returns why it failed, or null. */
  order(order: Order): Promise<string | null>;
  /** Sends a signal to the process itself, also if it is in a namespace of its own. */
  signal(name: NodeJS.Signals): void;
  /** Stops the process. */
  stop(): Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>;
}

/** Starts a process that writes journals, in a PID namespace of its own if wanted, as a container would. */
export async function startWriter(
  kind: 'file' | 'sqlite' | 'postgres',
  place: string,
  isContainer: boolean,
): Promise<WriterProcess> {
  const command = [process.execPath, 'test/support/journal-writer.mjs', kind, place];
  const [program = '', ...args] = isContainer ? [UNSHARE, ...CONTAINER, ...command] : command;
  // unshare itself prints a warning on some kernels.
  const child = spawn(program, args, { stdio: ['inherit', 'inherit', isContainer ? 'ignore' : 'inherit', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  const pid = isContainer ? onlyChildOf(child) : child.pid;
  const signal = (name: NodeJS.Signals): void => void process.kill(pid ?? 0, name);
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) signal('SIGKILL');
  });
  return {
    async order(order) {
      const answered = once(child, 'message');
      child.send(order);
      return (await answered)[0] as string | null;
    },
    signal,
    async stop() {
      signal('SIGSTOP');
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /u);
    },
    ended: once(child, 'exit'),
  };
}

function onlyChildOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
