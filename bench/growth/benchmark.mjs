import { race } from '../race.mjs';
import { against, row } from '../row.mjs';

/** @typedef {{ early: number, late: number } & { journal: number, rest: number, entries: number }} Sample */

const timing = { cycles: 2_100, windows: { early: [50, 150], late: [1_950, 2_050] } };
const weighing = { from: 100, to: 2_000 };

/** Compares the cost of a step late in a run with one early in it, and measures the heap that the run retains. */
export async function measureGrowth() {
  /** @type {Record<string, Sample[]>} */
  const { time = [], heap = [] } = await race(
    [
      { name: 'time', module: new URL('postchain.mjs', import.meta.url), options: timing },
      { name: 'heap', module: new URL('heap.mjs', import.meta.url), options: weighing, rounds: 1, warmUps: 0 },
    ],
    { rounds: 7, warmUps: 1 },
  );
  const samples = (/** @type {Sample[]} */ all, /** @type {keyof Sample} */ key) => all.map((sample) => sample[key]);
  const early = row('a step at cycle 100 (50 to 150)', samples(time, 'early'));
  const late = row('a step at cycle 2,000 (1,950 to 2,050)', samples(time, 'late'));
  return {
    title: `one run of ${timing.cycles} cycles, measured at two points`,
    rows: [
      early,
      against(late, early, { limit: 1.3 }),
      row('heap per cycle, journal', samples(heap, 'journal'), 'bytes'),
      row('heap per cycle, without the journal', samples(heap, 'rest'), 'bytes'),
    ],
    facts: { 'journal entries per cycle': heap[0]?.entries ?? 0 },
  };
}
