import { gridLines } from '../table.mjs';
import { RESAMPLES } from './statistics.mjs';

/**
 * @typedef {import('./score.mjs').Score} Score
 * @typedef {import('./statistics.mjs').Estimate} Estimate
 * @typedef {Estimate | null | undefined} Known
 */

/**
 * Formats the figures as tables.
 *
 * @param {ReturnType<typeof import('./score.mjs').score>} scores
 */
export function formatScores({ seed, contenders, pairs }) {
  const intervals = `95 % intervals: Wilson for shares, else bootstrap (${RESAMPLES} resamples, seed ${seed})`;
  const recorded = contenders.map(
    ({ about, questions, failed }) =>
      `${about.contender}: ${about.model} at ${about.server}, ${about.startedAt}, ${questions} answers${failed > 0 ? `, ${failed} failed` : ''}, concurrency ${about.concurrency}`,
  );
  const corpora = [...new Set(contenders.flatMap(({ byCorpus }) => Object.keys(byCorpus)))];
  const bases = [...new Set(pairs.map(({ base }) => base))];
  const sections = [
    section(
      'answers',
      ['right', 'of those with an answer', 'of those without', 'wrong, looks good', 'right, looks bad', 'Brier score'],
      contenders.map((one) => [
        one.about.contender,
        ...[one.right, one.answered, one.abstained, one.wrongAsGood, one.rightNotGood].map(percent),
        one.brier === null ? 'none stated' : decimal(one.brier),
      ]),
    ),
    section(
      'compared with the expected text',
      ['exact match', 'F1 of words', 'no corrected reply'],
      contenders.map((one) => [one.about.contender, percent(one.exact), decimal(one.f1), percent(one.firstTry)]),
    ),
    section(
      'knows when it is wrong, by',
      ['AUROC', 'right in the better half'],
      contenders.flatMap(({ about, knows }) =>
        knows.map((one) => [`${about.contender}: ${one.signal}`, decimal(one.auroc), decimal(one.rightAtHalf)]),
      ),
    ),
    section(
      'reasons',
      ['answers', 'of these wrong', 'of the wrong ones'],
      contenders.flatMap(({ about, reasons }) =>
        reasons.map(({ code, precision, recall }) => [
          `${about.contender}: ${code}`,
          String(precision.of),
          percent(precision),
          percent(recall),
        ]),
      ),
    ),
    section(
      'mean per answer; times: median',
      ['calls', 'input tokens', 'of these cached', 'output tokens', 'cost', 'first text (ms)', 'wall time (ms)'],
      contenders.map((one) => [
        one.about.contender,
        decimal(one.calls),
        ...[one.inputTokens, one.cachedInputTokens, one.outputTokens].map(whole),
        one.cost === null ? 'no price' : decimal(one.cost, 5),
        ...[one.firstTextMs, one.ms].map(whole),
      ]),
    ),
    ...bases.map((base) =>
      section(
        `compared with ${base}, on the same questions`,
        ['only this right', `only ${base}`, 'right', 'wrong, looks good'],
        pairs.map((one) => [
          one.contender,
          `${one.onlyThis} of ${one.questions}`,
          String(one.onlyBase),
          ...[one.right, one.wrongAsGood].map(points),
        ]),
      ),
    ),
    ...bases.map((base) =>
      section(
        `times those of ${base}`,
        ['calls', 'input tokens', 'output tokens', 'cost', 'first text', 'wall time'],
        pairs.map((one) => [
          one.contender,
          ...[one.calls, one.inputTokens, one.outputTokens].map((ratio) => decimal(ratio)),
          one.cost === null ? 'no price' : decimal(one.cost),
          ...[one.firstTextMs, one.ms].map((ratio) => decimal(ratio)),
        ]),
      ),
    ),
    section(
      'stated confidence',
      ['answers', 'mean', 'has the expected text'],
      contenders.flatMap(({ about, reliability }) =>
        reliability.map(({ from, to, confidence, right }) => [
          `${about.contender} ${from}–${to}`,
          String(right.of),
          confidence.toFixed(2),
          percent(right),
        ]),
      ),
    ),
    ...(corpora.length < 2
      ? []
      : corpora.map((corpus) =>
          section(
            `corpus ${corpus}`,
            ['right', 'wrong, looks good'],
            contenders.flatMap(({ about, byCorpus: { [corpus]: own } }) =>
              own === undefined ? [] : [[about.contender, percent(own.right), percent(own.wrongAsGood)]],
            ),
          ),
        )),
  ];
  return `${[...recorded, intervals, ...sections.flat()].join('\n')}\n`;
}

/**
 * @param {string} title
 * @param {readonly string[]} columns
 * @param {readonly (readonly string[])[]} lines
 */
function section(title, columns, lines) {
  return lines.length === 0 ? [] : ['', ...gridLines({ columns: [title, ...columns], lines })];
}

/** @param {Estimate & { of: number }} share */
function percent({ value, low, high, of }) {
  const text = (/** @type {number} */ number) => (100 * number).toFixed(1);
  return of === 0 ? '–' : `${text(value)} % (${text(low)}–${text(high)})`;
}

/** @param {Known} difference */
function points(difference) {
  const text = (/** @type {number} */ number) => `${number > 0 ? '+' : ''}${(100 * number).toFixed(1)}`;
  return interval(difference, text);
}

/**
 * @param {Known} estimate
 * @param {number} [digits]
 */
const decimal = (estimate, digits = 2) => interval(estimate, (number) => number.toFixed(digits));

const whole = (/** @type {Known} */ estimate) => interval(estimate, (number) => String(Math.round(number)));

/**
 * @param {Known} estimate
 * @param {(number: number) => string} text
 */
function interval(estimate, text) {
  const isKnown = estimate && !Number.isNaN(estimate.value);
  return isKnown ? `${text(estimate.value)} (${text(estimate.low)} to ${text(estimate.high)})` : '–';
}
