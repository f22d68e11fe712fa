import { holds } from './result.mjs';

/** @typedef {import('./result.mjs').Result} Result */

/**
 * Formats the results, their folds and their baselines as a table, and names the measures that miss their target.
 *
 * @param {readonly Result[]} results
 */
export function formatResults(results) {
  const cells = [
    ['measure', 'value', 'target', '', 'recalls', 'baselines', 'rows'],
    ...results.flatMap((result) => [lineOf(result), ...foldLines(result)]),
  ];
  const missed = results.filter((result) => holds(result) === false).map(({ measure }) => measure);
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? [];
  return `${cells
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n\n${missed.length === 0 ? 'No target is missed.' : `Below the target: ${missed.join(', ')}.`}\n`;
}

/** @param {Result} result */
function foldLines({ folds = {}, unit }) {
  return Object.entries(folds).map(([name, fold]) => lineOf({ ...fold, unit, measure: `  ${name}` }));
}

/** @param {Result} result */
function lineOf(result) {
  const { measure, value, atLeast = null, atMost = null, recalls = {}, baselines = {}, rows } = result;
  const met = holds(result);
  const format = isTime(result) ? time : isCount(result) ? count : percent;
  const target = atLeast !== null ? `>= ${format(atLeast)}` : atMost !== null ? `<= ${format(atMost)}` : '';
  return [
    measure,
    format(value),
    target,
    met === null ? '' : met ? 'met' : 'MISSED',
    named(recalls, percent),
    named(baselines, format),
    String(rows),
  ];
}

/** @param {Result} result */
const isTime = ({ unit }) => unit.startsWith('ms');

/**
 * Whether the value is a number of things, not a share.
 *
 * @param {Result} result
 */
const isCount = ({ unit }) => unit.startsWith('model calls');

/** @param {number} ms */
const time = (ms) => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;

/** @param {number} value */
const count = (value) => value.toFixed(2);

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/**
 * @param {Readonly<Record<string, number>>} values
 * @param {(value: number) => string} format
 */
function named(values, format) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${format(value)}`)
    .join(', ');
}
