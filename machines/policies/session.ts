import type { MemoryEntry } from '../contracts/capability.ts';
import type { ChainState, SessionState } from '../contracts/chain-state.ts';
import type { ContextOperation } from '../contracts/context.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { type RecalledSession, type SessionTurn, sessionTurnSchema } from '../contracts/session.ts';
import { clipped } from '../text/clip.ts';
import { wellFormed } from '../text/safe-json.ts';
import { preview } from '../text/summary.ts';
import { contextOf, isLoss, KEPT_BY_DEFAULT, KEPT_BY_USER, REQUEST } from './context.ts';
import { unexpectedFailure } from './failures.ts';
import { addedTokens, withLabels, withoutFiles } from './message-parts.ts';
import { EARLIER, visibleMessages } from './progress.ts';
import { contextTokens } from './understanding.ts';
import { tokensAllowed, tokensPerCharOf } from './usage.ts';

/** Besides the user's messages, the newest that a turn keeps, whatever a store returns. */
const MAX_KEPT = 1_000;
const PROBLEM_CHARS = 300;

export function hasSession({ sessionId }: ChainState): GuardResult {
  return { holds: sessionId !== null, inputs: { session: sessionId !== null } };
}

export function recallWanted({ sessionId, limits: { sessionTurns } }: ChainState): GuardResult {
  return { holds: sessionId !== null && sessionTurns > 0, inputs: { session: sessionId !== null, sessionTurns } };
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
    if (!read.success) return [];
    const { kept, runs } = read.data;
    return [{ ...read.data, runs: runs.slice(-KEPT_RUNS).map(boundedRun), ...(kept && { kept: boundedKept(kept) }) }];
  });
  const lost = newest.length - turns.length;
  const problems = [
    ...(reported === null ? [] : [boundedProblem(reported)]),
    ...(lost === 0 ? [] : [`${lost} of ${newest.length} turns could not be read`]),
  ];
  return { turns, problem: problems.length === 0 ? null : problems.join('; ') };
}

function boundedKept(kept: readonly Message[]): readonly Message[] {
  const others = new Set(kept.filter(({ role }) => role !== 'user').slice(-MAX_KEPT));
  return kept.filter((message) => message.role === 'user' || others.has(message));
}

export const emptySession = (problem: string): RecalledSession => ({ turns: [], problem });

export const storeProblem = (error: unknown): string => boundedProblem(unexpectedFailure(error).message);

export const timeoutProblem = (ms: number): string => `the session store did not respond within ${ms} ms`;

/** The run was stopped while its turn was being stored: it may be stored or not. */
export const STOPPED_PROBLEM = 'the run was stopped before the session store responded';

const boundedProblem = (text: string): string => preview(text, PROBLEM_CHARS).replace(/\p{Cc}/gu, '');

interface RecalledMessages {
  /** How many turns are recalled in full. */
  readonly turns: number;
  /** In order, the oldest first. */
  readonly messages: readonly Message[];
  /** What is not recalled, and what the store reported; null if everything is. */
  readonly problem: string | null;
  /** Null if the store failed. */
  readonly session: SessionState | null;
}

/** Inserts the recalled messages before the run's initial messages. */
export function assignSession(state: ChainState, recalled: RecalledSession): Partial<ChainState> {
  const { messages: earlier, problem, session } = recallMessages(state, recalled);
  const messages = [...earlier, ...state.messages];
  return {
    messages,
    history: { ...state.history, initial: [...earlier, ...state.history.initial] },
    tokensPerChar: tokensPerCharOf(messages.map(({ content }) => content)),
    session,
    sessionProblem: problem,
  };
}

/** Share of the free context for earlier turns; the rest is for the work on this request. */
const SHARE = 0.5;

/**
 * Returns what fits into half of the free context: first what is pinned, critical or marked to be kept; then the newest
 * `limits.sessionTurns` turns in full; then, of all other turns, the user's messages and the insights, newest first. At most
 * `limits.sessionMessages` messages of other turns are not the user's.
 * Without the limit, a request that is too long for the model would block all later ones. Whatever is left out is
 * reported: it did not fit, is too old, or was deleted by the store.
 */
