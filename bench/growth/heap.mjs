import { assertDone, startLongRun } from '../step/long-run.mjs';
import { collectGarbage } from './collect-garbage.mjs';

/**
 * Measures how many bytes of heap a live run gains per cycle, and how many of them belong to its journal. The heap is measured at two
 * cycles. Then everything except the journal entries recorded in between is released, and those are measured.
 *
 * @param {{ from: number, to: number }} options
 */
export async function measure({ from, to }) {
  const held = await heldAt(from, to);
  const withEntries = heapBytes();
  const entries = held.between.length;
  held.between.length = 0;
  const journal = withEntries - heapBytes();
  const cycles = to - from;
  return { journal: journal / cycles, rest: (held.growth - journal) / cycles, entries: entries / cycles };
}

/**
 * @param {number} from
 * @param {number} to
 */
async function heldAt(from, to) {
  let journal = /** @type {readonly unknown[]} */ ([]);
  const marks = { from: { heap: 0, entries: 0 }, to: { heap: 0, entries: 0 } };
  const run = startLongRun(to + 1, (cycle) => {
    if (cycle === from) marks.from = { heap: heapBytes(), entries: journal.length };
    if (cycle === to) marks.to = { heap: heapBytes(), entries: journal.length };
  });
  journal = run.entries;
  await assertDone(run, to + 1);
  return { growth: marks.to.heap - marks.from.heap, between: journal.slice(marks.from.entries, marks.to.entries) };
}

function heapBytes() {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
