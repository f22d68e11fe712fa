/** @typedef {import('postchain/machines').Message} Message */

/**
 * A question about a context, with the messages that answer it.
 *
 * @typedef {object} Question
 * @property {string} request
 * @property {readonly string[]} gold Ids of the messages that answer it.
 * @property {readonly Message[]} messages
 * @property {readonly number[]} tokens Of each message, in order.
 * @property {number} tokensAllowed
 */

/**
 * Returns the ids of the messages that PostChain's retention policy keeps whole, with default settings. User messages are
 * kept: operations on them need consent.
 *
 * @param {Question} question
 * @param {typeof import('postchain/machines')} policies
 * @param {boolean} [mayAsk] Whether the plan may ask the user to remove some of their messages. If not, it assumes a refusal.
 * @returns {ReadonlySet<string>}
 */
export function keptByPolicy(
  { request, messages, tokens, tokensAllowed },
  { planRetention, thresholdsSchema },
  mayAsk = true,
) {
  const { operations } = planRetention({
    messages,
    tokens,
    similarity: null,
    request,
    cycle: 1,
    nowMs: 0,
    step: 1,
    mayAsk,
    assessments: [],
    thresholds: thresholdsSchema.parse({}),
    maxMessages: messages.length,
    tokensAllowed,
  });
  const gone = new Set(
    operations
      .filter(({ operation, metadata }) => /PRUNE|TRANSFORM/.test(operation) && metadata['requiresConsent'] !== true)
      .map(({ target }) => target),
  );
  return new Set(messages.filter(({ id }) => !gone.has(id)).map(({ id }) => id));
}

/**
 * Returns the ids of the user messages, and of the others with the best scores that fit into the rest of the allowed tokens.
 *
 * @param {Question} question
 * @param {readonly number[]} scores
 * @returns {ReadonlySet<string>}
 */
export function keptByScore({ messages, tokens, tokensAllowed }, scores) {
  const order = messages.map((_, at) => at).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || b - a);
  const users = messages.map(({ role }) => role === 'user');
  const kept = new Set(messages.filter((_, at) => users[at]).map(({ id }) => id));
  let sum = tokens.reduce((all, weight, at) => all + (users[at] ? weight : 0), 0);
  for (const at of order) {
    const weight = tokens[at] ?? 0;
    if (users[at] || sum + weight > tokensAllowed) continue;
    sum += weight;
    kept.add(messages[at]?.id ?? '');
  }
  return kept;
}

/**
 * The baseline: BM25 scores (k1 = 1.2, b = 0.75) over lower-cased words.
 *
 * @param {Question} question
 * @returns {readonly number[]}
 */
export function bm25({ request, messages }) {
  const texts = messages.map(wordsOf);
  const mean = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const terms = [...new Set(words(request))];
  const weights = terms.map((word) => {
    const having = texts.filter(({ counts }) => counts.has(word)).length;
    return Math.log(1 + (texts.length - having + 0.5) / (having + 0.5));
  });
  return texts.map(({ counts, length }) =>
    terms.reduce((sum, word, at) => {
      const times = counts.get(word) ?? 0;
      return sum + ((weights[at] ?? 0) * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * length) / mean));
    }, 0),
  );
}

/** @param {string} text */
const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** @type {WeakMap<Message, { counts: Map<string, number>, length: number }>} */
const known = new WeakMap();

/** @param {Message} message */
function wordsOf(message) {
  const read = known.get(message);
  if (read !== undefined) return read;
  const all = words(message.content);
  const counts = new Map();
  for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  const made = { counts, length: all.length };
  known.set(message, made);
  return made;
}

/**
 * Returns the share of gold messages that are kept over all questions, with baselines and by source.
 *
 * @param {readonly (Question & { readonly source: string })[]} questions
 * @param {typeof import('postchain/machines')} policies
 */
export function retentionOf(questions, policies) {
  const sources = [...new Set(questions.map(({ source }) => source))];
  return {
    ...measured(questions, policies),
    unit: 'gold messages kept whole',
    folds: Object.fromEntries(
      sources.map((source) => [
        source,
        measured(
          questions.filter((question) => question.source === source),
          policies,
        ),
      ]),
    ),
  };
}

/**
 * @param {readonly Question[]} questions
 * @param {typeof import('postchain/machines')} policies
 */
function measured(questions, policies) {
  const newest = (/** @type {Question} */ { messages }) => messages.map((_, at) => at);
  return {
    value: shareKept(questions, (question) => keptByPolicy(question, policies)),
    rows: questions.length,
    baselines: {
      'the newest': shareKept(questions, (question) => keptByScore(question, newest(question))),
      BM25: shareKept(questions, (question) => keptByScore(question, bm25(question))),
    },
  };
}

/**
 * Returns the share of gold messages that are kept, over all questions.
 *
 * @param {readonly Question[]} questions
 * @param {(question: Question) => ReadonlySet<string>} keep
 */
export function shareKept(questions, keep) {
  let kept = 0;
  let gold = 0;
  for (const question of questions) {
    const left = keep(question);
    kept += question.gold.filter((id) => left.has(id)).length;
    gold += question.gold.length;
  }
  return kept / gold;
}
