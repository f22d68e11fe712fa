import { PATTERNS } from '../patterns.mjs';

/**
 * Runs a program that uses AI SDK, which stores nothing: a run that was interrupted starts from its beginning.
 *
 * @param {string} pattern
 */
export async function host(pattern) {
  const { run } = await import(`../peers/${pattern}.ai-sdk.mjs`);
  return async (/** @type {string} */ _id, /** @type {unknown} */ input) => {
    const output = await run(input, () => true);
    return PATTERNS[pattern]?.resultOf({ output, value: undefined });
  };
}
