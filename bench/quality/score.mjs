import { hasExpected, isRightText, overlap } from '../eval/measures/judge.mjs';
import { median } from '../row.mjs';
import { auroc, reasonsIn, rightAtHalf, SIGNALS } from './knowing.mjs';
import { bootstrap, mean, rate } from './statistics.mjs';

/**
 * @typedef {import('./recording.mjs').Recording} Recording
 * @typedef {{ input: number, output: number, cached: number }} Price Per million tokens.
 * @typedef {{ seed: number, price: Price | null }} Options
 * @typedef {ReturnType<typeof scoreOf>} Score
 *
 * An answer with its judgment. `outcome`: 1 if it has the expected text, which it never has for a question without an answer, otherwise
 * 0; a stated confidence is compared with it.
 * @typedef {import('./recording.mjs').Row & { right: boolean, looksGood: boolean, outcome: number }} Row
 * @typedef {Recording & { rows: readonly Row[] }} Judged
 */

const BINS = 5;

/**
 * @param {Recording} recording
 * @returns {Judged}
 */
function judged(recording) {
  const rows = recording.rows.map((row) => ({
    ...row,
    right: isRightText(row, row.answer),
    // An answer of a contender without a status always does.
    looksGood: row.status === 'completed' || row.status === null,
    outcome: Number(hasExpected(row, row.answer)),
  }));
  return { ...recording, rows };
}

const isRight = (/** @type {Row} */ { right }) => right;
const isWrongAsGood = (/** @type {Row} */ { right, looksGood }) => looksGood && !right;
const squaredError = (/** @type {Row} */ { confidence, outcome }) => ((confidence ?? Number.NaN) - outcome) ** 2;

/**
 * Returns the figures of one contender.
 *
 * @param {Judged} recording
 * @param {Options} options
 */
function scoreOf({ about, rows, failed }, { seed, price }) {
  const share = (/** @type {readonly Row[]} */ of, /** @type {(row: Row) => boolean} */ holds) =>
    rate(of.filter(holds).length, of.length);
  const answerable = rows.filter(({ expected }) => expected !== null);
  const unanswerable = rows.filter(({ expected }) => expected === null);
  const stated = rows.filter(({ confidence }) => confidence !== null);
  const averaged = (/** @type {(row: Row) => number} */ of) => bootstrap(rows, (some) => mean(some.map(of)), seed);
  const typical = (/** @type {(row: Row) => number} */ of) => bootstrap(rows, (some) => median(some.map(of)), seed);
  return {
    about,
    questions: rows.length,
    failed: failed.length,
    right: share(rows, isRight),
    answered: share(answerable, isRight),
    abstained: share(unanswerable, isRight),
    wrongAsGood: share(rows, isWrongAsGood),
    rightNotGood: share(answerable.filter(isRight), ({ looksGood }) => !looksGood),
    brier: bootstrap(stated, (some) => mean(some.map(squaredError)), seed),
    reliability: reliabilityOf(stated),
    f1: bootstrap(answerable, (some) => mean(some.map((row) => overlap(row, row.answer))), seed),
    exact: share(answerable, (row) => overlap(row, row.answer) === 1),
    knows: Object.entries(SIGNALS)
      .filter(([, signal]) => rows.some((row) => signal(row) !== null))
      .map(([signal, of]) => {
        const valued = rows.map((row) => ({ right: row.right, value: of(row) }));
        return {
          signal,
          auroc: bootstrap(valued, auroc, seed),
          rightAtHalf: bootstrap(valued, rightAtHalf, seed),
        };
      }),
    reasons: reasonsIn(rows),
    firstTry: share(
      rows.filter(({ corrections }) => corrections !== undefined),
      ({ corrections }) => corrections === 0,
    ),
    calls: averaged(({ usage }) => usage.calls),
    inputTokens: averaged(({ usage }) => usage.inputTokens),
    cachedInputTokens: averaged(({ usage }) => usage.cachedInputTokens),
    outputTokens: averaged(({ usage }) => usage.outputTokens),
    cost: price && averaged((row) => costOf(row, price)),
    firstTextMs: typical(({ firstTextMs }) => firstTextMs),
    ms: typical(({ ms }) => ms),
    byCorpus: Object.fromEntries(
      [...new Set(rows.map(({ corpus }) => corpus))].map((corpus) => {
        const own = rows.filter((row) => row.corpus === corpus);
        return [corpus, { right: share(own, isRight), wrongAsGood: share(own, isWrongAsGood) }];
      }),
    ),
  };
}

