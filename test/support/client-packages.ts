import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Installs client packages for a test, with exact versions, unless they are installed. Returns a function that imports one of them. They are
 * not development dependencies, because each is large and only one test needs it.
 */
export function installClients(
  name: string,
  packages: readonly string[],
): <Module>(specifier: string) => Promise<Module> {
  const folder = resolve('node_modules/.clients', name);
  const listed = join(folder, 'installed.json');
  const wanted = JSON.stringify(packages);
  if (!existsSync(listed) || readFileSync(listed, 'utf8') !== wanted) {
    mkdirSync(folder, { recursive: true });
    const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline'];
    const safe = ['--legacy-peer-deps', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', '--prefix', folder, ...options, ...safe, ...packages], { stdio: 'inherit' });
    writeFileSync(listed, wanted);
  }
  const require = createRequire(join(folder, 'package.json'));
  return (specifier) => import(pathToFileURL(require.resolve(specifier)).href);
}
