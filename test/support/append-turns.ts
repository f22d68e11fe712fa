import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

const PROGRAM = `
  import { sqliteSessions } from './dist/index.js';
  const [file, who, count] = process.argv.slice(1);
  const store = sqliteSessions(file);
  const { signal } = new AbortController();
  for (let at = 0; at < Number(count); at += 1) {
    const turn = { runId: who + at, request: 'x', runs: [], answer: 'y', status: 'completed', atMs: at };
    await store.append('shared', turn, { signal });
    await store.append(who, turn, { signal });
    process.stdout.write(turn.runId + '\\n');
  }
  store.close();
`;

/** A process of its own that appends turns to the session `shared` and to its own, and says each when it is there. */
export function appendTurns(file: string, who: string, count: number) {
  const args = ['--input-type=module', '--eval', PROGRAM, file, who, String(count)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  let heard: () => void = () => {};
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
    heard();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const linesSoFar = (): string[] => said.split('\n').slice(0, -1);
  /** Resolves when so many were said. */
  const after = async (lines: number): Promise<void> => {
    while (linesSoFar().length < lines)
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
  };
  return { child, ended, linesSoFar, after };
}
