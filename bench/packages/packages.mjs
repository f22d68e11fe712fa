import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary-folder.mjs';
import { versions } from '../versions.mjs';

/**
 * A package as a user installs it.
 *
 * @typedef {object} Package
 * @property {string} name
 * @property {readonly string[]} specs What to install: the package and its required peers.
 * @property {readonly string[]} imports The modules that a user of its main features imports.
 * @property {string} entry What a user's bundle contains.
 */

/** @returns {readonly Package[]} The first one is PostChain. */
export function packages() {
  const installed = versions();
  const at = (/** @type {string} */ name) => `${name}@${installed[name]}`;
  return [
    {
      name: 'PostChain',
      specs: [packed(), at('xstate')],
      imports: ['postchain'],
      entry: "export { createPostChain } from 'postchain';",
    },
    {
      name: 'xstate and zod alone',
      specs: [at('xstate'), at('zod')],
      imports: ['xstate', 'zod'],
      entry: "export { createActor, setup } from 'xstate'; export { array, number, object, string } from 'zod/mini';",
    },
    {
      name: 'LangGraph.js',
      specs: [at('@langchain/langgraph'), at('@langchain/core'), at('zod')],
      imports: ['@langchain/langgraph'],
      entry: "export { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph/web';",
    },
    {
      name: 'AI SDK',
      specs: [at('ai'), at('zod')],
      imports: ['ai'],
      entry: "export { Output, stepCountIs, streamText, tool } from 'ai';",
    },
    {
      name: 'Mastra',
      specs: [at('@mastra/core'), at('zod')],
      imports: ['@mastra/core', '@mastra/core/workflows'],
      entry:
        "export { Mastra } from '@mastra/core'; export { createStep, createWorkflow } from '@mastra/core/workflows';",
    },
  ];
}

/** Packs PostChain as it is published, and returns the file. */
function packed() {
  const folder = temporaryFolder();
  npm(['pack', '--ignore-scripts', '--pack-destination', folder], fileURLToPath(new URL('../..', import.meta.url)));
  return join(folder, readdirSync(folder)[0] ?? '');
}

/**
 * Installs a package into a new folder, and returns the folder.
 *
 * @param {Package} one
 */
export function install({ specs }) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  npm(['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...specs], folder);
  return folder;
}

/**
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function npm(args, cwd) {
  const path = process.env['npm_execpath'];
  const [command, all] = path === undefined ? ['npm', args] : [process.execPath, [path, ...args]];
  // npm run sets variables that point npm to bench/.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/iu.test(name)));
  const { status, stderr } = spawnSync(command, all, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`);
}

/**
 * Returns the bytes of all files in a folder.
 *
 * @param {string} folder
 */
export function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(folder, path)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}
