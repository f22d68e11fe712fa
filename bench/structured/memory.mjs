import { strict as assert } from 'node:assert';
import { collectGarbage } from '../growth/collect-garbage.mjs';
import { createReader, longReply } from '../stream/text.mjs';

const LOOK_EVERY = 50;

/**
 * Measures the memory that several replies take which one process reads at once, above its idle memory after a small reply: the peak of
 * the resident set, and of the heap, looked at with every fiftieth partial value. Both include garbage. The text exists before and does
 * not count. Reading stops at `stopAtBytes`, so that a contender does not use up the machine's memory.
 *
 * @param {{ contender: string, chars: number, streams: number, stopAtBytes: number }} options
 */
export async function measure({ contender, chars, streams, stopAtBytes }) {
  /** @type {{ read: (text: string, reader: { read(value: unknown): void }) => Promise<unknown> }} */
  const { read } = await import(new URL(contender, import.meta.url).href);
  const small = longReply(2_000);
  assert.deepEqual(await read(small, createReader()), JSON.parse(small));
  const text = longReply(chars);
  const expected = JSON.parse(text);
  collectGarbage();
  const idle = process.memoryUsage();
  const earlierPeak = process.resourceUsage().maxRSS * 1024;
  let heap = 0;
  let resident = 0;
  let partials = 0;
  const look = () => {
    const { heapUsed, rss } = process.memoryUsage();
    heap = Math.max(heap, heapUsed - idle.heapUsed);
    resident = Math.max(resident, rss - idle.rss);
  };
  const isOver = () => resident >= stopAtBytes;
  const reading = async () => {
    const reader = createReader();
    const value = await read(text, {
      read(partial) {
        reader.read(partial);
        partials += 1;
        if (partials % LOOK_EVERY === 0) look();
        if (isOver()) throw new Error('too much memory');
      },
    });
    assert.deepEqual(value, expected);
  };
  const ended = await Promise.allSettled(Array.from({ length: streams }, reading));
  look();
  const failed = ended.find(({ status }) => status === 'rejected');
  if (failed !== undefined && !isOver()) throw /** @type {PromiseRejectedResult} */ (failed).reason;
  const peak = process.resourceUsage().maxRSS * 1024;
  // The system keeps the peak of the whole process: it counts only if it grew.
  if (peak > earlierPeak) resident = peak - idle.rss;
  return { heap, resident, partials, stopped: failed !== undefined };
}
