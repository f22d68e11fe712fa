import { openaiModel } from '../../../dist/openai.js';
import { message } from './messages.mjs';

const MESSAGES = 10_000;
const WORDS = 77;

/**
 * The time to evaluate a context of 10,000 messages and about a million tokens: with and without counting the tokens with a real
 * tokenizer, and again after one message is added. About a third of the messages contain a word of the request.
 */
export const measure = {
  file: null,
  /**
   * @param {readonly any[]} _rows
   * @param {typeof import('postchain/machines')} policies
   */
  async run(_rows, policies) {
    const { countTokens } = openaiModel({ model: 'gpt-4o', apiKey: 'none' });
    const counted = [];
    const cold = [];
    const warm = [];
    for (const seed of [1, 2, 3]) {
      const random = mulberry32(seed);
      const messages = Array.from({ length: MESSAGES }, (_, at) => aMessage(`m${at}`, random));
      const startedAt = performance.now();
      await countTokens(messages.map(({ content }) => content));
      const tokensMs = performance.now() - startedAt;
      cold.push(milliseconds(() => evaluate(messages, policies)));
      counted.push(tokensMs + (cold.at(-1) ?? 0));
      for (let more = 0; more < 5; more += 1) {
        messages.push(aMessage(`n${more}`, random));
        warm.push(milliseconds(() => evaluate(messages, policies)));
      }
    }
    return [
      {
        measure: 'evaluation_with_tokens_cold_ms',
        value: median(counted),
        unit: 'ms, 10,000 messages, 1 M tokens, tokens counted',
        atMost: 1_000,
        rows: counted.length,
        detail: { 'first, including loading the vocabulary': Math.round(counted[0] ?? 0) },
      },
      {
        measure: 'evaluation_cold_ms',
        value: median(cold),
        unit: 'ms, 10,000 messages, 1 M tokens',
        atMost: 1_000,
        rows: cold.length,
      },
      {
        measure: 'evaluation_one_more_ms',
        value: median(warm),
        unit: 'ms, one more message',
        atMost: 50,
        rows: warm.length,
      },
    ];
  },
};

const ROLES = /** @type {const} */ (['search', 'assistant', 'search', 'user']);

/**
 * @param {string} id
 * @param {() => number} random
 */
function aMessage(id, random) {
  const words = Array.from({ length: WORDS }, () => aWord(random));
  const content = `${words.join(' ')}.`;
  const role = ROLES[Math.floor(random() * ROLES.length)] ?? 'search';
  return message({ id, role, content, references: random() < 0.2 ? [`m${Math.floor(random() * MESSAGES)}`] : [] });
}

/** Returns a word from a Zipf distribution, as in natural language; one in ten starts with a capital letter. */
function aWord(/** @type {() => number} */ random) {
  const word = wordOf(Math.floor(40_000 ** random()));
  return random() < 0.1 ? `${word.charAt(0).toUpperCase()}${word.slice(1)}` : word;
}

/** Returns the word of a rank; a low rank is frequent. */
function wordOf(/** @type {number} */ rank) {
  const word = rank.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? 'q');
  return word.length < 3 ? word : `${word}ing`;
}

/**
 * @param {readonly import('postchain/machines').Message[]} messages
 * @param {typeof import('postchain/machines')} policies
 */
function evaluate(messages, { planRetention, thresholdsSchema }) {
  planRetention({
    messages,
    tokens: messages.map(({ content }) => content.length / 4),
    similarity: null,
    request: `Which ${[20, 300, 4_000].map(wordOf).join(' or ')} was opened before the bridge, and by whom?`,
    cycle: 1,
    nowMs: 0,
    step: 1,
    mayAsk: true,
    assessments: [],
    thresholds: thresholdsSchema.parse({}),
    maxMessages: MESSAGES * 2,
    tokensAllowed: 700_000,
  });
}

/** @param {() => void} work */
function milliseconds(work) {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/** @param {readonly number[]} times */
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** A seeded random number generator (Tommy Ettinger, public domain). */
function mulberry32(/** @type {number} */ seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
