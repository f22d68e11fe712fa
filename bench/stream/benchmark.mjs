import { race } from '../race.mjs';
import { against, median, row } from '../row.mjs';

/** @typedef {{ microseconds: number, share: number }} Sample */

const SIZES = [20, 100, 200];
const CONTENDERS = /** @type {const} */ ({
  PostChain: 'postchain.mjs',
  jsonriver: 'jsonriver.mjs',
  'JSON.parse at the end': 'json-parse.mjs',
  parsePartialJson: 'parse-partial-json.mjs',
});
/** The cost of `parsePartialJson` grows quadratically, to most of a minute at 200 kB. */
const SLOW_ROUNDS = /** @type {Record<number, number>} */ ({ 20: 3, 100: 3, 200: 1 });

const entrants = SIZES.flatMap((kilobytes) =>
  Object.entries(CONTENDERS).map(([name, file]) => ({
    name: nameOf(name, kilobytes),
    module: new URL(file, import.meta.url),
    options: { chars: kilobytes * 1_000 },
    ...(name === 'parsePartialJson' && { rounds: SLOW_ROUNDS[kilobytes] ?? 1, warmUps: kilobytes === 20 ? 1 : 0 }),
  })),
);

/** Measures the cost of streaming JSON in chunks of four characters and reading the partial values. */
export async function measureStream() {
  /** @type {Record<string, Sample[]>} */
  const measured = await race(entrants, { rounds: 15, warmUps: 6 });
  const rowOf = (/** @type {string} */ contender, /** @type {number} */ kilobytes) => {
    const name = nameOf(contender, kilobytes);
    return row(
      name,
      (measured[name] ?? []).map(({ microseconds }) => microseconds),
    );
  };
  const rows = SIZES.flatMap((kilobytes) =>
    Object.keys(CONTENDERS).map((contender) => {
      const bounds = contender === 'PostChain' && kilobytes === 100 ? { limit: 1 / 50 } : {};
      return against(rowOf(contender, kilobytes), rowOf('parsePartialJson', kilobytes), bounds);
    }),
  );
  const shares = Object.entries(measured).filter(([name]) => name.startsWith('PostChain'));
  return {
    title: 'JSON in chunks of four characters, partial values read',
    rows: [...rows, against(rowOf('PostChain', 200), rowOf('PostChain', 100), { limit: 2.3 })],
    facts: {
      'partial values read per chunk, PostChain': median(shares.flatMap(([, all]) => all.map(({ share }) => share))),
    },
  };
}

/**
 * @param {string} contender
 * @param {number} kilobytes
 */
function nameOf(contender, kilobytes) {
  return `${contender}, ${kilobytes} kB`;
}
