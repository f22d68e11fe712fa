import { race } from '../race.mjs';
import { against, median, row } from '../row.mjs';

/** @typedef {{ microseconds: number, share: number }} Sample */
/** @typedef {{ peak: number, weight: number, share: number }} HeapSample */

const CONTENDERS = /** @type {Record<string, { file: string, sizes: readonly number[], isSlow?: boolean }>} */ ({
  PostChain: { file: 'postchain.mjs', sizes: [20, 100, 1_000] },
  jsonriver: { file: '../stream/jsonriver.mjs', sizes: [20, 100, 1_000] },
  parsePartialJson: { file: '../stream/parse-partial-json.mjs', sizes: [20, 100], isSlow: true },
  'AI SDK object stream': { file: 'object-stream.mjs', sizes: [20, 100], isSlow: true },
  'zod-stream': { file: 'zod-stream.mjs', sizes: [20, 100], isSlow: true },
});
const HEAP_SIZES = [100, 1_000, 4_000];

const entrants = Object.entries(CONTENDERS).flatMap(([name, { file, sizes, isSlow }]) =>
  sizes.map((kilobytes) => ({
    name: nameOf(name, kilobytes),
    module: new URL(file, import.meta.url),
    options: { chars: kilobytes * 1_000 },
    ...(isSlow && { rounds: kilobytes === 20 ? 3 : 2, warmUps: kilobytes === 20 ? 1 : 0 }),
  })),
);
const heapEntrants = HEAP_SIZES.map((kilobytes) => ({
  name: nameOf('heap', kilobytes),
  module: new URL('heap.mjs', import.meta.url),
  options: { chars: kilobytes * 1_000 },
}));

/** Measures the cost of one typed object that streams in chunks of four characters, with the partial values read. */
export async function measureStructured() {
  /** @type {Record<string, Sample[]>} */
  const times = await race(entrants, { rounds: 9, warmUps: 4 });
  /** @type {Record<string, HeapSample[]>} */
  const heaps = await race(heapEntrants, { rounds: 3, warmUps: 1 });
  const shares = Object.entries(times).filter(([name]) => name.startsWith('PostChain'));
  const heapSamples = HEAP_SIZES.flatMap((kilobytes) => heaps[nameOf('heap', kilobytes)] ?? []);
  return {
    title: 'one typed object in chunks of four characters, partial values read',
    rows: [...timeRows(times), ...heapRows(heaps)],
    facts: {
      'partial values read per chunk, PostChain': median(shares.flatMap(([, all]) => all.map(({ share }) => share))),
      'heap bytes per character of the parsed value': median(heapSamples.map(({ weight }) => weight)),
    },
  };
}

/** @param {Record<string, Sample[]>} times */
function timeRows(times) {
  const rowOf = (/** @type {string} */ contender, /** @type {number} */ kilobytes) => {
    const name = nameOf(contender, kilobytes);
    return row(
      name,
      (times[name] ?? []).map(({ microseconds }) => microseconds),
    );
  };
  const large = rowOf('PostChain', 100);
  return [
    ...[20, 100].flatMap((kilobytes) =>
      Object.keys(CONTENDERS).map((contender) => {
        const bounds = contender === 'PostChain' && kilobytes === 100 ? { limit: 1 / 100 } : {};
        return against(rowOf(contender, kilobytes), rowOf('parsePartialJson', kilobytes), bounds);
      }),
    ),
    against(large, rowOf('AI SDK object stream', 100), { limit: 1 }),
    against(large, rowOf('zod-stream', 100), { limit: 1 }),
    against(rowOf('PostChain', 1_000), large, { limit: 12 }),
    against(rowOf('jsonriver', 1_000), rowOf('jsonriver', 100)),
  ];
}

/** @param {Record<string, HeapSample[]>} heaps */
function heapRows(heaps) {
  const rowOf = (/** @type {number} */ kilobytes) =>
    row(
      `peak heap per character, ${kilobytes} kB`,
      (heaps[nameOf('heap', kilobytes)] ?? []).map(({ peak }) => peak),
      'bytes',
    );
  return [rowOf(100), rowOf(1_000), against(rowOf(4_000), rowOf(1_000), { limit: 1.5 })];
}

/**
 * @param {string} contender
 * @param {number} kilobytes
 */
function nameOf(contender, kilobytes) {
  return `${contender}, ${kilobytes} kB`;
}
