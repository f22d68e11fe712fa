import type { MemoryEntry } from '../contracts/capability.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { type RecalledSession, type SessionTurn, sessionTurnSchema } from '../contracts/session.ts';
import { clipped } from '../text/clip.ts';
import { preview } from '../text/summary.ts';
import { KEPT_BY_USER } from './context.ts';
import { unexpectedFailure } from './failures.ts';
import { contextTokens, tokensAllowed } from './understanding.ts';
import { tokensPerCharOf } from './usage.ts';

/** The newest runs that a turn keeps: bounds the size of a turn. */
const KEPT_RUNS = 64;
const SUMMARY_CHARS = 500;
const NAME_CHARS = 200;
const PROBLEM_CHARS = 300;

export function hasSession({ sessionId }: ChainState): GuardResult {
  return { holds: sessionId !== null, inputs: { session: sessionId !== null } };
}

/** Whether earlier turns of the session are added to the run. */
export function recallWanted({ sessionId, limits: { sessionTurns } }: ChainState): GuardResult {
  return { holds: sessionId !== null && sessionTurns > 0, inputs: { session: sessionId !== null, sessionTurns } };
}

function bounded<Run extends SessionTurn['runs'][number]>(run: Run): Run {
  return { ...run, capability: clipped(run.capability, NAME_CHARS), summary: clipped(run.summary, SUMMARY_CHARS) };
}

/** Returns the turn to store in the session: the request and its answer. */
export function turnOf({ runId, request, results, answer, startedAtMs }: ChainState): SessionTurn {
  return {
    runId,
    request,
    runs: rememberedRuns(results.action?.memory ?? []),
    answer: answer?.answerText ?? '',
    status: answer?.status ?? 'degraded',
    atMs: startedAtMs,
  };
}

function rememberedRuns(memory: readonly MemoryEntry[]): SessionTurn['runs'] {
  const runs = memory.flatMap((entry) => (entry.role === 'assistant' ? [entry] : []));
  return runs.slice(-KEPT_RUNS).map(({ capability, success, summary }) => bounded({ capability, success, summary }));
}

/**
 * The newest turns that a store returned, validated one by one: invalid ones are left out and reported, and each keeps
 * its newest runs. `reported` is the problem that the store itself reported.
 */
export function readTurns(given: unknown, limit: number, reported: string | null): RecalledSession {
  if (!Array.isArray(given)) return { turns: [], problem: 'the session store returned no list of turns' };
  const newest: readonly unknown[] = limit > 0 ? given.slice(-limit) : [];
  const turns = newest.flatMap((one) => {
    const read = sessionTurnSchema.safeParse(one);
    return read.success ? [{ ...read.data, runs: read.data.runs.slice(-KEPT_RUNS).map(bounded) }] : [];
  });
  const lost = newest.length - turns.length;
  const problems = [
    ...(reported === null ? [] : [boundedProblem(reported)]),
    ...(lost === 0 ? [] : [`${lost} of ${newest.length} turns could not be read`]),
  ];
  return { turns, problem: problems.length === 0 ? null : problems.join('; ') };
}

/** Returns an empty session with the reason. */
export const emptySession = (problem: string): RecalledSession => ({ turns: [], problem });

/** Returns why a store failed, in one line. */
export const problemOf = (error: unknown): string => boundedProblem(unexpectedFailure(error).message);

/** Returns the problem of a store that did not respond in time. */
export const timeoutProblem = (ms: number): string => `the session store did not respond within ${ms} ms`;

/** The run was stopped while its turn was being stored: it may be stored or not. */
export const STOPPED_PROBLEM = 'the run was stopped before the session store responded';

const boundedProblem = (text: string): string => preview(text, PROBLEM_CHARS).replace(/\p{Cc}/gu, '');

/** Inserts the recalled turns before the run's initial messages. */
export function assignSession(state: ChainState, recalled: RecalledSession): Partial<ChainState> {
  const { turns, problem } = fittingTurns(state, recalled);
  const messages = [...recalledMessages(turns, state.messages), ...state.messages];
  return {
    messages,
    tokensPerChar: tokensPerCharOf(messages.map(({ content }) => content)),
    sessionProblem: problem,
  };
}

/** Share of the free context for earlier turns; the rest is for the work on this request. */
const SHARE = 0.5;

/**
 * Returns the newest turns that fit into half of the free context, and reports how many do not fit. Without this limit,
 * a request that is too long for the model would block all later ones, because only the user may shorten it.
 */
export function fittingTurns(state: ChainState, { turns, problem }: RecalledSession): RecalledSession {
  let freeTokens = SHARE * (tokensAllowed(state) - contextTokens(state, state.messages));
  let first = turns.length;
  for (const turn of turns.toReversed()) {
    freeTokens -= tokensOf(turn);
    if (freeTokens < 0) break;
    first -= 1;
  }
  if (first === 0) return { turns, problem };
  const left = `${first} of ${turns.length} turns did not fit into the context`;
  return { turns: turns.slice(first), problem: problem === null ? left : `${problem}; ${left}` };
}

function tokensOf({ request, runs, answer }: SessionTurn): number {
  const texts = [request, answer, ...runs.flatMap(({ capability, summary }) => [capability, summary])];
  return tokensPerCharOf(texts) * texts.reduce((chars, text) => chars + text.length, 0);
}

/**
 * Turns as messages, in order: the user's request, one assistant message per capability run, and the answer. Ids count
 * the turns from 1, the oldest: `earlier.1.request`, `earlier.1.run2`, `earlier.1.answer`; a collision with `others`
 * gets a suffix.
 */
export function recalledMessages(turns: readonly SessionTurn[], others: readonly Message[]): readonly Message[] {
  const taken = new Set(others.map(({ id }) => id));
  return turns
    .flatMap((turn, at) => messagesOfTurn(turn, `earlier.${at + 1}`))
    .map((message) => withFreeId(message, taken));
}

function messagesOfTurn({ request, runs, answer, status, atMs }: SessionTurn, id: string): readonly Message[] {
  const common = { createdAtMs: atMs, cycle: 1, links: [], references: [], source: null };
  return [
    // Only turns that fit are recalled, so there is no need to ask about them in every run.
    {
      ...common,
      id: `${id}.request`,
      role: 'user',
      phase: null,
      content: request,
      tags: [KEPT_BY_USER],
      importance: 1,
    },
    ...runs.map((run, at): Message => {
      const content = `${run.capability}${run.success ? '' : ' failed'}: ${run.summary}`;
      return {
        ...common,
        id: `${id}.run${at + 1}`,
        role: 'assistant',
        phase: 'action',
        content,
        tags: [],
        importance: 0.5,
      };
    }),
    {
      ...common,
      id: `${id}.answer`,
      role: 'assistant',
      phase: null,
      content: `${MARKS[status]}${answer}`,
      tags: status === 'completed' ? [] : [status],
      importance: 0.5,
    },
  ];
}

/** A model does not see tags, so the text says how the turn ended. */
const MARKS: Readonly<Record<SessionTurn['status'], string>> = {
  completed: '',
  degraded: '(This answer was incomplete.) ',
  cancelled: '(The user cancelled this request.) ',
};

function withFreeId(message: Message, taken: Set<string>): Message {
  let id = message.id;
  for (let count = 2; taken.has(id); count += 1) id = `${message.id}.${count}`;
  taken.add(id);
  return { ...message, id };
}