export function recallMessages(state: ChainState, { turns: stored, problem }: RecalledSession): RecalledMessages {
  const turns = withNumbers(stored);
  const total = turns.at(-1)?.number ?? 0;
  const { kept, removed } = keptOf(turns);
  const turnMessages = turns.map((turn) =>
    messagesOfTurn(turn)
      .filter(({ id }) => !removed.has(id))
      .map((message) => withMarks(message, kept.get(message.id))),
  );
  const { sessionTurns, sessionMessages } = state.limits;
  const window = sessionTurns === 0 ? [] : turnMessages.slice(-sessionTurns);
  const free = freeSpace(state);
  const ofWindow = new Set(window.flat().map(({ id }) => id));
  const given = new Set(state.messages.map(textKey));
  const requests = turnMessages
    .slice(0, turns.length - window.length)
    .flatMap((messages) => messages.filter(isRequest));
  const single = [...new Map([...kept, ...requests.map((message) => [message.id, message] as const)]).values()].filter(
    (message) => !ofWindow.has(message.id) && rankOf(message) < RANKS.marked && !given.has(textKey(message)),
  );
  const chosen = new Set<Message>();
  let others = 0;
  const choose = (messages: readonly Message[]): void => {
    for (const message of byPrecedence(messages)) {
      const isUsers = message.role === 'user';
      if ((!isUsers && others >= sessionMessages) || !free.takes([message])) continue;
      chosen.add(message);
      if (!isUsers) others += 1;
    }
  };
  choose(single.filter((message) => rankOf(message) <= RANKS.kept));
  let first = window.length;
  while (first > 0 && free.takes(window[first - 1] ?? [])) first -= 1;
  const unfit = window.slice(0, first).flat();
  choose([...single.filter((message) => rankOf(message) > RANKS.kept), ...unfit.filter(isRequest)]);
  const full = window.slice(first);
  const separate = [...single, ...unfit].filter((message) => chosen.has(message));
  const taken = new Set(state.messages.map(({ id }) => id));
  const messages = [...full.flat(), ...separate]
    .toSorted((one, other) => turnNumber(one) - turnNumber(other))
    .map((message) => withFreeId(message, taken));
  const inPart = separate.filter(isRequest).length;
  const lost = single.filter((message) => !chosen.has(message) && !isRequest(message)).length;
  const missing = missingText({ total, full: full.length, inPart, lost: lost + (turns.at(-1)?.droppedMessages ?? 0) });
  const problems = [...(problem === null ? [] : [problem]), ...missing];
  return {
    turns: full.length,
    messages,
    problem: problems.length === 0 ? null : problems.join('; '),
    session:
      turns.length === 0 && problem !== null
        ? null
        : {
            turns: total,
            messages,
            omitted: [...single, ...unfit].filter((message) => !chosen.has(message)),
            droppedMessages: turns.at(-1)?.droppedMessages ?? 0,
          },
  };
}

interface Missing {
  /** Turns of the session, those recalled in full, and those recalled in part. */
  readonly total: number;
  readonly full: number;
  readonly inPart: number;
  /** Messages that the session should have kept, but that did not fit. */
  readonly lost: number;
}

function missingText({ total, full, inPart, lost }: Missing): readonly string[] {
  const none = Math.max(0, total - full - inPart);
  return [
    ...(none > 0 ? [`${none} of ${total} turns`] : []),
    ...(inPart > 0 ? [`the answers of ${inPart} of ${total} turns`] : []),
    ...(lost > 0 ? [`${lost} kept ${lost === 1 ? 'message' : 'messages'}`] : []),
  ];
}

/** Counts the tokens of earlier turns against their share of the free context. */
function freeSpace(state: ChainState) {
  let tokensLeft = SHARE * (tokensAllowed(state) - contextTokens(state, state.messages));
  const takes = (messages: readonly Message[]): boolean => {
    const tokens = messages.reduce((sum, message) => {
      const tokensPerChar = tokensPerCharOf([message.content]);
      return sum + tokensPerChar * message.content.length + addedTokens(message, tokensPerChar);
    }, 0);
    if (tokens > tokensLeft) return false;
    tokensLeft -= tokens;
    return true;
  };
  return { takes };
}

type NumberedTurn = SessionTurn & { readonly number: number };

/** Numbers the turns that were stored without a number, or at the same time as another. */
function withNumbers(turns: readonly SessionTurn[]): readonly NumberedTurn[] {
  let last = 0;
  return turns.map((turn) => {
    last = Math.max(turn.number ?? 0, last + 1);
    return { ...turn, number: last };
  });
}

/** Returns what the session keeps according to its newest turns, by id, and the ids of what it no longer keeps. */
function keptOf(turns: readonly NumberedTurn[]) {
  const kept = new Map<string, Message>();
  const removed = new Set<string>();
  for (const { number, kept: ofTurn = [], removed: ids = [] } of turns) {
    for (const message of ofTurn) {
      const earlier = renamed(message, (id) => (id.startsWith(EARLIER) ? id : `${EARLIER}${number}.${id}`));
      kept.set(earlier.id, { ...earlier, cycle: 1 });
    }
    for (const id of ids) {
      kept.delete(id);
      removed.add(id);
    }
  }
  return { kept, removed };
}

