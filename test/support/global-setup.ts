import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SEED } from './random.ts';

/** Everything that the build reads. A folder's own time changes when a file in it is added or removed. */
const SOURCES = [
  'machines',
  'src',
  'inspector',
  'package.json',
  'package-lock.json',
  'tsconfig.build.json',
  'vite.config.ts',
];

/** The build writes the types last. */
const BUILT = 'dist/types/src/entries/index.d.ts';

/**
 * Runs before the tests of each project: prints the seed of the random tests once, and builds `dist` if it is missing or, in `npm test` and
 * `npm run test:full`, older than its sources. A single `npx vitest run FILE` does not wait for a build.
 */
export function setup(): void {
  if (process.env['POSTCHAIN_SEED'] === undefined) process.stderr.write(`Random tests: POSTCHAIN_SEED=${SEED}\n`);
  process.env['POSTCHAIN_SEED'] = String(SEED);
  const isSuite = process.env['npm_lifecycle_event']?.startsWith('test') ?? false;
  if (existsSync(BUILT) && (!isSuite || statSync(BUILT).mtimeMs >= Math.max(...SOURCES.map(newestMs)))) return;
  process.stderr.write('dist is missing or older than its sources: building\n');
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}

function newestMs(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
