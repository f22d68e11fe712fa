import { rate } from './statistics.mjs';

/**
 * Does a contender know when it is wrong? Each signal is a number that should be higher for a right answer than for a wrong one.
 *
 * @typedef {import('./score.mjs').Row} Row
 * @typedef {(row: Row) => number | null} Signal
 * @typedef {{ right: boolean, value: number | null }} Valued An answer and its signal.
 */

/** @type {Readonly<Record<string, Signal>>} */
export const SIGNALS = {
  confidence: ({ confidence }) => confidence,
  status: ({ status }) => (status === null ? null : Number(status === 'completed')),
  grounding: ({ grounding }) => (grounding === undefined ? null : (grounding ?? 0)),
  'own confidence': ({ confidence, modelCalls = [] }) => (confidence === null ? null : statedIn(modelCalls)),
  'token probability': ({ modelCalls = [] }) => {
    const written = modelCalls.findLast(({ meanLogprob }) => meanLogprob !== null);
    return written === undefined ? null : Math.exp(written.meanLogprob ?? 0);
  },
};

/** Returns the confidence that the model stated last; null if it stated none. */
function statedIn(/** @type {NonNullable<Row['modelCalls']>} */ calls) {
  for (const { text } of calls.toReversed()) {
    const [, stated] = /"confidence"\s*:\s*(-?\d+(?:\.\d+)?)/u.exec(text) ?? [];
    if (stated !== undefined) return Number(stated);
  }
  return null;
}

/**
 * Returns the area under the ROC curve of a signal: the probability that a right answer has a higher value than a wrong one, where
 * equal values count half (0.5: the signal says nothing). An answer without a value has the lowest.
 *
 * @param {readonly Valued[]} rows
 */
export function auroc(rows) {
  const valued = byValue(rows).toReversed();
  let [rankSum, rights] = [0, 0];
  for (let at = 0; at < valued.length; ) {
    let end = at;
    while (end < valued.length && valued[end]?.value === valued[at]?.value) end += 1;
    const tied = valued.slice(at, end).filter(({ right }) => right).length;
    rankSum += tied * ((at + 1 + end) / 2);
    rights += tied;
    at = end;
  }
  return (rankSum - (rights * (rights + 1)) / 2) / (rights * (rows.length - rights));
}

/**
 * Returns the share of right answers in the half with the highest values. Of answers with the same value, the share counts.
 *
 * @param {readonly Valued[]} rows
 */
export function rightAtHalf(rows) {
  const half = rows.length / 2;
  const sorted = byValue(rows);
  const last = sorted[Math.ceil(half) - 1];
  if (last === undefined) return Number.NaN;
  const above = sorted.filter(({ value }) => value > last.value);
  const tied = sorted.filter(({ value }) => value === last.value);
  const rights = (/** @type {readonly Valued[]} */ some) => some.filter(({ right }) => right).length;
  return (rights(above) + ((half - above.length) * rights(tied)) / tied.length) / half;
}

/** Returns the answers, those with the highest values first. */
const byValue = (/** @type {readonly Valued[]} */ rows) =>
  rows
    .map(({ right, value }) => ({ right, value: value ?? Number.NEGATIVE_INFINITY }))
    .sort((one, other) => other.value - one.value || 0);

/**
 * Returns for each reason how many answers with it are wrong (precision), and how many wrong answers have it (recall).
 *
 * @param {readonly Row[]} rows
 */
export function reasonsIn(rows) {
  const wrong = rows.filter(({ right }) => !right).length;
  const codesOf = ({ reasons }) => new Set(reasons.map(({ code }) => code));
  const codes = new Set(rows.flatMap((row) => [...codesOf(row)]));
  return [...codes].sort().map((code) => {
    const given = rows.filter((row) => codesOf(row).has(code));
    const hits = given.filter(({ right }) => !right).length;
    return { code, precision: rate(hits, given.length), recall: rate(hits, wrong) };
  });
}
