import { inputOf } from './chain-input.ts';
import { type PostChainOptions, readOptions } from './options.ts';
import { partsOf } from './parts.ts';
import type { Run } from './run.ts';
import type { RunOptions } from './run-options.ts';
import { startRun } from './start-run.ts';

export interface PostChain {
  /** Starts a run. Throws `invalid_request` or `invalid_option` before anything starts, and nothing afterwards. */
  run(options: RunOptions): Run;
}

/**
 * A reasoning chain joined to a model, documents and capabilities. Throws `invalid_option` for options that make no sense.
 *
 * @example
 * const chain = createPostChain({ model, documents });
 * const { answerText, sources } = await chain.run({ request: 'What does Yield decide?' }).answer;
 */
export function createPostChain(options: PostChainOptions = {}): PostChain {
  readOptions(options);
  const parts = partsOf(options);
  return { run: (run) => startRun(inputOf(run, options, parts), parts, run.signal) };
}
