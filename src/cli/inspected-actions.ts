import type { JournalStore } from '../chain/journal/journal-format.ts';
import type { Run } from '../chain/runtime/run.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import type { ActionOptions, RunActions } from '../inspection/run-actions.ts';
import type { NeedsTrust } from '../inspection/wire.ts';
import type { FoundRun } from './find-run.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import { flagsToContinue, startOf, trustQuestion } from './recorded-flags.ts';

export interface InspectedJournals extends Pick<FoundRun, 'isFile' | 'isForeign'> {
  readonly journals: JournalStore;
}

/**
 * Returns actions that continue runs as `postchain resume` and `fork` do: with their recorded flags, this process's environment, and a
 * confirmation for a run whose journal may come from someone else.
 */
export function inspectedActions({ journals, isFile, isForeign }: InspectedJournals): RunActions {
  async function continued(
    runId: string,
    { isTrusted }: ActionOptions,
    isFork: boolean,
    start: (prepared: PreparedRun) => Promise<Run>,
  ): Promise<Run | NeedsTrust> {
    const question = trustQuestion(await startOf(journals.read(runId)), isForeign);
    if (question !== null && !isTrusted) return question;
    const found = { store: journals, runId, isFile, isForeign, status: 'interrupted' } as const;
    // The page has asked already, and nobody answers at the terminal.
    const { session, sessionFile, ...flags } = await flagsToContinue(found, { trust: true, quiet: true }, process);
    // A fork is not added to the session of the original run, nor to its journal file.
    const prepared = isFork
      ? await prepareRun(flags, isFile ? undefined : journals)
      : await prepareRun(
          { ...flags, ...(session !== undefined && { session }), ...(sessionFile !== undefined && { sessionFile }) },
          journals,
        );
    try {
      const run = await start(prepared);
      void run.answer.then(prepared.close);
      return run;
    } catch (error) {
      await prepared.close();
      throw error;
    }
  }

  return {
    resume: (runId, options) => continued(runId, options, false, ({ chain }) => chain.resume(runId)),
    fork: (runId, change, options) =>
      continued(runId, options, true, async ({ chain, host }) =>
        chain.fork(await entriesOf(journals.read(runId)), { ...change, host }),
      ),
  };
}
