import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { against, row, withinLimit } from '../row.mjs';

const PROCESS = fileURLToPath(new URL('process.mjs', import.meta.url));
const ROUNDS = 3;

/** Explores the chain with every outcome of its phases and runs the covering paths; then again with twice the cycles. */
export async function measureExplore() {
  const once = [];
  const twice = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    once.push(explored(5));
    twice.push(explored(10));
  }
  const five = row('5 cycles, the default', once.map(microseconds));
  return {
    title: 'explore the chain and run its covering paths',
    rows: [
      withinLimit(five, '30 s', 30e6),
      against(row('10 cycles', twice.map(microseconds)), five, { limit: 2 }),
      withinLimit(
        row(
          'peak memory of the process, 5 cycles',
          once.map(({ bytes }) => bytes),
          'bytes',
        ),
        '1 GB',
        1e9,
      ),
    ],
    facts: { '5 cycles': counts(once[0]), '10 cycles': counts(twice[0]) },
  };
}

/** @returns {{ ms: number, bytes: number, states: number, edges: number, paths: number }} */
const explored = (/** @type {number} */ cycles) =>
  JSON.parse(execFileSync(process.execPath, [PROCESS, String(cycles)], { encoding: 'utf8' }));

const microseconds = (/** @type {{ ms: number }} */ { ms }) => ms * 1_000;

/** @param {ReturnType<typeof explored> | undefined} one */
const counts = (one) => `${one?.states} states, ${one?.edges} edges, ${one?.paths} paths`;