/** A turn's message with what later runs changed: its marks, and the content of a user's message. */
function withMarks(message: Message, kept: Message | undefined): Message {
  if (kept === undefined) return message;
  const { tags, importance, links, references } = kept;
  return { ...message, tags, importance, links, references, ...(message.role === 'user' && { content: kept.content }) };
}

/** Turns as messages, in order. Their ids count the turns of the session from 1: `earlier.1.request`, `earlier.1.run2`, `earlier.1.answer`. */
function messagesOfTurn({ number, request, runs, answer, status, atMs }: NumberedTurn): readonly Message[] {
  const common = { createdAtMs: atMs, cycle: 1, links: [], references: [], source: null, importance: 0.5 };
  const id = `${EARLIER}${number}`;
  return [
    { ...common, id: `${id}.${REQUEST}`, role: 'user', phase: null, content: request, tags: [], importance: 1 },
    ...runs.map((run, at): Message => {
      const content = `${run.capability}${run.success ? '' : ' failed'}: ${run.summary}`;
      return { ...common, id: `${id}.run${at + 1}`, role: 'assistant', phase: 'action', content, tags: [] };
    }),
    {
      ...common,
      id: `${id}.${ANSWER}`,
      role: 'assistant',
      phase: null,
      content: `${MARKS[status]}${answer}`,
      tags: status === 'completed' ? [] : [status],
    },
  ];
}

/** A model does not see tags, so the text says how the turn ended. */
const MARKS: Readonly<Record<SessionTurn['status'], string>> = {
  completed: '',
  degraded: '(This answer may be wrong or incomplete.) ',
  cancelled: '(The user canceled this request.) ',
};

function withFreeId(message: Message, taken: Set<string>): Message {
  let id = message.id;
  for (let count = 2; taken.has(id); count += 1) id = `${message.id}.${count}`;
  taken.add(id);
  return { ...message, id };
}

/** The newest runs that a turn keeps: bounds the size of a turn. */
const KEPT_RUNS = 64;
const SUMMARY_CHARS = 500;
const NAME_CHARS = 200;

/** Id of a turn's answer within its turn. */
const ANSWER = 'answer';
/** Whether a turn of the session contains the message, so that only its marks need to be kept. */
const belongsToTurn = ({ id }: Message): boolean => id === ANSWER || /^earlier\.\d+\.(run\d+|answer)$/.test(id);
/** The number of the turn that a message comes from; 0 if it is unknown. */
const turnNumber = ({ id }: Message): number => Number(/^earlier\.(\d+)\./.exec(id)?.[1] ?? 0);
/** Whether a message is the request of an earlier turn. */
const isRequest = ({ id }: Message): boolean => /^earlier\.\d+\.request$/.test(id);

/** Renames a message and the messages that it refers to. */
function renamed(message: Message, idOf: (id: string) => string): Message {
  return {
    ...message,
    id: idOf(message.id),
    references: message.references.map(idOf),
    links: message.links.map((link) => ({ ...link, to: idOf(link.to) })),
  };
}

const textKey = ({ role, content }: Message): string => JSON.stringify([role, content]);

/** The order in which messages are kept. `marked` messages belong to turns: only their marks are kept. */
const RANKS = { fixed: 0, kept: 1, user: 2, insight: 3, marked: 4, other: 5 } as const;
const FIXED_TAGS: readonly string[] = ['pinned', 'critical'];
const KEPT_TAGS: readonly string[] = [KEPT_BY_USER, 'important', 'persist'];

function rankOf({ role, phase, tags, links, importance }: Message): number {
  if (tags.some((tag) => FIXED_TAGS.includes(tag))) return RANKS.fixed;
  if (tags.some((tag) => KEPT_TAGS.includes(tag))) return RANKS.kept;
  if (role === 'user') return RANKS.user;
  if (role === 'assistant' && phase === 'observation') return RANKS.insight;
  return links.length > 0 || tags.length > 0 || importance !== 0.5 ? RANKS.marked : RANKS.other;
}

/** Sorts messages by rank, and within a rank by age, the newest first. */
function byPrecedence(messages: readonly Message[]): readonly Message[] {
  return messages.toReversed().toSorted((one, other) => rankOf(one) - rankOf(other));
}

/**
 * Returns the turn to store in the session: the request, its answer, and what the session keeps. Files are only listed in the text. The
 * text is well-formed Unicode, because servers reject any other, and later requests contain it.
 */
export function finishedTurn(state: ChainState): SessionTurn {
  const { runId, request, attachments, results, answer, startedAtMs, session } = state;
  return wellFormed({
    runId,
    request: withLabels(request, attachments),
    runs: rememberedRuns(results.action?.memory ?? []),
    answer: answer?.answerText ?? '',
    status: answer?.status ?? 'degraded',
    atMs: startedAtMs,
    ...(session !== null && { number: session.turns + 1 }),
    ...keptAfter(state),
  });
}

