/**
 * `firstText`: microseconds until the first text of the answer arrived; null if the answer is not streamed.
 *
 * @typedef {import('./server.mjs').Counts & { microseconds: number, firstText: number | null }} Answered
 */

/**
 * Answers the question once: measures the time and returns it with the calls and tokens that the server counted. Throws if the answer is
 * another text.
 *
 * @param {number} port
 * @param {(onText: () => void) => Promise<string>} answer Calls `onText` for each piece of the answer.
 * @param {string} expected
 * @returns {Promise<Answered>}
 */
export async function answered(port, answer, expected) {
  await countsOf(port);
  /** @type {number | null} */
  let firstText = null;
  const startedAt = performance.now();
  const text = await answer(() => {
    firstText ??= (performance.now() - startedAt) * 1_000;
  });
  const microseconds = (performance.now() - startedAt) * 1_000;
  if (text !== expected) throw new Error(`expected the answer of the server; received ${JSON.stringify(text)}`);
  return { ...(await countsOf(port)), microseconds, firstText };
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
