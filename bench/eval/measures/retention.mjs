import { keptByPolicy, retentionOf, shareKept } from './kept.mjs';
import { message } from './messages.mjs';

/** The share of the limit that a context may fill, as this benchmark defines it. */
const WINDOW_SHARE = 0.7;
/** Token estimate: characters / 4, without the speaker name. */
const tokensOf = (/** @type {string} */ text) => text.length / 4;

const LIMITS = [
  { name: 'own_size', limit: null, search: null, roles: 0.85 },
  { name: '16000', limit: 16_000, search: 0.95, roles: 0.85 },
  { name: '8000', limit: 8_000, search: 0.88, roles: null },
];

/**
 * Long dialogues between two people: do the turns that answer a question survive a token budget, as search results, and as
 * user and assistant turns?
 */
export const measure = {
  file: 'locomo_retention',
  /**
   * @param {readonly any[]} rows
   * @param {typeof import('postchain/machines')} policies
   */
  run(rows, policies) {
    const dialogues = rows.map((row, at) => ({
      ...row,
      source: row.id ?? `dialogue ${at + 1}`,
      ...contextOf(row.messages),
    }));
    return LIMITS.flatMap(({ name, limit, search, roles }) => {
      const questions = dialogues.flatMap(({ source, queries, messages, tokens, size }) =>
        queries
          .filter((/** @type {any} */ query) => query.category !== 5 && query.gold.length > 0)
          .map((/** @type {any} */ { question, gold }) => ({
            source,
            request: question,
            gold,
            messages,
            tokens,
            tokensAllowed: WINDOW_SHARE * (limit ?? size),
          })),
      );
      const turns = questions.map(asConversation);
      return [
        { measure: `retention_dialogue_${name}`, ...retentionOf(questions, policies), atLeast: search },
        {
          measure: `retention_roles_${name}`,
          ...retentionOf(turns, policies),
          atLeast: roles,
          detail: { 'if the user keeps everything': shareKept(turns, (turn) => keptByPolicy(turn, policies, false)) },
        },
      ];
    });
  },
};

/**
 * Returns the question with its turns as a conversation: the first speaker is the user. User turns are never removed without
 * consent, so only the gold turns of the other speaker count.
 *
 * @param {import('./kept.mjs').Question & { readonly source: string }} question
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
