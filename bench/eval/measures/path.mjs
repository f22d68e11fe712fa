import { gathered, wordCoverage } from './gathered.mjs';

/**
 * How directly a run gathers everything that answers a question. In each cycle the policy decides whether the gathered text is
 * sufficient; if not, one search returns the next gold paragraph, in order. The shortest path takes as many cycles as there are
 * gold paragraphs. Continuing after that costs one cycle, whose search returns nothing new, and then the run stops. Stopping early
 * is a failure and costs the cycle limit, or two cycles more than the shortest path if that is higher: always more than the slowest
 * successful path.
 *
 * @typedef {import('./gathered.mjs').Paragraph} Paragraph
 * @typedef {import('./gathered.mjs').Gathered} Gathered
 * @typedef {{ question: string, messages: readonly Paragraph[], hops: readonly { gold: string }[] | null }} Row
 * @typedef {(request: string, texts: readonly Gathered[]) => { score: number }} SufficiencyOf
 * @typedef {{ sufficiencyOf: SufficiencyOf, thresholdsSchema: { parse: (given: {}) => { sufficiency: number } } }} Policies
 * @typedef {(request: string, texts: readonly Gathered[]) => boolean} Enough
 * @typedef {{ question: string, wanted: readonly Gathered[], others: readonly Gathered[] }} Way
 */

/** The default cycle limit. */
const LIMIT = 5;
/** The target. */
const AT_LEAST = 0.85;
/** Distractor paragraphs that are present from the start, reported as a detail. */
const OTHERS = 3;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'multihop',
  /**
   * @param {readonly Row[]} rows
   * @param {Policies} policies
   */
  run(rows, { sufficiencyOf, thresholdsSchema }) {
    const { sufficiency } = thresholdsSchema.parse({});
    const ways = rows.flatMap(({ question, messages, hops }) => (hops ? [wayOf(question, messages, hops)] : []));
    const byPolicy = (/** @type {string} */ request, /** @type {readonly Gathered[]} */ texts) =>
      sufficiencyOf(request, texts).score >= sufficiency;
    const alone = walk(ways, byPolicy, false);
    const among = walk(ways, byPolicy, true);
    return [
      {
        measure: 'path_efficiency',
        value: alone.efficiency,
        unit: 'least cycles / cycles taken',
        atLeast: AT_LEAST,
        rows: ways.length,
        baselines: {
          'always to the limit': efficiency(ways, ({ wanted }) => Math.max(LIMIT, wanted.length)),
          'until a search brings nothing': walk(ways, () => false, false).efficiency,
          'word coverage': walk(ways, (request, texts) => wordCoverage(request, texts) >= sufficiency, false)
            .efficiency,
        },
        detail: {
          'stopped early': alone.early,
          'one cycle too many': alone.wasted,
          [`with ${OTHERS} other paragraphs`]: among.efficiency,
        },
      },
    ];
  },
};

/**
 * @param {string} question
 * @param {readonly Paragraph[]} messages
 * @param {readonly { gold: string }[]} hops
 * @returns {Way}
 */
function wayOf(question, messages, hops) {
  const ids = [...new Set(hops.map(({ gold }) => gold))];
  const wanted = ids.flatMap((id) => messages.filter((message) => message.id === id).map(gathered));
  const others = messages.filter(({ id }) => !ids.includes(id)).slice(0, OTHERS);
  return { question, wanted, others: others.map(gathered) };
}

/**
 * Returns the efficiency over all questions, and the shares that stopped early or took one cycle too many.
 *
 * @param {readonly Way[]} ways
 * @param {Enough} enough
 * @param {boolean} amongOthers
 */
function walk(ways, enough, amongOthers) {
  const taken = new Map(ways.map((way) => [way, cyclesTaken(way, enough, amongOthers)]));
  const share = (/** @type {(more: number) => boolean} */ holds) =>
    ways.filter((way) => holds((taken.get(way) ?? 0) - way.wanted.length)).length / ways.length;
  return {
    efficiency: efficiency(ways, (way) => taken.get(way) ?? Number.NaN),
    early: share((more) => more > 1),
    wasted: share((more) => more === 1),
  };
}

/**
 * @param {Way} way
 * @param {Enough} enough
 * @param {boolean} amongOthers
 */
function cyclesTaken({ question, wanted, others }, enough, amongOthers) {
  for (let found = 0; found <= wanted.length; found += 1) {
    const texts = [...(amongOthers ? others : []), ...wanted.slice(0, found)];
    if (enough(question, texts)) return found === wanted.length ? found : Math.max(LIMIT, wanted.length + 2);
  }
  return wanted.length + 1;
}

/**
 * @param {readonly Way[]} ways
 * @param {(way: Way) => number} cycles
 */
function efficiency(ways, cycles) {
  const sum = (/** @type {(way: Way) => number} */ of) => ways.reduce((total, way) => total + of(way), 0);
  return sum(({ wanted }) => wanted.length) / sum(cycles);
}
