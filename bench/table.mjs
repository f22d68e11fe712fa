/** @typedef {import('./row.mjs').Row} Row */

/**
 * Figures that belong together, one line per contender. The first cell of a line names it.
 *
 * @typedef {{ columns: readonly string[], lines: readonly (readonly (string | number)[])[] }} Grid
 */

/**
 * Formats a report as text.
 *
 * @param {{ date: string, node: string, platform: string, cpus: number, versions: Record<string, string>,
 *   benchmarks: Record<string, import('./main.mjs').Report> }} result
 */
export function formatReport({ date, node, platform, cpus, versions, benchmarks }) {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const lines = [`${date}, node ${node}, ${platform}, ${cpus} cpus`, packages.join(', ')];
  for (const [name, { title, grids = [], rows, facts }] of Object.entries(benchmarks)) {
    lines.push('', `${name}: ${title}`);
    for (const grid of grids) lines.push(...gridLines(grid), '');
    lines.push(...table(rows));
    lines.push(...Object.entries(facts).map(([fact, value]) => `  ${fact}: ${formatFact(value)}`));
  }
  return `${lines.join('\n')}\n`;
}

/** @param {Grid} grid */
export function gridLines({ columns, lines }) {
  const texts = lines.map((line) => line.map(formatFact));
  return aligned([columns, ...texts], (column) => column > 0);
}

/** @param {readonly Row[]} rows */
function table(rows) {
  const cells = [
    ['', 'median', 'ratio', 'to', 'limit', ''],
    ...rows.map((row) => [
      row.what,
      quantity(row),
      row.ratio === null ? '' : short(row.ratio),
      row.ratioTo ?? '',
      row.limit === null
        ? ''
        : `${row.isMinimum ? '>=' : '<='} ${short(row.limit)}${row.goal === null ? '' : ` (goal ${short(row.goal)})`}`,
      row.holds === null ? '' : row.holds ? 'ok' : row.isMinimum ? 'MISSED' : 'EXCEEDED',
    ]),
  ];
  return aligned(cells, (column) => column === 1 || column === 2);
}

/**
 * @param {readonly (readonly string[])[]} cells
 * @param {(column: number) => boolean} isNumeric
 */
function aligned(cells, isNumeric) {
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? [];
  return cells.map((line) => {
    const padded = line.map((cell, column) => {
      const width = widths[column] ?? 0;
      return isNumeric(column) ? cell.padStart(width) : cell.padEnd(width);
    });
    return `  ${padded.join('  ')}`.trimEnd();
  });
}

/** @param {Row} row */
function quantity({ value, unit }) {
  if (unit === 'bytes') return `${Math.round(value).toLocaleString('en')} B`;
  if (unit === 'count') return value.toLocaleString('en');
  if (unit === 'share') return `${(100 * value).toFixed(1)} %`;
  return value < 10_000
    ? `${value.toFixed(value < 100 ? 1 : 0)} us`
    : `${(value / 1000).toFixed(value < 1e5 ? 1 : 0)} ms`;
}

/** @param {number} ratio */
function short(ratio) {
  return ratio >= 100 ? ratio.toFixed(0) : String(Number(ratio.toPrecision(ratio < 0.1 ? 2 : 3)));
}

/** @param {unknown} value */
function formatFact(value) {
  return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : String(value);
}
