import { readFileSync } from 'node:fs';

/** The measured packages and where they are installed: the peers in bench/, XState where PostChain uses it. */
const PACKAGES = {
  postchain: '../package.json',
  xstate: '../node_modules/xstate/package.json',
  '@dbos-inc/dbos-sdk': 'node_modules/@dbos-inc/dbos-sdk/package.json',
  pg: 'node_modules/pg/package.json',
  jsonriver: 'node_modules/jsonriver/package.json',
  zod: 'node_modules/zod/package.json',
  langchain: 'node_modules/langchain/package.json',
  '@langchain/langgraph': 'node_modules/@langchain/langgraph/package.json',
  '@langchain/core': 'node_modules/@langchain/core/package.json',
  '@langchain/openai': 'node_modules/@langchain/openai/package.json',
  '@langchain/langgraph-checkpoint-sqlite': 'node_modules/@langchain/langgraph-checkpoint-sqlite/package.json',
  'better-sqlite3': 'node_modules/better-sqlite3/package.json',
  '@mastra/core': 'node_modules/@mastra/core/package.json',
  '@mastra/libsql': 'node_modules/@mastra/libsql/package.json',
  libsql: '../node_modules/libsql/package.json',
  ai: 'node_modules/ai/package.json',
  '@ai-sdk/openai-compatible': 'node_modules/@ai-sdk/openai-compatible/package.json',
  'ai-sdk-7': 'node_modules/ai-sdk-7/package.json',
  'openai-compatible-3': 'node_modules/openai-compatible-3/package.json',
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
