import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { invalid } from '../context.ts';
import type { Owner } from '../owners.ts';
import type { RunService } from '../run-service.ts';
import { type Question, type RunUpdate, updatesOf } from '../updates.ts';
import { sendAnswers } from './questions.ts';

/** A call of a tool that only the client can run. */
export type ClientCall = Extract<Question, { kind: 'approval' }>;

export const asClientCall = (question: Question): ClientCall | null =>
  question.kind === 'approval' && question.isClientTool ? question : null;

/** The result of a call, by its id, as a client sends it. */
export interface CallOutput {
  readonly callId: string;
  readonly output: string;
}

/** Returns an id that names the run and the question, so that the result finds both. */
export const callIdOf = (runId: string, { questionId }: ClientCall): string => `call_${questionId}_${runId}`;

/**
 * The end of a turn: the part of a run that one response contains. It is the answer, the client's calls, or another question, which these APIs
 * have no way to answer.
 */
export type TurnEnd =
  | Extract<RunUpdate, { type: 'answer' | 'question' }>
  | { readonly type: 'calls'; readonly calls: readonly ClientCall[] };

/** Returns the calls that ended the turns of a run so far. */
export function callsOfTurns(entries: readonly JournalEntry[]): readonly (readonly ClientCall[])[] {
  const turns: ClientCall[][] = [];
  let isAsking = false;
  for (const update of updatesOf(entries)) {
    if (update.type === 'progress') continue;
    const call = update.type === 'question' ? asClientCall(update.question) : null;
    // The calls of one step are asked for together.
    if (call !== null && isAsking) turns.at(-1)?.push(call);
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
  { journal }: Pick<RunService, 'journal'>,
  owner: Owner,
  runId: string,
  turn: number,
  updates: AsyncIterable<{ readonly update: RunUpdate }>,
): AsyncGenerator<{ readonly update: RunUpdate; readonly end: TurnEnd | null }, void> {
  let current = 1;
  for await (const { update } of updates) {
    const isOwn = current === turn;
    if (update.type !== 'question') {
      if (isOwn || update.type === 'run') yield { update, end: update.type === 'answer' ? update : null };
      continue;
    }
    const entries = await journal(owner, runId);
    const { questionId } = update.question;
    const calls = callsOfTurns(entries)[current - 1] ?? [];
    const isLastCall = calls.at(-1)?.questionId === questionId;
    if (isLastCall) current += 1;
    if (!isOwn) continue;
    const isAsked = asClientCall(update.question) === null && isOpen(questionId, entries);
    const end = isLastCall ? ({ type: 'calls', calls } as const) : isAsked ? update : null;
    yield { update, end };
    if (end !== null) return;
  }
}

function isOpen(id: string, entries: readonly JournalEntry[]): boolean {
  const updates = [...updatesOf(entries)];
  return !updates.some((update) => update.type === 'question-closed' && update.questionId === id);
}

/**
 * Sends the results of the client's calls, and returns the run and its next turn. A repeated request sends nothing and gets the same turn.
 * Results of earlier turns are ignored. Throws an `HttpError` for a call that the run has not asked for, and if a result is missing.
 */
export async function sendOutputs(
  runs: RunService,
  owner: Owner,
  outputs: readonly CallOutput[],
  param: string,
): Promise<{ readonly runId: string; readonly turn: number }> {
  const [runId = '', ...others] = new Set(outputs.map(({ callId }) => /^call_[^_]+_(.+)$/su.exec(callId)?.[1] ?? ''));
  if (runId === '' || others.length > 0)
    throw invalid(param, 'expected results of calls of one response of this server', outputs[0]?.callId);
  const turns = callsOfTurns(await runs.journal(owner, runId));
  const given = new Map(outputs.map(({ callId, output }) => [callId, output]));
  const asked = new Set(turns.flat().map((call) => callIdOf(runId, call)));
  const unknown = [...given.keys()].find((callId) => !asked.has(callId));
  if (unknown !== undefined) throw invalid(param, 'expected results of calls of this run', unknown);
  const last = turns.findLastIndex((calls) => calls.some((call) => given.has(callIdOf(runId, call))));
  const calls = turns[last] ?? [];
  const missing = calls.map((call) => callIdOf(runId, call)).filter((callId) => !given.has(callId));
  if (missing.length > 0) throw invalid(param, `expected the results of all calls; missing: ${missing.join(', ')}`);
  const answers = calls.map((call) => [call.questionId, given.get(callIdOf(runId, call))] as const);
  await sendAnswers(runs, owner, runId, Object.fromEntries(answers));
  return { runId, turn: last + 2 };
}
