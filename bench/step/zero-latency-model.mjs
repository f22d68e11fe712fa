import { replyText, schemas } from './replies.mjs';

/** @typedef {import('./replies.mjs').Task} Task */

const DELTA_CHARS = 64;

/** Yields about five deltas per reply, each about the size of one socket read. */
export async function* textDeltas(/** @type {Task} */ task, /** @type {number} */ cycle) {
  const text = replyText(task, cycle);
  for (let at = 0; at < text.length; at += DELTA_CHARS) yield text.slice(at, at + DELTA_CHARS);
}

/**
 * Reads the streamed reply of a phase and returns its validated value.
 *
 * @param {keyof typeof schemas} phase
 * @param {number} cycle
 */
export async function readReply(phase, cycle) {
  let text = '';
  for await (const delta of textDeltas(phase, cycle)) text += delta;
  return schemas[phase].parse(JSON.parse(text));
}

/**
 * Returns a model that answers immediately, with no timer and no network. It counts cycles by the calls for Experience: Action calls the
 * model only in the first cycle.
 *
 * @param {(cycle: number) => void} [onCycle] Called at the Experience call of each cycle.
 */
export function zeroLatencyModel(onCycle = () => {}) {
  let cycle = 0;
  return {
    id: 'zero-latency',
    contextWindowTokens: 128_000,
    async *stream(/** @type {{ task: Task }} */ { task }) {
      if (task === 'experience') {
        cycle += 1;
        onCycle(cycle);
      }
      for await (const text of textDeltas(task, Math.max(1, cycle))) yield { type: 'text-delta', text };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 800, outputTokens: 75, estimated: false } };
    },
  };
}
