import { PostChainError } from '../../machines/contracts/error.ts';
import { resumeRun } from '../replay/resume.ts';
import { inputOf } from './chain-input.ts';
import { type PostChainOptions, readOptions } from './options.ts';
import { partsOf } from './parts.ts';
import type { Run } from './run.ts';
import type { RunOptions } from './run-options.ts';
import { runStart } from './run-start.ts';
import { startRun } from './start-run.ts';

export interface PostChain {
  /** Starts a run. Throws `invalid_request` or `invalid_option` before anything starts, and nothing afterwards. */
  run(options: RunOptions): Run;
  /**
   * Goes on with a run of the chain's `journals` whose process ended; one that has ended is given as it ended. Rejects with
   * `invalid_journal` for a run that is not there, is under way, is damaged, or was made by another chart.
   */
  resume(runId: string, options?: Pick<RunOptions, 'signal'>): Promise<Run>;
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
  const { journals } = options;
  return {
    run(run) {
      const start = runStart(inputOf(run, options, parts), parts, run.host);
      return startRun(start, parts, { signal: run.signal, writer: journals?.create(start.runId) });
    },
    async resume(runId, { signal } = {}) {
      if (journals === undefined)
        throw new PostChainError(
          'invalid_option',
          'resume: the chain keeps no journals; wanted the option journals, say fileJournals("runs").',
        );
      return resumeRun(await journals.open(runId), parts, signal);
    },
  };
}
