import { SEED } from './seed.ts';

/** Once, before all tests. */
export function setup(): void {
  process.stderr.write(`Random tests: POSTCHAIN_SEED=${SEED}\n`);
}
