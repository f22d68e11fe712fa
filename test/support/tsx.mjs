// Lets Node 20 import TypeScript, as tsx does for a reader of the tutorials.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && !process.features.typescript) register(import.meta.url);

export async function load(url, context, next) {
  if (!/\.m?ts$/.test(url)) return next(url, context);
  const { transformWithOxc } = await import('vite');
  const path = fileURLToPath(url);
  const { code } = await transformWithOxc(await readFile(path, 'utf8'), path);
  return { format: 'module', source: code, shortCircuit: true };
}
