import type { AppendTurnInput, RecallSessionInput } from '../../../machines/chain/ports.ts';
import type { RecalledSession, SessionStore } from '../../../machines/contracts/session.ts';
import { readTurns } from '../../../machines/policies/session.ts';
import type { Conductor } from '../activities/call.ts';
import { question } from '../activities/question.ts';

/** The chain's ports to a session store. A store is the user's code: what it gives is checked, what it throws rejects. */
export function createSessionActors(store: SessionStore, conductor: Conductor) {
  return {
    recallSession: question<RecalledSession, RecallSessionInput>(
      'recallSession',
      async ({ input: { sessionId, turns }, signal }) => {
        let told: string | null = null;
        const onProblem = (problem: string): void => {
          told ??= String(problem);
        };
        return readTurns(await store.recall(sessionId, { turns, signal, onProblem }), turns, told);
      },
      conductor,
    ),
    appendTurn: question<void, AppendTurnInput>(
      'appendTurn',
      async ({ input: { sessionId, turn }, signal }) => {
        await store.append(sessionId, turn, { signal });
      },
      conductor,
    ),
  };
}
