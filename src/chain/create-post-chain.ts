import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ModelStatus } from '../../machines/contracts/model-status.ts';
import { workingForms } from '../../machines/policies/model-status.ts';
import type { OpenJournalOptions } from '../durable/journals/journal-store.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import { type ForkOptions, forkRun } from './journal/fork.ts';
import type { JournalStore } from './journal/journal-format.ts';
import { requireResumable, resumeRun } from './journal/resume.ts';
import { type PostChainOptions, resolveOptions } from './runtime/options.ts';
import { createChainHost, type Run, startRun } from './runtime/run.ts';
import { createChainInput, type RunOptions } from './runtime/run-options.ts';
import { createRunSlots, startInSlot } from './runtime/run-slots.ts';

/** Creates, resumes and forks runs. */
export interface PostChain {
  /**
   * Starts a run. Before anything starts, it throws `invalid_request`, `unsupported_file` or `invalid_option`, or rethrows the error of
   * `journals.create`. After that, it never throws.
   */
  run(options: RunOptions): Run;
  /**
   * Continues a run from `journals` whose process died; a run that has ended is returned with its answer. Rejects with
   * `invalid_journal` if the run is missing, still running or damaged, or was recorded on another version of the chart.
   * With `maxConcurrentRuns`, it waits in the queue before it opens the journal; so does `fork`.
   * `force` takes over a run whose process may still be alive, for example on another host.
   */
  resume(runId: string, options?: Pick<RunOptions, 'signal'> & OpenJournalOptions): Promise<Run>;
  /**
   * Starts a new run that repeats a recorded one (a run id from `journals`, or a list of entries) up to an entry and
   * continues from there with a change. Calls that match the recording get the recorded results; all other calls run live.
   * Rejects with `invalid_option` or `invalid_journal`.
   */
  fork(run: string | readonly JournalEntry[], options: ForkOptions): Promise<Run>;
}

/**
 * Creates a reasoning chain from a model, documents and capabilities. Throws `invalid_option` if an option is invalid.
 *
 * @example
 * const chain = createPostChain({ model, documents });
 * const { answerText, sources } = await chain.run({ request: 'What does Yield decide?' }).answer;
 */
export function createPostChain(options: PostChainOptions = {}): PostChain {
  const parts = resolveOptions(options);
  const chain = createChainHost(parts, options.journals, requireResumable);
  const slots = createRunSlots(options.maxConcurrentRuns ?? Number.POSITIVE_INFINITY);
  let models: readonly ModelStatus[] | null = null;
  const kept = (): JournalStore => options.journals ?? noJournals();
  return {
    run(run) {
      const { input, files } = createChainInput(run, parts);
      const withForms = models === null ? input : { ...input, models };
      const started = startRun(chain, withForms, { signal: run.signal, files, slots, host: run.host ?? null });
      const keepForms = (): void => {
        models = workingForms(started.actor.getSnapshot().context.models) ?? models;
      };
      started.answer.then(keepForms, () => {});
      return started;
    },
    resume: (runId, { signal, ...open } = {}) =>
      startInSlot(slots, signal, async () => {
        kept();
        return resumeRun(chain, runId, { ...open, signal });
      }),
    fork: async (run, how) =>
      startInSlot(slots, how.signal, async () => {
        return forkRun(chain, typeof run === 'string' ? await entriesOf(kept().read(run)) : run, how);
      }),
  };
}

function noJournals(): never {
  throw new PostChainError(
    'invalid_option',
    'journals: expected a journal store, for example fileJournals("runs"); received none.',
  );
}
