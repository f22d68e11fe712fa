import { chainChart, cover, explore, runPath } from '../../dist/testing.js';

/** Explores the chain with the given number of cycles, runs the covering paths, and prints time, memory and counts. */
const maxCycles = Number(process.argv[2]);
const inputs = Object.fromEntries(
  Object.entries(chainChart.inputs).map(([name, input]) => [
    name,
    { ...input, limits: { ...input.limits, maxCycles } },
  ]),
);
const started = performance.now();
const exploration = explore(chainChart.machine, /** @type {any} */ ({ ...chainChart, inputs }));
const paths = cover(exploration);
for (const path of paths) runPath(exploration, path);
const ms = performance.now() - started;
const bytes = process.resourceUsage().maxRSS * 1_024;
const { states, edges } = exploration;
process.stdout.write(JSON.stringify({ ms, bytes, states: states.length, edges: edges.length, paths: paths.length }));
