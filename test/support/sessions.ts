import type { SessionStore, SessionTurn } from '../../machines/contracts/session.ts';

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
export const hanging: Promise<never> = new Promise(() => {});

/** What a user's store may be asked for, as it was asked. */
export interface WatchedStore extends SessionStore {
  readonly recalls: { readonly sessionId: string; readonly turns: number; readonly signal: AbortSignal }[];
  readonly appends: { readonly sessionId: string; readonly turn: SessionTurn; readonly signal: AbortSignal }[];
}

/** A store that gives and does as it is told, even what no store should. */
export function storeThat(given: { readonly recall?: () => unknown; readonly append?: () => unknown }): WatchedStore {
  const recalls: WatchedStore['recalls'] = [];
  const appends: WatchedStore['appends'] = [];
  return {
    recalls,
    appends,
    recall(sessionId, { turns, signal: aborted }) {
      recalls.push({ sessionId, turns, signal: aborted });
      return (given.recall === undefined ? [] : given.recall()) as readonly SessionTurn[];
    },
    append(sessionId, turn, { signal: aborted }) {
      appends.push({ sessionId, turn, signal: aborted });
      return given.append?.() as undefined;
    },
  };
}
