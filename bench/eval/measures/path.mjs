import { pathOf } from '../fitting/samples.mjs';
import { sufficiencyOf, wordCoverage } from './gathered.mjs';

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
 * @typedef {typeof import('postchain/machines')} Policies
 * @typedef {(request: string, texts: readonly Gathered[]) => boolean} Enough
 * @typedef {{ question: string, gold: readonly Gathered[], others: readonly Gathered[] }} Case
 */

/** The default cycle limit. */
const LIMIT = 5;
/** The target without other paragraphs. */
const AT_LEAST = 0.84;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'multihop',
  /**
   * @param {readonly Row[]} rows
   * @param {Policies} policies
   */
  run(rows, policies) {
    const { sufficiency } = policies.thresholdsSchema.parse({});
    const cases = rows.flatMap((row) => (row.hops ? [{ question: row.question, ...pathOf(row) }] : []));
    const byPolicy = (/** @type {string} */ request, /** @type {readonly Gathered[]} */ texts) =>
      sufficiencyOf(request, texts, policies) >= sufficiency;
    return [false, true].map((amongOthers) => {
      const { efficiency: value, early, wasted } = measurePath(cases, byPolicy, amongOthers);
      const others = (/** @type {Enough} */ enough) => measurePath(cases, enough, amongOthers).efficiency;
      return {
        measure: amongOthers ? 'path_efficiency_among_others' : 'path_efficiency',
        value,
        unit: 'least cycles / cycles taken',
        atLeast: amongOthers ? null : AT_LEAST,
        rows: cases.length,
        baselines: {
          'always to the limit': efficiency(cases, ({ gold }) => Math.max(LIMIT, gold.length)),
          'until a search returns nothing new': others(() => false),
          'word coverage': others((request, texts) => wordCoverage(request, texts) >= sufficiency),
        },
        detail: { 'stopped early': early, 'one cycle too many': wasted },
      };
    });
  },
};

/**
 * Returns the efficiency over all questions, and the shares that stopped early or took one cycle too many.
 *
 * @param {readonly Case[]} cases
 * @param {Enough} enough
 * @param {boolean} amongOthers
 */
function measurePath(cases, enough, amongOthers) {
  const taken = new Map(cases.map((one) => [one, cyclesTaken(one, enough, amongOthers)]));
  const share = (/** @type {(more: number) => boolean} */ holds) =>
    cases.filter((one) => holds((taken.get(one) ?? 0) - one.gold.length)).length / cases.length;
  return {
    efficiency: efficiency(cases, (one) => taken.get(one) ?? Number.NaN),
    early: share((more) => more > 1),
    wasted: share((more) => more === 1),
  };
}

/**
 * @param {Case} one
 * @param {Enough} enough
 * @param {boolean} amongOthers
 */
function cyclesTaken({ question, gold, others }, enough, amongOthers) {
  for (let found = 0; found <= gold.length; found += 1) {
    const texts = [...(amongOthers ? others : []), ...gold.slice(0, found)];
    if (enough(question, texts)) return found === gold.length ? found : Math.max(LIMIT, gold.length + 2);
  }
  return gold.length + 1;
}

/**
 * @param {readonly Case[]} cases
 * @param {(one: Case) => number} cycles
 */
function efficiency(cases, cycles) {
  const sum = (/** @type {(one: Case) => number} */ of) => cases.reduce((total, one) => total + of(one), 0);
  return sum(({ gold }) => gold.length) / sum(cycles);
}
