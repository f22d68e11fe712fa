import { readFileSync } from 'node:fs';

/** The measured packages and where they are installed: the peers in bench/, XState where PostChain uses it. */
const PACKAGES = {
  postchain: '../package.json',
  xstate: '../node_modules/xstate/package.json',
  jsonriver: 'node_modules/jsonriver/package.json',
  zod: 'node_modules/zod/package.json',
  '@langchain/langgraph': 'node_modules/@langchain/langgraph/package.json',
  '@langchain/core': 'node_modules/@langchain/core/package.json',
  ai: 'node_modules/ai/package.json',
  'zod-stream': 'node_modules/zod-stream/package.json',
  'schema-stream': 'node_modules/schema-stream/package.json',
};

/** @returns {Record<string, string>} */
export function versions() {
  return Object.fromEntries(
    Object.entries(PACKAGES).map(([name, path]) => {
      const text = readFileSync(new URL(path, import.meta.url), 'utf8');
      return [name, /** @type {{ version: string }} */ (JSON.parse(text)).version];
    }),
  );
}
