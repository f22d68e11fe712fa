import { isDeepStrictEqual } from 'node:util';
import type { RunStart } from '../../machines/contracts/journal.ts';
import { readRun, runEntries } from '../chain/journal/run-journal.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import type { Run } from '../chain/runtime/run.ts';
import type { JournalStore } from '../durable/journals/journal-store.ts';
import type { RunActions } from '../inspection/run-actions.ts';
import { isWaiting } from '../inspection/run-figures.ts';
import type { NeedsTrust } from '../inspection/wire.ts';
import { defaultModel } from './choose-model.ts';
import type { FoundRun } from './find-run.ts';
import { type PreparedRun, prepareRun, type RunFlags } from './prepare-run.ts';
import {
  flagsToContinue,
  openedIf,
  requireModel,
  requireSameStart,
  resumeProblem,
  startIn,
  trustQuestion,
} from './recorded-flags.ts';

export interface InspectedJournals extends Pick<FoundRun, 'isFile' | 'isForeign'> {
  readonly journals: JournalStore;
  /** The option --journals. */
  readonly place?: string | undefined;
}

/**
 * Returns actions that continue runs as `postchain resume` and `fork` do: with their recorded flags, this process's environment, and a
 * confirmation for a run whose journal may come from someone else.
 */
export function inspectedActions({ journals, place, isFile, isForeign }: InspectedJournals): RunActions {
  async function continued(
    start: RunStart,
    confirmed: NeedsTrust | null,
    prepare: (flags: RunFlags) => Promise<PreparedRun>,
    begin: (prepared: PreparedRun) => Promise<Run>,
    given: Pick<RunFlags, 'model'> = {},
  ): Promise<Run | NeedsTrust> {
    const question = trustQuestion(start, isForeign);
    if (question !== null && !isDeepStrictEqual(question, confirmed)) return question;
    // The page has asked already, and nobody answers at the terminal.
    const prepared = await prepare(
      await flagsToContinue(start, isForeign, { ...given, trust: true, quiet: true }, process),
    );
    try {
      const run = await begin(prepared);
      void run.answer.then(prepared.close);
      return run;
    } catch (error) {
      await prepared.close();
      throw error;
    }
  }

  return {
    model: defaultModel(process.env, undefined),
    blocked: (run) => resumeProblem(run, place),
    async resume(runId, { confirmed, force }) {
      const start = await startIn(runEntries(journals.read(runId)));
      const prepare = (flags: RunFlags) =>
        prepareRun(flags, requireSameStart(start, force ? requireWaiting(journals) : journals));
      return continued(start, confirmed, prepare, async ({ chain }) => {
        requireModel(start, {}, chain);
        return chain.resume(runId, { force });
      });
    },
    async fork(runId, { model, ...change }, { confirmed }) {
      const entries = await readRun(journals.read(runId));
      // A fork is not added to the session of the original run, nor to its journal file.
      const prepare = ({ session: _, sessionFile: __, ...flags }: RunFlags) =>
        prepareRun(flags, isFile ? undefined : journals);
      const begin = ({ chain, host }: PreparedRun) => chain.fork(entries, { ...change, host });
      return continued(runStartOf(entries), confirmed, prepare, begin, model === undefined ? {} : { model });
    },
  };
}

/** A run is taken over only if it still waits when this process holds it: the process before may have received the answer just then. */
const requireWaiting = (store: JournalStore): JournalStore =>
  openedIf(
    isWaiting,
    'was answered at the same moment, and its process was stopped; look at what it did, then resume the run',
    store,
  );
