/** Module hooks that load the examples: TypeScript is compiled, and the model is that of the benchmark. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const EXAMPLES = new URL('../../examples/', import.meta.url).href;
const POSTCHAIN = new URL('../../package.json', import.meta.url).href;

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  if (specifier === 'postchain/testing') return next(new URL('postchain-model.mjs', import.meta.url).href, context);
  // The packages that PostChain resolves are those of its own folder.
  const parentURL = specifier.startsWith('postchain/') ? POSTCHAIN : context.parentURL;
  return next(specifier, { ...context, parentURL });
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith(EXAMPLES) || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), { loader: 'ts', format: 'esm' });
  return { format: 'module', source: code, shortCircuit: true };
}
