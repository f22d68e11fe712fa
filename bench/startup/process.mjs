import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';

/**
 * Measures microseconds from the start of a Node process to its exit.
 *
 * @param {{ args: readonly string[], prints: string }} options
 */
export async function measure({ args, prints }) {
  const startedAt = performance.now();
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const microseconds = (performance.now() - startedAt) * 1000;
  assert.deepEqual([status, stdout.trim()], [0, prints]);
  return microseconds;
}
