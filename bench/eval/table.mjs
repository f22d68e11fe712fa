import { holds } from './result.mjs';

/** @typedef {import('./result.mjs').Result} Result */

/**
 * The results for people, the baselines beside them.
 *
 * @param {readonly Result[]} results
 */
export function formatResults(results) {
  const cells = [['measure', 'value', 'wanted', '', 'recalls', 'baselines', 'rows'], ...results.map(lineOf)];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? [];
  return `${cells
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}

/** @param {Result} result */
function lineOf(result) {
  const { measure, value, atLeast = null, atMost = null, recalls = {}, baselines = {}, rows } = result;
  const held = holds(result);
  const spell = isTime(result) ? (/** @type {number} */ ms) => `${ms.toFixed(ms < 10 ? 2 : 0)} ms` : percent;
  const wanted = atLeast !== null ? `>= ${spell(atLeast)}` : atMost !== null ? `<= ${spell(atMost)}` : '';
  return [
    measure,
    spell(value),
    wanted,
    held === null ? '' : held ? 'holds' : 'DOES NOT HOLD',
    named(recalls, percent),
    named(baselines, spell),
    String(rows),
  ];
}

/** @param {Result} result */
const isTime = ({ unit }) => unit.startsWith('ms');

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/**
 * @param {Readonly<Record<string, number>>} values
 * @param {(value: number) => string} spell
 */
function named(values, spell) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${spell(value)}`)
    .join(', ');
}