/** Characters of the messages that a session keeps besides the user's. */
const KEPT_CHARS = 200_000;
/** Tags that concern one run only. */
const RUN_TAGS: readonly string[] = [REQUEST, KEPT_BY_DEFAULT, 'relevant', 'low_relevance'];

/**
 * Returns what a session keeps after a run: what it recalled, with the marks that the run added, and what is worth
 * keeping of the run itself. A run may let go of a message that does not concern its request; the session lets go only
 * of what the user removed, and over the limits of messages that are not the user's: insights first, then what is marked,
 * the oldest first.
 */
function keptAfter(state: ChainState): Pick<SessionTurn, 'kept' | 'removed' | 'droppedMessages'> {
  const { session, limits, answer } = state;
  const recalled = new Set((session?.messages ?? []).map(({ id }) => id));
  const visible = new Set(visibleMessages(state).map(({ id }) => id));
  const { messages, released } = withoutLosses(state);
  const byId = new Map(messages.map((message) => [message.id, message]));
  const idOf = (id: string): string => {
    const own = recalled.has(id) ? undefined : byId.get(id);
    // A link of an earlier run may refer to a message that no longer exists.
    if (own === undefined) return id;
    if (own.phase === 'yield' && own.content === answer?.answerText) return ANSWER;
    return id.startsWith(EARLIER) ? id.slice(EARLIER.length) : id;
  };
  const earlier = (session?.messages ?? []).filter(({ id }) => byId.has(id) || !released.has(id));
  const candidates = [
    ...(session?.omitted ?? []),
    ...earlier.map((message) => byId.get(message.id) ?? message),
    ...messages.filter((own) => !recalled.has(own.id) && (visible.has(own.id) || rankOf(own) <= RANKS.kept)),
  ].map((message) => renamed(withoutFiles(withoutRunTags(message)), idOf));
  const kept = new Set<Message>();
  const texts = new Set<string>();
  const dropped: string[] = [];
  let charsLeft = KEPT_CHARS;
  let droppedMessages = session?.droppedMessages ?? 0;
  let count = 0;
  for (const message of byPrecedence(candidates)) {
    const rank = rankOf(message);
    if (rank === RANKS.marked && belongsToTurn(message)) kept.add(message);
    // A request may repeat another. A message of the history that a caller passes with each request is one message.
    const isTurn = message.id === REQUEST || isRequest(message);
    if (rank >= RANKS.marked || (!isTurn && texts.has(textKey(message)))) continue;
    texts.add(textKey(message));
    if (message.role === 'user') kept.add(message);
    else if (count < limits.sessionMessages && message.content.length <= charsLeft) {
      kept.add(message);
      count += 1;
      charsLeft -= message.content.length;
    } else {
      droppedMessages += 1;
      // The turns before may still have it, but it counts once.
      if (message.id.startsWith(EARLIER) && !belongsToTurn(message)) dropped.push(message.id);
    }
  }
  const inOrder = candidates.filter((message) => kept.has(message));
  return {
    kept: inOrder.map((message) => (rankOf(message) === RANKS.marked ? { ...message, content: '' } : message)),
    removed: [...[...recalled].filter((id) => !byId.has(id) && released.has(id)), ...dropped],
    droppedMessages,
  };
}

/**
 * Returns the context without what Understanding did on its own: with every message and mark of the run, and what the
 * user decided. `released` are the messages that the user removed.
 */
function withoutLosses({ history, envelope }: ChainState) {
  const lasting = (operation: ContextOperation): boolean =>
    !isLoss(operation) || ['summarize', 'remove'].includes(String(operation.metadata['consent']));
  const operations = [...history.operations, ...envelope.operations].filter(lasting);
  const prunings = operations.filter(({ id, operation }) => operation === 'PRUNE' && !history.undone.includes(id));
  return {
    messages: contextOf({ ...history, operations }),
    released: new Set(prunings.map(({ target }) => target)),
  };
}

function withoutRunTags(message: Message): Message {
  return { ...message, tags: message.tags.filter((tag) => !RUN_TAGS.includes(tag)) };
}

function rememberedRuns(memory: readonly MemoryEntry[]): SessionTurn['runs'] {
  const runs = memory.flatMap((entry) => (entry.role === 'assistant' ? [entry] : []));
  return runs.slice(-KEPT_RUNS).map(({ capability, success, summary }) => boundedRun({ capability, success, summary }));
}

function boundedRun<Run extends SessionTurn['runs'][number]>(run: Run): Run {
  return { ...run, capability: clipped(run.capability, NAME_CHARS), summary: clipped(run.summary, SUMMARY_CHARS) };
}
