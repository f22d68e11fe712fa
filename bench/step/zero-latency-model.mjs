import { replyText } from './replies.mjs';

/** @typedef {import('./replies.mjs').Task} Task */

const DELTA_CHARS = 64;

/** About five deltas a reply, as one read of a socket would give them. */
export async function* textDeltas(/** @type {Task} */ task, /** @type {number} */ cycle) {
  const text = replyText(task, cycle);
  for (let at = 0; at < text.length; at += DELTA_CHARS) yield text.slice(at, at + DELTA_CHARS);
}

/**
 * A model that answers at once: no timer, no network. It counts the cycles by the calls of Action.
 *
 * @param {(cycle: number) => void} [onCycle] Called at the beginning of each cycle.
 */
export function zeroLatencyModel(onCycle = () => {}) {
  let cycle = 0;
  return {
    id: 'zero-latency',
    contextWindowTokens: 128_000,
    async *stream(/** @type {{ task: Task }} */ { task }) {
      if (task === 'action') {
        cycle += 1;
        onCycle(cycle);
      }
      for await (const text of textDeltas(task, cycle)) yield { type: 'text-delta', text };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 800, outputTokens: 75, estimated: false } };
    },
  };
}
