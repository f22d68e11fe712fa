import type { RememberedRun } from '../contracts/capability.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/guard-result.ts';
import type { ActionResult } from '../contracts/phases/action.ts';
import { type RecalledSession, type SessionTurn, sessionTurnSchema } from '../contracts/session.ts';
import { clipped } from '../text/clipped.ts';
import { unexpectedFailure } from './failures.ts';
import { preview } from './summary.ts';

/** What a session remembers of a request, and what of that is believed when it comes back. */

/** The newest runs of a request that a turn keeps, so that no request makes a turn without bounds [R4]. */
const KEPT_RUNS = 64;
const SUMMARY_CHARS = 500;
const NAME_CHARS = 200;
const PROBLEM_CHARS = 300;

export function hasSession({ sessionId }: ChainState): GuardResult {
  return { holds: sessionId !== null, inputs: { session: sessionId !== null } };
}

/** Whether the run is given earlier turns of its session. */
export function recallWanted({ sessionId, limits: { sessionTurns } }: ChainState): GuardResult {
  return { holds: sessionId !== null && sessionTurns > 0, inputs: { session: sessionId !== null, sessionTurns } };
}

/** The capability runs so far, and those of an Action [R4]. */
export function rememberRuns({ runs }: ChainState, { memory }: ActionResult): readonly RememberedRun[] {
  const added = memory.flatMap((entry) => (entry.role === 'assistant' ? [bounded(entry)] : []));
  return added.length === 0 ? runs : [...runs, ...added].slice(-KEPT_RUNS);
}

function bounded<Run extends SessionTurn['runs'][number]>(run: Run): Run {
  return { ...run, capability: clipped(run.capability, NAME_CHARS), summary: clipped(run.summary, SUMMARY_CHARS) };
}

/** The request and what came of it, for the session. */
export function turnOf({ runId, request, runs, answer, startedAtMs }: ChainState): SessionTurn {
  return {
    runId,
    request,
    runs: runs.map(({ capability, success, summary }) => ({ capability, success, summary })),
    answer: answer?.answerText ?? '',
    status: answer?.status ?? 'degraded',
    atMs: startedAtMs,
  };
}

/**
 * The newest turns that a store gave, checked one by one: what is no turn is left out and told, and of each turn no more runs are
 * taken than one may keep. `told` is what the store itself said was wrong.
 */
export function readTurns(given: unknown, limit: number, told: string | null): RecalledSession {
  if (!Array.isArray(given)) return { turns: [], problem: 'the store gave no list of turns' };
  const newest: readonly unknown[] = limit > 0 ? given.slice(-limit) : [];
  const turns = newest.flatMap((one) => {
    const read = sessionTurnSchema.safeParse(one);
    return read.success ? [{ ...read.data, runs: read.data.runs.slice(-KEPT_RUNS).map(bounded) }] : [];
  });
  const lost = newest.length - turns.length;
  const problems = [
    ...(told === null ? [] : [problemText(told)]),
    ...(lost === 0 ? [] : [`${lost} of ${newest.length} turns could not be read`]),
  ];
  return { turns, problem: problems.length === 0 ? null : problems.join('; ') };
}

/** Nothing was recalled, and why. */
export const lostSession = (problem: string): RecalledSession => ({ turns: [], problem });

/** Why a store could not be used, in one line. */
export const problemOf = (error: unknown): string => problemText(unexpectedFailure(error).message);

/** A store that did not answer within the time that there is. */
export const tooLate = (ms: number): string => `the store did not answer within ${ms} ms`;

/** The run was stopped while its turn was under way to the store: it may have arrived or not. */
export const STOPPED = 'the run was stopped before the store had answered';

const problemText = (text: string): string => preview(text, PROBLEM_CHARS).replace(/\p{Cc}/gu, '');
