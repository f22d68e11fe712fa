import type { JournalStore } from '../chain/journal/journal-format.ts';
import { runStartOf } from '../chain/journal/journal-format.ts';
import type { Run } from '../chain/runtime/run.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import type { ActionOptions, RunActions } from '../inspection/run-actions.ts';
import type { NeedsTrust } from '../inspection/wire.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import { flagsToContinue, startOf, trustQuestion } from './recorded-flags.ts';

/**
 * Returns actions that continue runs as `postchain resume` and `fork` do: with their recorded flags, this process's environment, and a
 * confirmation for a run that this installation did not sign.
 */
export function inspectedActions(journals: JournalStore, isFile: boolean): RunActions {
  async function continued(
    runId: string,
    { isTrusted }: ActionOptions,
    isFork: boolean,
    start: (prepared: PreparedRun) => Promise<Run>,
  ): Promise<Run | NeedsTrust> {
    const question = trustQuestion(await startOf(journals.read(runId)), isFile);
    if (question !== null && !isTrusted) return question;
    const found = { store: journals, runId, isFile, status: 'interrupted' } as const;
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
      continued(runId, options, true, async ({ chain, host }) => {
        const entries = await entriesOf(journals.read(runId));
        return chain.fork(entries, { ...change, host: host(runStartOf(entries).sessionId) });
      }),
  };
}
