import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fitAll, formatFolds } from './fitting/folds.mjs';
import { measure as decision } from './measures/decision.mjs';
import { measure as dialogue } from './measures/dialogue.mjs';
import { measure as offline } from './measures/offline-answers.mjs';
import { measure as paragraphs } from './measures/paragraphs.mjs';
import { measure as path } from './measures/path.mjs';
import { measure as profiles } from './measures/profiles.mjs';
import { measure as recorded } from './measures/recorded-runs.mjs';
import { measure as retention } from './measures/retention.mjs';
import { measure as speed } from './measures/speed.mjs';
import { measure as sufficiency } from './measures/sufficiency.mjs';
import { measure as traces } from './measures/traces.mjs';
import { holds } from './result.mjs';
import { readRows } from './rows.mjs';
import { formatResults } from './table.mjs';

/** @typedef {import('./result.mjs').Result} Result */

/** All measurements by name. `file` is the data set that one needs; null if it generates its own data. */
const MEASURES = {
  speed,
  decision,
  retention,
  paragraphs,
  traces,
  dialogue,
  sufficiency,
  path,
  offline,
  profiles,
  recorded,
};
/** Prints the figures for each source by weights fitted to the others, what each feature adds, and the weights fitted to all. */
const FOLDS = 'folds';

const USAGE = `expected any of ${[...Object.keys(MEASURES), FOLDS].join(', ')}, --data DIR, --json, --check`;

process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`eval: ${/** @type {Error} */ (error).message}\n`);
  return 2;
});

/**
 * Returns the exit code: 0, 2 for invalid usage, or 1 if --check finds a missed target.
 *
 * @param {readonly string[]} args
 */
async function main(args) {
  const options = readOptions(args);
  if (typeof options === 'string') {
    process.stderr.write(`eval: ${options}; ${USAGE}\n`);
    return 2;
  }
  const policies = await import('../../dist/machines.js');
  /** @type {Result[]} */
  const results = [];
  for (const name of options.names) {
    const { file, run } = MEASURES[name];
    const data = file === null ? { file: 'generated', rows: [] } : readRows(options.data, file);
    if (data === null || (file !== null && data.rows.length === 0))
      process.stderr.write(`eval: skipped ${name}: no ${file}.*.jsonl in ${options.data}\n`);
    else {
      process.stderr.write(`eval: measuring ${name} (${data.file}) …\n`);
      results.push(...(await measured(data.file, () => run(data.rows, policies))));
    }
  }
  if (options.folds) process.stderr.write('eval: fitting weights without each source …\n');
  const folds = options.folds ? fitAll(options.data, policies) : [];
  if (options.json) {
    const found = { ...byMeasure(results), ...(options.folds && { folds }) };
    process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  } else process.stdout.write(`${results.length > 0 ? formatResults(results) : ''}${formatFolds(folds)}`);
  return options.check && results.some((result) => holds(result) === false) ? 1 : 0;
}

/**
 * Runs a measurement. A row that does not fit its data set is reported with the file name, without a stack trace.
 *
 * @param {string} file
 * @param {() => readonly Result[] | Promise<readonly Result[]>} run
 */
async function measured(file, run) {
  try {
    return await run();
  } catch (error) {
    throw new TypeError(
      `${file}: a row does not match the format of its data set (${/** @type {Error} */ (error).message})`,
    );
  }
}

/** @param {readonly Result[]} results */
function byMeasure(results) {
  return Object.fromEntries(
    results.map(({ measure, ...rest }) => [measure, { ...rest, holds: holds({ measure, ...rest }) }]),
  );
}

/**
 * Returns the options, or an error message.
 *
 * @param {readonly string[]} args
 */
function readOptions(args) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean' }, check: { type: 'boolean' }, data: { type: 'string' } },
    });
    const unknown = positionals.find((name) => name !== FOLDS && !Object.hasOwn(MEASURES, name));
    if (unknown !== undefined) return `unknown measurement "${unknown}"`;
    const names = /** @type {(keyof typeof MEASURES)[]} */ (
      positionals.length === 0 ? Object.keys(MEASURES) : positionals.filter((name) => name !== FOLDS)
    );
    const folds = positionals.length === 0 || positionals.includes(FOLDS);
    const data = resolve(values.data ?? fileURLToPath(new URL('../../../shared/data', import.meta.url)));
    if (values.data !== undefined && !statSync(data, { throwIfNoEntry: false })?.isDirectory())
      return `${data} is not a directory`;
    return { names, folds, data, json: values.json ?? false, check: values.check ?? false };
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}
