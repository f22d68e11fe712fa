/**
 * `firstText`, `halfText`: microseconds until the first text and half of the text of the answer had arrived; null if it is not streamed.
 *
 * @typedef {import('./server.mjs').Counts & { microseconds: number, firstText: number | null, halfText: number | null }} Answered
 */

/**
 * Answers the question once: measures the time and returns it with the calls and tokens that the server counted. Throws if the answer is
 * another text.
 *
 * @param {number} port
 * @param {(onText: (piece: string) => void) => Promise<string>} answer Calls `onText` for each piece of the answer.
 * @param {string} expected
 * @returns {Promise<Answered>}
 */
export async function answered(port, answer, expected) {
  await countsOf(port);
  /** @type {number | null} */
  let firstText = null;
  /** @type {number | null} */
  let halfText = null;
  let chars = 0;
  const startedAt = performance.now();
  const text = await answer((piece) => {
    const atUs = (performance.now() - startedAt) * 1_000;
    chars += piece.length;
    firstText ??= atUs;
    if (chars >= expected.length / 2) halfText ??= atUs;
  });
  const microseconds = (performance.now() - startedAt) * 1_000;
  if (text !== expected) throw new Error(`expected the answer of the server; received ${JSON.stringify(text)}`);
  return { ...(await countsOf(port)), microseconds, firstText, halfText };
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
