import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import type { SessionStore, SessionTurn } from '../../machines/contracts/session.ts';
import { startScripted } from './run-chain.ts';

/** A turn of a session, with the changes a test is about. */
export const aTurn = (runId = 'r1', changes: Partial<SessionTurn> = {}): SessionTurn => ({
  runId,
  request: `What of ${runId}?`,
  runs: [],
  answer: `All is well with ${runId}.`,
  status: 'completed',
  atMs: 1_700_000_000_000,
  ...changes,
});

const signal = new AbortController().signal;

/** The ids of the runs that a store recalls, the oldest first. */
export const recalledIds = async (store: SessionStore, sessionId: string, turns = 1_000): Promise<readonly string[]> =>
  (await store.recall(sessionId, { turns, signal })).map(({ runId }) => runId);

export const recall = async (store: SessionStore, sessionId: string, turns = 1_000): Promise<readonly SessionTurn[]> =>
  store.recall(sessionId, { turns, signal });

export const append = async (store: SessionStore, sessionId: string, turn: SessionTurn): Promise<void> =>
  store.append(sessionId, turn, { signal });

/** Never settles: the store hangs. */
export const neverSettles: Promise<never> = new Promise(() => {});

/** A store that returns and does what the test gives it, even what the contract forbids, and records its calls. */
export function stubSessions(given: { readonly recall?: () => unknown; readonly append?: () => unknown }) {
  const recalls: { readonly sessionId: string; readonly turns: number; readonly signal: AbortSignal }[] = [];
  const appends: { readonly sessionId: string; readonly turn: SessionTurn; readonly signal: AbortSignal }[] = [];
  const store: SessionStore = {
    recall(sessionId, { turns, signal: aborted }) {
      recalls.push({ sessionId, turns, signal: aborted });
      return (given.recall === undefined ? [] : given.recall()) as readonly SessionTurn[];
    },
    append(sessionId, turn, { signal: aborted }) {
      appends.push({ sessionId, turn, signal: aborted });
      return given.append?.() as undefined;
    },
  };
  return { ...store, recalls, appends };
}

/** A run of a session on a scripted model and a simulated clock. */
export const startInSession = (
  sessions: ReturnType<typeof stubSessions>,
  plan: Parameters<typeof startScripted>[0] = {},
  options: Parameters<typeof startScripted>[1] = {},
) => startScripted(plan, { sessions, ...options }, { sessionId: 'u42' });

const PROGRAM = `
  import { sqliteSessions } from './dist/node.js';
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
