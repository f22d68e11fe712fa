/** `npm run bench`: checks that the build and the peers are present, then runs the benchmarks. */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** Returns whether the installed peers match the lock file. */
function peersAreInstalled() {
  const installed = here('node_modules/.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(here('package-lock.json')).mtimeMs;
}

/** Installs the peers on first use, into bench/ only. npm prints to stderr: stdout is for the figures. */
function installPeers() {
  process.stderr.write('bench: installing the peers into bench/node_modules (npm ci --prefix bench)\n');
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_config_(local_)?prefix$/i.test(name)),
  );
  const npm = process.env['npm_execpath'];
  const [command, args] = npm === undefined ? ['npm', ['ci']] : [process.execPath, [npm, 'ci']];
  return spawnSync(command, args, { cwd: here('.'), env, stdio: ['ignore', 2, 2] }).status === 0;
}

function stop(/** @type {string} */ why) {
  process.stderr.write(`bench: ${why}\n`);
  process.exit(2);
}

if (!existsSync(here('../node_modules/xstate'))) stop('dependencies are not installed; run `npm ci` first');
for (const file of [
  'dist/index.js',
  'dist/node.js',
  'dist/openai.js',
  'dist/machines.js',
  'dist/testing.js',
  'dist/cli.js',
]) {
  if (!existsSync(here(`../${file}`))) stop(`${file} is missing; run \`npm run build\` first`);
}
if (!peersAreInstalled() && !installPeers())
  stop('the peers could not be installed; run `npm ci --prefix bench` to see why');

const { main } = await import('./main.mjs');
process.exitCode = await main(process.argv.slice(2));
