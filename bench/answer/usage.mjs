import { textOf } from './replies.mjs';

/** @typedef {import('./replies.mjs').ChatRequest} ChatRequest */

export const CHARS_PER_TOKEN = 4;

/** A provider reuses a prefix of at least this many tokens, in steps. */
const LEAST_CACHED_TOKENS = 1_024;
const CACHED_STEP_TOKENS = 128;

/**
 * Returns the prompt of a request as text: the tools and the schema of the reply, which a provider puts first, then the messages.
 *
 * @param {ChatRequest} request
 */
export function promptOf({ messages, tools, response_format: format }) {
  return [
    ...(tools ?? []).map((tool) => JSON.stringify(tool)),
    ...(format?.json_schema === undefined ? [] : [JSON.stringify(format.json_schema.schema)]),
    ...messages.map((message) => {
      const calls = message.tool_calls === undefined ? '' : JSON.stringify(message.tool_calls);
      return `${message.role}\n${textOf(message)}${calls}`;
    }),
  ].join('\n');
}

/** @param {string} text */
export const tokensOf = (text) => Math.ceil(text.length / CHARS_PER_TOKEN);

/**
 * Returns how many characters two texts have in common at their beginning.
 *
 * @param {string} one
 * @param {string} other
 */
export function commonPrefix(one, other) {
  const most = Math.min(one.length, other.length);
  let chars = 0;
  while (chars < most && one.charCodeAt(chars) === other.charCodeAt(chars)) chars += 1;
  return chars;
}

/**
 * Returns the tokens of a prompt that a provider reads from its cache, by OpenAI's documented rule: the longest prefix that an earlier
 * prompt has too, of at least 1,024 tokens, in steps of 128.
 *
 * @param {string} prompt
 * @param {readonly string[]} earlier
 */
export function cachedTokens(prompt, earlier) {
  const chars = Math.max(0, ...earlier.map((one) => commonPrefix(prompt, one)));
  const tokens = Math.floor(chars / CHARS_PER_TOKEN);
  return tokens < LEAST_CACHED_TOKENS ? 0 : Math.floor(tokens / CACHED_STEP_TOKENS) * CACHED_STEP_TOKENS;
}
