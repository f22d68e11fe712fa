import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { NO_USAGE } from '../../../machines/policies/usage.ts';
import { invalid } from '../context.ts';
import type { Owner } from '../owners.ts';
import type { ServedRuns, StoredRun } from '../served-runs.ts';
import { isLastWait, type Question, questionsIn, type RunUpdate } from '../updates.ts';
import type { Answers } from './questions.ts';

/** A call of a tool that only the client can run. */
export type ClientCall = Extract<Question, { kind: 'approval' }>;

export const asClientCall = (question: Question): ClientCall | null =>
  question.kind === 'approval' && question.isClientTool ? question : null;

/** The result of a call, by its id, as a client sends it. */
export interface CallOutput {
  readonly callId: string;
  readonly output: string;
}

/** A call as responses show it. */
export type CallName = Pick<ClientCall, 'questionId' | 'capability' | 'arguments'>;

/** Takes the place of the id of a question in the id of a call that `tool_choice` forced: it ended its run, and nothing waits for its result. */
export const FORCED = 'forced';

const FORCED_ID = `call_${FORCED}_`;

/** Returns the run whose call has this result, and waits for it or did; null for a forced call, or a call of another server. */
export const runOfOutput = ({ callId }: CallOutput): string | null =>
  callId.startsWith(FORCED_ID) ? null : (RUN_OF_CALL.exec(callId)?.[1] ?? null);

/** The ids of other servers have no question of a run. */
const RUN_OF_CALL = /^call_[^_]+\.approval\d+_(.+)$/su;

/** Returns an id that names the run and the question, so that the result finds both. */
export const callIdOf = (runId: string, { questionId }: Pick<ClientCall, 'questionId'>): string =>
  `call_${questionId}_${runId}`;

/**
 * The end of a turn: the part of a run that one response contains. It is the answer, the client's calls, or another question or a wait for
 * events, which these APIs have no way to answer. `usage` has the tokens of the turn.
 */
export type TurnEnd = { readonly usage: TurnUsage } & (
  | Extract<RunUpdate, { type: 'answer' | 'question' | 'progress' }>
  | { readonly type: 'calls'; readonly calls: readonly ClientCall[] }
);
export type TurnUsage = ReturnType<typeof usageBetween>;

function usageBetween(earlier: TokenUsage, later: TokenUsage) {
  const added = (count: (usage: TokenUsage) => number | undefined) =>
    Math.max(0, (count(later) ?? 0) - (count(earlier) ?? 0));
  const inputTokens = added((usage) => usage.inputTokens);
  const outputTokens = added((usage) => usage.outputTokens);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: added((usage) => usage.cachedInputTokens),
    reasoningTokens: added((usage) => usage.reasoningTokens),
  };
}

/** Returns the calls that ended the turns of a run so far: all of a step in one turn or, with `parallel_tool_calls: false`, one in each. */
export function callsOfTurns({ updates, host }: StoredRun): readonly (readonly ClientCall[])[] {
  const turns: ClientCall[][] = [];
  const isParallel = Object(host['response']).parallel_tool_calls !== false;
  let isAsking = false;
  for (const update of updates) {
    if (update.type === 'progress') continue;
    const call = update.type === 'question' ? asClientCall(update.question) : null;
    // The calls of one step are asked for together.
    if (call !== null && isAsking && isParallel) turns.at(-1)?.push(call);
    else if (call !== null) turns.push([call]);
    isAsking = call !== null;
  }
  return turns;
}

/**
 * Yields the updates of a turn, from 1, after the update that begins its run, until its end. A turn whose question is answered in another way
 * continues.
 */
export async function* turnOf(
  runs: ServedRuns,
  owner: Owner,
  runId: string,
  turn: number,
  updates: AsyncIterable<{ readonly update: RunUpdate }>,
): AsyncGenerator<{ readonly update: RunUpdate; readonly end: TurnEnd | null }, void> {
  let current = 1;
  const earlier = (run: StoredRun): TokenUsage =>
    turn === 1 ? NO_USAGE : run.usageBefore(callsOfTurns(run)[turn - 2]?.at(-1)?.questionId ?? '');
  for await (const { update } of updates) {
    const isOwn = current === turn;
    if (update.type !== 'question') {
      if (isOwn && update.type === 'answer') {
        const used = turn === 1 ? NO_USAGE : earlier(await runs.stored(owner, runId));
        yield { update, end: { ...update, usage: usageBetween(used, update.answer.metadata.usage) } };
      } else if (isOwn && update.type === 'progress' && update.isWaiting) {
        const run = await runs.stored(owner, runId);
        const usage = usageBetween(earlier(run), run.usageBefore(null));
        const isLast = isLastWait(run.updates, update);
        yield { update, end: isLast ? { ...update, usage } : null };
        if (isLast) return;
      } else if (isOwn || update.type === 'run') yield { update, end: null };
      continue;
    }
    const run = await runs.stored(owner, runId);
    const { questionId } = update.question;
    const calls = callsOfTurns(run)[current - 1] ?? [];
    const isLastCall = calls.at(-1)?.questionId === questionId;
    if (isLastCall) current += 1;
    if (!isOwn) continue;
    const isAsked = asClientCall(update.question) === null && questionsIn(run.updates).open.has(questionId);
    const usage = usageBetween(earlier(run), run.usageBefore(questionId));
    const end = isLastCall ? ({ type: 'calls', calls, usage } as const) : isAsked ? { ...update, usage } : null;
    yield { update, end };
    if (end !== null) return;
  }
}

/**
 * Returns the run whose calls have these results, its next turn, and the answers to its questions. Results of earlier turns whose calls are
 * closed are ignored. Throws an `HttpError` for a call that the run has not asked for, and if an open call has no result, or a call has two.
 */
export async function resultsOf(
  runs: ServedRuns,
  owner: Owner,
  outputs: readonly CallOutput[],
  param: string,
): Promise<{ readonly runId: string; readonly turn: number; readonly answers: Answers }> {
  const [runId = '', ...others] = new Set(outputs.map((output) => runOfOutput(output) ?? ''));
  if (runId === '' || others.length > 0)
    throw invalid(param, 'expected results of calls of one response of this server', outputs[0]?.callId);
  const run = await runs.stored(owner, runId);
  const turns = callsOfTurns(run);
  const given = new Map(outputs.map(({ callId, output }) => [callId, output]));
  const twice = outputs.find(({ callId, output }) => given.get(callId) !== output);
  if (twice !== undefined) throw invalid(param, `expected one result for each call; received two for ${twice.callId}`);
  const asked = new Set(turns.flat().map((call) => callIdOf(runId, call)));
  const unknown = [...given.keys()].find((callId) => !asked.has(callId));
  if (unknown !== undefined) throw invalid(param, 'expected results of calls of this run', unknown);
  const { open } = questionsIn(run.updates);
  const last = turns.findLastIndex((calls) => calls.some((call) => given.has(callIdOf(runId, call))));
  const calls = turns
    .slice(0, last + 1)
    .flatMap((each, at) =>
      each.filter((call) => (at === last && given.has(callIdOf(runId, call))) || open.has(call.questionId)),
    );
  const missing = calls.map((call) => callIdOf(runId, call)).filter((callId) => !given.has(callId));
  if (missing.length > 0)
    throw invalid(param, `expected the results of all open calls; missing: ${missing.join(', ')}`);
  const answers = calls.map((call) => [call.questionId, given.get(callIdOf(runId, call))] as const);
  return { runId, turn: last + 2, answers: Object.fromEntries(answers) };
}
