import type { MemoryEntry } from '../contracts/capability.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { ContextOperation } from '../contracts/context.ts';
import type { Message } from '../contracts/message.ts';
import type { SessionTurn } from '../contracts/session.ts';
import { clipped } from '../text/clip.ts';
import { withLabels, withoutFiles } from './attachments.ts';
import { contextOf, isLoss, KEPT_BY_DEFAULT, KEPT_BY_USER, REQUEST } from './context.ts';
import { EARLIER, visibleMessages } from './progress.ts';

/** The newest runs that a turn keeps: bounds the size of a turn. */
export const KEPT_RUNS = 64;
const SUMMARY_CHARS = 500;
const NAME_CHARS = 200;

/** Id of a turn's answer within its turn. */
export const ANSWER = 'answer';
/** Whether a turn of the session contains the message, so that only its marks need to be kept. */
const belongsToTurn = ({ id }: Message): boolean => id === ANSWER || /^earlier\.\d+\.(run\d+|answer)$/.test(id);
/** The number of the turn that a message comes from; 0 if it is unknown. */
export const turnNumber = ({ id }: Message): number => Number(/^earlier\.(\d+)\./.exec(id)?.[1] ?? 0);
/** Whether a message is the request of an earlier turn. */
export const isRequest = ({ id }: Message): boolean => /^earlier\.\d+\.request$/.test(id);

/** Renames a message and the messages that it refers to. */
export function renamed(message: Message, idOf: (id: string) => string): Message {
  return {
    ...message,
    id: idOf(message.id),
    references: message.references.map(idOf),
    links: message.links.map((link) => ({ ...link, to: idOf(link.to) })),
  };
}

/** Equal for messages that say the same. */
export const textKey = ({ role, content }: Message): string => JSON.stringify([role, content]);

/** The order in which messages are kept. `marked` messages belong to turns: only their marks are kept. */
export const RANKS = { fixed: 0, kept: 1, user: 2, insight: 3, marked: 4, other: 5 } as const;
const FIXED_TAGS: readonly string[] = ['pinned', 'critical'];
const KEPT_TAGS: readonly string[] = [KEPT_BY_USER, 'important', 'persist'];

export function rankOf({ role, phase, tags, links, importance }: Message): number {
  if (tags.some((tag) => FIXED_TAGS.includes(tag))) return RANKS.fixed;
  if (tags.some((tag) => KEPT_TAGS.includes(tag))) return RANKS.kept;
  if (role === 'user') return RANKS.user;
  if (role === 'assistant' && phase === 'observation') return RANKS.insight;
  return links.length > 0 || tags.length > 0 || importance !== 0.5 ? RANKS.marked : RANKS.other;
}

/** Sorts messages by rank, and within a rank by age, the newest first. */
export function byPrecedence(messages: readonly Message[]): readonly Message[] {
  return messages.toReversed().toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Returns the turn to store in the session: the request, its answer, and what the session keeps. Files are only listed in the text. */
export function turnOf(state: ChainState): SessionTurn {
  const { runId, request, attachments, results, answer, startedAtMs, session } = state;
  return {
    runId,
    request: withLabels(request, attachments),
    runs: rememberedRuns(results.action?.memory ?? []),
    answer: answer?.answerText ?? '',
    status: answer?.status ?? 'degraded',
    atMs: startedAtMs,
    ...(session !== null && { number: session.turns + 1 }),
    ...keptAfter(state),
  };
}

/** Characters of the messages that a session keeps. */
const KEPT_CHARS = 200_000;
/** Tags that concern one run only. */
const RUN_TAGS: readonly string[] = [REQUEST, KEPT_BY_DEFAULT, 'relevant', 'low_relevance'];

/**
 * Returns what a session keeps after a run: what it recalled, with the marks that the run added, and what is worth
 * keeping of the run itself. A run may let go of a message that does not concern its request; the session lets go only
 * of what the user removed. Over the limits, insights are dropped first, then the user's messages, then what is
 * marked; of each the oldest.
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
  let charsLeft = KEPT_CHARS;
  let droppedMessages = session?.droppedMessages ?? 0;
  let count = 0;
  for (const message of byPrecedence(candidates)) {
    const rank = rankOf(message);
    if (rank === RANKS.marked && belongsToTurn(message)) kept.add(message);
    if (rank >= RANKS.marked || (message.role !== 'user' && texts.has(textKey(message)))) continue;
    texts.add(textKey(message));
    if (count < limits.sessionMessages && message.content.length <= charsLeft) {
      kept.add(message);
      count += 1;
      charsLeft -= message.content.length;
    } else if (message.id !== REQUEST && !isRequest(message)) droppedMessages += 1;
  }
  const inOrder = candidates.filter((message) => kept.has(message));
  return {
    kept: inOrder.map((message) => (rankOf(message) === RANKS.marked ? { ...message, content: '' } : message)),
    removed: [...recalled].filter((id) => !byId.has(id) && released.has(id)),
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

/** Returns a run with its texts shortened. */
export function boundedRun<Run extends SessionTurn['runs'][number]>(run: Run): Run {
  return { ...run, capability: clipped(run.capability, NAME_CHARS), summary: clipped(run.summary, SUMMARY_CHARS) };
}
