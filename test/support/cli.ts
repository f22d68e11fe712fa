import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the built `postchain` command with no key in its environment but what is given. */
export function startCli(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = '') {
  const { PATH = '' } = process.env;
  const child: ChildProcess = spawn(process.execPath, ['dist/cli.js', ...args], {
    env: { PATH, NO_COLOR: '1', POSTCHAIN_JOURNALS: temporaryFolder(), POSTCHAIN_HOME: homeFor(env), ...env },
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
    });
  // A command that ended before it read its input is no fault of the test.
  child.stdin?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  child.stdin?.end(input);
  onTestFinished(() => void child.kill('SIGKILL'));
  const finished = new Promise<Finished>((resolve) => child.once('close', (code) => resolve({ code, ...text })));
  return { child, finished, text };
}

/** A test that sets HOME looks at the default directory in it. */
const homeFor = ({ HOME }: Readonly<Record<string, string>>): string => (HOME === undefined ? temporaryFolder() : '');

export const cli = (...args: readonly string[]): Promise<Finished> => startCli(args).finished;

/** A folder of the test's own, gone when it ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The commands of one user, whose journals are kept in one place. */
export function aUser(env: Readonly<Record<string, string>>, place = join(temporaryFolder(), 'journals')) {
  const home = env['HOME'] === undefined ? { POSTCHAIN_HOME: temporaryFolder() } : {};
  const start = (...args: readonly string[]) => startCli(args, { POSTCHAIN_JOURNALS: place, ...home, ...env });
  return { place, start, call: (...args: readonly string[]) => start(...args).finished };
}
