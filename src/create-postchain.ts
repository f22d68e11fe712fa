import { PostChainError } from '../machines/contracts/error.ts';
import type { JournalEntry } from '../machines/contracts/journal-entry.ts';
import { entriesOf } from './journal/entries-of.ts';
import type { JournalStore } from './journal/stores/journal-store.ts';
import { type ForkOptions, forkRun } from './replay/fork.ts';
import { resumeRun } from './replay/resume.ts';
import { inputOf } from './runtime/chain-input.ts';
import type { PostChainOptions } from './runtime/options.ts';
import { partsOf } from './runtime/parts.ts';
import type { Run } from './runtime/run.ts';
import type { RunOptions } from './runtime/run-options.ts';
import { runStart } from './runtime/run-start.ts';
import { startRun } from './runtime/start-run.ts';

export interface PostChain {
  /** Starts a run. Throws `invalid_request` or `invalid_option` before anything starts, and nothing afterwards. */
  run(options: RunOptions): Run;
  /**
   * Goes on with a run of the chain's `journals` whose process ended; one that has ended is given as it ended. Rejects with
   * `invalid_journal` for a run that is not there, is under way, is damaged, or was made by another chart.
   */
  resume(runId: string, options?: Pick<RunOptions, 'signal'>): Promise<Run>;
  /**
   * Begins a run that is another one up to an entry, one of the chain's `journals` or a journal that is given, and goes on from there with something changed. Recorded answers are
   * used as long as the same is asked. Rejects with `invalid_option` or `invalid_journal`.
   */
  fork(run: string | readonly JournalEntry[], options: ForkOptions): Promise<Run>;
}

/**
 * A reasoning chain joined to a model, documents and capabilities. Throws `invalid_option` for options that make no sense.
 *
 * @example
 * const chain = createPostChain({ model, documents });
 * const { answerText, sources } = await chain.run({ request: 'What does Yield decide?' }).answer;
 */
export function createPostChain(options: PostChainOptions = {}): PostChain {
  const parts = partsOf(options);
  const kept = (): JournalStore => options.journals ?? noJournals();
  return {
    run(run) {
      const start = runStart(inputOf(run, parts), parts, {
        host: run.host ?? null,
        states: options.journals !== undefined,
      });
      return startRun(start, parts, { signal: run.signal, writer: options.journals?.create(start.runId) });
    },
    resume: async (runId, { signal } = {}) => resumeRun(await kept().open(runId), parts, signal),
    fork: async (run, how) =>
      forkRun(
        { entries: typeof run === 'string' ? await entriesOf(kept().read(run)) : run, runId: parts.newRunId() },
        { parts, journals: options.journals },
        how,
      ),
  };
}

function noJournals(): never {
  throw new PostChainError(
    'invalid_option',
    'The chain keeps no journals; wanted the option journals, say fileJournals("runs").',
  );
}
