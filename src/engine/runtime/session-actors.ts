import type { AppendTurnInput, RecallSessionInput } from '../../../machines/chain/ports.ts';
import type { RecalledSession, SessionStore } from '../../../machines/contracts/session.ts';
import { readTurns } from '../../../machines/policies/session.ts';
import type { ActivityDispatcher } from '../activities/activity.ts';
import { promiseActivity } from '../activities/promise-activity.ts';

/** The chain's ports to a session store. A store is the user's code: what it gives is checked, what it throws rejects. */
export function createSessionActors(store: SessionStore, dispatcher: ActivityDispatcher) {
  return {
    recallSession: promiseActivity<RecalledSession, RecallSessionInput>(
      'recallSession',
      async ({ input: { sessionId, turns }, signal }) => {
        let told: string | null = null;
        const onProblem = (problem: string): void => {
          told ??= String(problem);
        };
        return readTurns(await store.recall(sessionId, { turns, signal, onProblem }), turns, told);
      },
      dispatcher,
    ),
    appendTurn: promiseActivity<void, AppendTurnInput>(
      'appendTurn',
      async ({ input: { sessionId, turn }, signal }) => {
        await store.append(sessionId, turn, { signal });
      },
      dispatcher,
    ),
  };
}
