import { questionsIn } from './offline-corpus.mjs';
import { agreements, callsOf, runInEach } from './profile-runs.mjs';

/**
 * Whether the extractive model's runs make the same decisions in each profile. It reads the context that a prompt shows, so a shared call
 * can change its replies, but far less than those of an LLM.
 *
 * @typedef {import('./profile-runs.mjs').Runs} Runs
 */

export const measure = {
  /** The corpus is in the repository. */
  file: null,
  async run() {
    const { createPostChain } = await import('../../../dist/index.js');
    /** @type {(readonly [label: string, Runs])[]} */
    const rows = [];
    for (const file of /** @type {const} */ (['questions', 'unseen'])) {
      for await (const { question, documents } of questionsIn(file)) {
        const runs = await runInEach((profile) => createPostChain({ documents, profile }).run({ request: question.q }));
        rows.push([`${question.set}: ${question.q}`, runs]);
      }
    }
    return [...agreements('profiles_agree', rows), ...callsOf('profiles_calls', rows)];
  },
};
