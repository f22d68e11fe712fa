import { balancedAccuracy } from './balanced-accuracy.mjs';
import { gathered, sufficiencyOf, wordCoverage } from './gathered.mjs';

/**
 * Is the gathered text sufficient? Rows contain all paragraphs that answer the question, or have one of them replaced by another.
 *
 * @typedef {import('./gathered.mjs').Paragraph} Paragraph
 * @typedef {import('./gathered.mjs').Gathered} Gathered
 * @typedef {{ question: string, source: string, gathered: readonly Paragraph[], complete: boolean }} Row
 * @typedef {typeof import('postchain/machines')} Policies
 */

/** The target. */
const AT_LEAST = 0.72;
const RECALLS_AT_LEAST = 0.6;

const isEnough = (/** @type {{ enough: boolean }} */ { enough }) => enough;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'yield_sufficiency',
  /**
   * @param {readonly Row[]} rows
   * @param {Policies} policies
   */
  run(rows, policies) {
    const { thresholdsSchema } = policies;
    const { sufficiency } = thresholdsSchema.parse({});
    const scored = rows.map(({ question, source, gathered: paragraphs, complete }) => {
      const texts = paragraphs.map(gathered);
      const enough = sufficiencyOf(question, texts, policies) >= sufficiency;
      return { source, complete, enough, coverage: wordCoverage(question, texts) };
    });
    const { value, recalls } = balancedAccuracy(scored, isEnough);
    const sources = [...new Set(scored.map(({ source }) => source))];
    return [
      {
        measure: 'sufficiency',
        value,
        unit: 'balanced accuracy',
        atLeast: AT_LEAST,
        recalls,
        recallsAtLeast: RECALLS_AT_LEAST,
        rows: rows.length,
        baselines: { 'word coverage': bestCoverage(scored) },
        detail: Object.fromEntries(
          sources.map((name) => [
            name,
            balancedAccuracy(
              scored.filter(({ source }) => source === name),
              isEnough,
            ).value,
          ]),
        ),
      },
    ];
  },
};

/**
 * The baseline at the best threshold for these rows, which overestimates it on other data.
 *
 * @param {readonly { complete: boolean, coverage: number }[]} scored
 */
function bestCoverage(scored) {
  const thresholds = [...new Set(scored.map(({ coverage }) => coverage))];
  const at = (/** @type {number} */ least) => balancedAccuracy(scored, ({ coverage }) => coverage >= least).value;
  return Math.max(...thresholds.map(at));
}
