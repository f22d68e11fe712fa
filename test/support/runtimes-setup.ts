import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isSoak } from './soak.ts';

/** The runtimes, bundlers and the oldest supported compiler, installed from npm with fixed versions. */
const TOOLS = [
  'node-22@npm:node@22.23.3',
  'node-24@npm:node@24.9.0',
  'bun@1.4.5',
  'deno@2.9.6',
  'miniflare@4.20260730.0',
  'esbuild@0.28.2',
  'webpack@5.112.2',
  'rollup@4.68.7',
  '@rollup/plugin-commonjs@29.0.3',
  '@rollup/plugin-node-resolve@16.0.3',
  'typescript@5.4.5',
];

/** Where they are installed, and a program that has installed the packed package, with `xstate`, `zod` and `openai`. */
export const TOOLS_FOLDER = resolve('node_modules/.runtimes');
export const PROGRAM_FOLDER = join(TOOLS_FOLDER, 'program');

/** The path of an installed tool. */
export const tool = (...path: readonly string[]): string => join(TOOLS_FOLDER, 'node_modules', ...path);
export const node24 = tool('node-24', 'bin', 'node');

/** Installs the package as users do: packed, with the packages of `required` alone. The soak also needs the tools, and serves a chain. */
export function setup(): void {
  mkdirSync(TOOLS_FOLDER, { recursive: true });
  if (isSoak) installTools();
  rmSync(PROGRAM_FOLDER, { recursive: true, force: true });
  mkdirSync(PROGRAM_FOLDER, { recursive: true });
  writeFileSync(join(PROGRAM_FOLDER, 'package.json'), '{ "type": "module", "private": true }');
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', PROGRAM_FOLDER]);
  const tarball = join(PROGRAM_FOLDER, packed.toString().trim());
  const required = ['xstate', 'zod', 'openai', ...(isSoak ? ['hono'] : [])].map((name) => `${name}@${versionOf(name)}`);
  install(PROGRAM_FOLDER, [tarball, ...required]);
}

/** Installs the tools that are missing. */
function installTools(): void {
  const listed = join(TOOLS_FOLDER, 'installed.json');
  if (!existsSync(listed) || readFileSync(listed, 'utf8') !== JSON.stringify(TOOLS)) {
    rmSync(TOOLS_FOLDER, { recursive: true, force: true });
    mkdirSync(TOOLS_FOLDER, { recursive: true });
    install(TOOLS_FOLDER, TOOLS);
    writeFileSync(listed, JSON.stringify(TOOLS));
  }
}

function install(folder: string, packages: readonly string[]): void {
  const options = [
    '--no-save',
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--legacy-peer-deps',
    '--loglevel=error',
  ];
  execFileSync('npm', ['install', '--prefix', folder, ...options, ...packages], { stdio: 'inherit' });
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  return version;
}
