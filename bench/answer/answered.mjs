/** @typedef {import('./server.mjs').Counts & { microseconds: number }} Answered */

/**
 * Answers the question once: measures the time and returns it with the calls and tokens that the server counted. Throws if the answer is
 * another text.
 *
 * @param {number} port
 * @param {() => Promise<string>} answer
 * @param {string} expected
 * @returns {Promise<Answered>}
 */
export async function answered(port, answer, expected) {
  await countsOf(port);
  const startedAt = performance.now();
  const text = await answer();
  const microseconds = (performance.now() - startedAt) * 1_000;
  if (text !== expected) throw new Error(`expected the answer of the server; received ${JSON.stringify(text)}`);
  return { ...(await countsOf(port)), microseconds };
}

/**
 * Returns what the server counted since the last time, and starts a new run.
 *
 * @param {number} port
 */
async function countsOf(port) {
  const response = await fetch(`http://127.0.0.1:${port}/counts`);
  return /** @type {import('./server.mjs').Counts} */ (await response.json());
}