/** @param {readonly Row[]} stated */
function reliabilityOf(stated) {
  const binOf = (/** @type {Row} */ { confidence }) => Math.min(BINS - 1, Math.floor((confidence ?? 0) * BINS));
  return Array.from({ length: BINS }, (_, bin) => {
    const rows = stated.filter((row) => binOf(row) === bin);
    return {
      from: bin / BINS,
      to: (bin + 1) / BINS,
      confidence: mean(rows.map(({ confidence }) => confidence ?? Number.NaN)),
      right: rate(rows.filter(({ outcome }) => outcome === 1).length, rows.length),
    };
  }).filter(({ right }) => right.of > 0);
}

/**
 * @param {Row} row
 * @param {Price} price
 */
function costOf({ usage: { inputTokens, cachedInputTokens, outputTokens } }, { input, output, cached }) {
  return ((inputTokens - cachedInputTokens) * input + cachedInputTokens * cached + outputTokens * output) / 1_000_000;
}

/**
 * Compares two contenders on the questions that both answered.
 *
 * @param {Judged} one
 * @param {Judged} base
 * @param {Options} options
 */
function pairOf(one, base, { seed, price }) {
  const others = new Map(base.rows.map((row) => [row.id, row]));
  const pairs = one.rows.flatMap((row) => {
    const other = others.get(row.id);
    return other === undefined ? [] : [/** @type {const} */ ([row, other])];
  });
  const difference = (/** @type {(row: Row) => boolean} */ holds) =>
    bootstrap(pairs, (some) => mean(some.map(([row, other]) => Number(holds(row)) - Number(holds(other)))), seed);
  const ofSums = (/** @type {(row: Row) => number} */ of) => {
    const sum = (/** @type {readonly Row[]} */ rows) => rows.reduce((total, row) => total + of(row), 0);
    return bootstrap(pairs, (some) => sum(some.map(([row]) => row)) / sum(some.map(([, other]) => other)), seed);
  };
  const typical = (/** @type {(row: Row) => number} */ of) =>
    bootstrap(pairs, (some) => median(some.map(([row, other]) => of(row) / of(other))), seed);
  return {
    contender: one.about.contender,
    base: base.about.contender,
    questions: pairs.length,
    onlyThis: pairs.filter(([row, other]) => row.right && !other.right).length,
    onlyBase: pairs.filter(([row, other]) => !row.right && other.right).length,
    right: difference(isRight),
    wrongAsGood: difference(isWrongAsGood),
    calls: ofSums(({ usage }) => usage.calls),
    inputTokens: ofSums(({ usage }) => usage.inputTokens),
    outputTokens: ofSums(({ usage }) => usage.outputTokens),
    cost: price && ofSums((row) => costOf(row, price)),
    firstTextMs: typical(({ firstTextMs }) => firstTextMs),
    ms: typical(({ ms }) => ms),
  };
}

/**
 * Returns the figures of recordings, and of each compared with the tool loop or, without one, with the first.
 *
 * @param {readonly Recording[]} recordings
 * @param {Options} options
 */
export function score(recordings, options) {
  const all = recordings.map(judged);
  const base = all.find(({ about }) => about.contender === 'loop') ?? all[0];
  const others = all.filter((one) => one !== base);
  return {
    seed: options.seed,
    contenders: all.map((one) => scoreOf(one, options)),
    pairs: base === undefined ? [] : others.map((one) => pairOf(one, base, options)),
  };
}
