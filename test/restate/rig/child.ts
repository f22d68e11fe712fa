import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Child {
  readonly pid: number;
  /** What it printed, for a message where it fails. */
  output(): string;
  /** Ends it at once, in the middle of whatever it does. */
  kill(): Promise<void>;
}

const living = new Set<ChildProcess>();
// Whatever becomes of the tests, no process outlives them.
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Starts a process and waits until `isReady` says so. Of the environment it gets what it is given, and where programs are. */
export async function startChild(
  command: string,
  args: readonly string[],
  { env, isReady }: { readonly env: Record<string, string>; readonly isReady: () => Promise<boolean> },
): Promise<Child> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  living.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'exit').then(() => living.delete(child));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended:\n${output}`);
    return isReady();
  }).catch(async (error: unknown) => {
    await kill();
    throw new Error(`${command} did not start:\n${output}`, { cause: error });
  });
  return { pid: child.pid ?? 0, output: () => output, kill };
}

/** Looks again and again; throws where it never is. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, forMs = 30_000): Promise<void> {
  const untilMs = Date.now() + forMs;
  while (!(await isSo())) {
    if (Date.now() > untilMs) throw new Error(`it was not so within ${forMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
