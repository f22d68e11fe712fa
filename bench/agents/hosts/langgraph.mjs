import { join } from 'node:path';
import { Command } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { NOTE, PATTERNS } from '../patterns.mjs';

const RESUME = { 'refund-approval': { approved: true }, 'human-takeover': { type: 'handedBack', text: NOTE } };

/** Each checkpoint is stored before the next step starts. */
export const configOf = (/** @type {string} */ id) =>
  /** @type {const} */ ({ configurable: { thread_id: id }, durability: 'sync', recursionLimit: 100 });

/**
 * Loads a graph, with its checkpoints in an SQLite file.
 *
 * @param {string} pattern
 * @param {string} folder
 */
export async function load(pattern, folder) {
  const { createApp, stateOf, outputOf } = await import(`../peers/${pattern}.langgraph.mjs`);
  return { app: createApp(SqliteSaver.fromConnString(join(folder, 'checkpoints.db'))), stateOf, outputOf };
}

/** Returns a function that starts or continues a run. @param {string} pattern @param {string} folder */
export async function host(pattern, folder) {
  const { app, stateOf, outputOf } = await load(pattern, folder);
  return async (/** @type {string} */ id, /** @type {unknown} */ input) => {
    const config = configOf(id);
    const saved = await app.getState(config);
    let state = saved.values;
    if (saved.config.configurable?.checkpoint_id === undefined) state = await app.invoke(stateOf(input), config);
    else if (saved.next.length > 0) state = await app.invoke(null, config);
    while (state.__interrupt__?.length > 0) {
      // An answer to one question, not to whichever is open.
      const resume = Object.fromEntries(
        state.__interrupt__.map((/** @type {{ id: string }} */ question) => [
          question.id,
          RESUME[/** @type {keyof typeof RESUME} */ (pattern)],
        ]),
      );
      state = await app.invoke(new Command({ resume }), config);
    }
    return PATTERNS[pattern]?.resultOf({ output: outputOf?.(state) ?? state, value: undefined });
  };
}
