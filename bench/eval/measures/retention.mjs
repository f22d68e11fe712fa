import { bm25, keptByPolicy, keptByScore, shareKept } from './kept.mjs';
import { message } from './messages.mjs';

/** The share of the limit that a context may fill, as this benchmark defines it. */
const WINDOW_SHARE = 0.7;
/** Token estimate: characters / 4, without the speaker name. */
const tokensOf = (/** @type {string} */ text) => text.length / 4;

const LIMITS = /** @type {const} */ ([
  { name: 'own_size', limit: null, atLeast: null },
  { name: '16000', limit: 16_000, atLeast: 0.93 },
  { name: '8000', limit: 8_000, atLeast: 0.87 },
]);

/** Long dialogues between two people: do the turns that answer a question survive a token budget? */
export const measure = {
  file: 'locomo_retention',
  /**
   * @param {readonly any[]} rows
   * @param {typeof import('postchain/machines')} policies
   */
  run(rows, policies) {
    const dialogues = rows.map((row) => ({ ...row, ...contextOf(row.messages) }));
    return LIMITS.map(({ name, limit, atLeast }) => {
      const questions = dialogues.flatMap(({ queries, messages, tokens, size }) =>
        queries
          .filter((/** @type {any} */ query) => query.category !== 5 && query.gold.length > 0)
          .map((/** @type {any} */ { question, gold }) => ({
            request: question,
            gold,
            messages,
            tokens,
            tokensAllowed: WINDOW_SHARE * (limit ?? size),
          })),
      );
      return {
        measure: `retention_dialogue_${name}`,
        value: shareKept(questions, (question) => keptByPolicy(question, policies)),
        unit: 'gold turns kept',
        atLeast,
        rows: questions.length,
        baselines: {
          'the newest': shareKept(questions, (question) =>
            keptByScore(
              question,
              question.messages.map((_, at) => at),
            ),
          ),
          BM25: shareKept(questions, (question) => keptByScore(question, bm25(question))),
        },
        detail: {
          'turns as user and assistant, whole': shareKept(questions.map(asConversation), (question) =>
            keptByPolicy(question, policies),
          ),
          'turns as user and assistant, whole or as a summary': shareKept(questions.map(asConversation), (question) =>
            keptByPolicy(question, policies, ['PRUNE']),
          ),
        },
      };
    });
  },
};

/**
 * Returns the question with its turns as a conversation: the first speaker is the user. User turns are never removed without
 * consent, so only the gold turns of the other speaker count.
 *
 * @param {import('./kept.mjs').Question} question
 */
function asConversation(question) {
  const [first] = question.messages;
  const speaker = first?.content.split(':')[0];
  const messages = question.messages.map((turn) => {
    const role =
      turn.content.split(':')[0] === speaker ? /** @type {const} */ ('user') : /** @type {const} */ ('assistant');
    return { ...turn, role, source: null };
  });
  const others = new Set(messages.filter(({ role }) => role === 'assistant').map(({ id }) => id));
  return { ...question, messages, gold: question.gold.filter((id) => others.has(id)) };
}

/** @param {readonly any[]} turns */
function contextOf(turns) {
  const messages = turns.map(({ id, speaker, session, text }, at) =>
    message({
      id,
      content: `${speaker}: ${text}`,
      source: { path: `session ${session}`, startLine: at + 1, endLine: at + 1 },
    }),
  );
  const tokens = turns.map(({ text }) => tokensOf(text));
  return { messages, tokens, size: tokens.reduce((sum, one) => sum + one, 0) };
}
