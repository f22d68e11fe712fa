import { cpus } from 'node:os';
import { measureAgents } from './agents/benchmark.mjs';
import { measureAnswer } from './answer/benchmark.mjs';
import { readArguments } from './arguments.mjs';
import { measureDurable } from './durable/benchmark.mjs';
import { measureExplore } from './explore/benchmark.mjs';
import { measureGrowth } from './growth/benchmark.mjs';
import { measureInspector } from './inspector/benchmark.mjs';
import { measureJournal } from './journal/benchmark.mjs';
import { measureLoad } from './load/benchmark.mjs';
import { measureMachines } from './machines/benchmark.mjs';
import { measureScale } from './scale/benchmark.mjs';
import { measureStartup } from './startup/benchmark.mjs';
import { measureStep } from './step/benchmark.mjs';
import { measureStream } from './stream/benchmark.mjs';
import { measureStructured } from './structured/benchmark.mjs';
import { formatReport } from './table.mjs';
import { versions } from './versions.mjs';

/**
 * @typedef {object} Report
 * @property {string} title
 * @property {readonly import('./table.mjs').Grid[]} [grids]
 * @property {readonly import('./row.mjs').Row[]} rows
 * @property {Readonly<Record<string, unknown>>} facts Other observations, which show that the work was done.
 */

/** All benchmarks by name. */
const benchmarks = /** @type {Record<string, (options: import('./arguments.mjs').Arguments) => Promise<Report>>} */ ({
  step: measureStep,
  durable: measureDurable,
  growth: measureGrowth,
  journal: measureJournal,
  load: measureLoad,
  answer: measureAnswer,
  agents: measureAgents,
  stream: measureStream,
  structured: measureStructured,
  start: measureStartup,
  inspector: measureInspector,
  explore: measureExplore,
  machines: measureMachines,
  scale: measureScale,
});

/**
 * Runs the benchmarks and prints a report. Returns the exit code: 0, 2 for invalid usage, or 1 if --check finds an exceeded limit.
 *
 * @param {readonly string[]} args
 */
export async function main(args) {
  let options;
  try {
    options = readArguments(args, Object.keys(benchmarks));
  } catch (error) {
    process.stderr.write(`bench: ${/** @type {Error} */ (error).message}\n`);
    return 2;
  }
  /** @type {Record<string, Report>} */
  const reports = {};
  for (const name of options.only) {
    process.stderr.write(`bench: measuring ${name} …\n`);
    reports[name] = await /** @type {(typeof benchmarks)[string]} */ (benchmarks[name])(options);
  }
  const holds = Object.values(reports).every(({ rows }) => rows.every((row) => row.holds !== false));
  const result = {
    date: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: cpus().length,
    versions: versions(),
    holds,
    benchmarks: reports,
  };
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : formatReport(result));
  return options.check && !holds ? 1 : 0;
}
