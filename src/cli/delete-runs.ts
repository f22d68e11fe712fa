import { PostChainError } from '../../machines/contracts/error.ts';
import { lastWrittenMs } from '../durable/journals/journal-store.ts';
import type { ActorJournals } from '../durable/stores.ts';
import { count, cutEnd, firstLineOf, oneLine } from '../internal/printable.ts';
import { type Asker, ask } from './ask-user.ts';
import { type JournalFlags, type ListedRun, listAll, openActors, requireRun, shortRunIds } from './find-run.ts';
import { localTime } from './screen.ts';

export interface DeleteFlags extends JournalFlags {
  /** Ids of runs or durable actors, or starts of them; true for all that have not changed for `olderThan` and do not wait. */
  readonly delete: true | readonly string[];
  /** Milliseconds. */
  readonly olderThan?: number;
  /** Deletes without asking. */
  readonly yes?: boolean;
}

const MAX_LISTED = 10;

/**
 * `postchain runs --delete`: deletes runs and durable actors after a confirmation, never one in progress. Returns the text to print.
 *
 * @throws PostChainError `invalid_option` without a choice of runs or a confirmation, `unknown_journal` for an unknown run
 */
export async function deleteRuns(flags: DeleteFlags, asker: Asker): Promise<string> {
  const all = await listAll(flags);
  const store = openActors(flags);
  const { chosen, skipped } = await chosenRuns(store, all, flags);
  const shortId = shortRunIds(all);
  const name = ({ id: runId }: ListedRun): string => oneLine(shortId(runId));
  const note = skipped > 0 ? `${count(skipped, 'run')} in progress skipped.\n` : '';
  if (chosen.length === 0) return `${note}No run is that old.\n`;
  if (flags.yes !== true) await confirm(chosen, name, asker);
  const problems = (
    await Promise.all(
      chosen.map((run) =>
        store.delete(run.id).then(
          () => [],
          (error: unknown) => [`${name(run)}: ${oneLine(firstLineOf(error))}`],
        ),
      ),
    )
  ).flat();
  const deleted = `${note}Deleted ${count(chosen.length - problems.length, 'run')}.\n`;
  if (problems.length === 0) return deleted;
  throw new PostChainError(
    'invalid_journal',
    `${oneLine(deleted)} ${count(problems.length, 'run')} could not be deleted: ${problems.join('; ')}`,
  );
}

/** Runs in progress are an error if they were named. Old ones are skipped, as are old runs that wait. */
async function chosenRuns(store: ActorJournals, all: readonly ListedRun[], flags: DeleteFlags) {
  const { delete: named, olderThan } = flags;
  if (named === true && olderThan === undefined)
    throw new PostChainError('invalid_option', '--delete needs run ids, or --older-than with an age such as 30d');
  if (named !== true && olderThan !== undefined)
    throw new PostChainError('invalid_option', '--delete takes run ids or --older-than; received both');
  const matching =
    named === true
      ? await unchangedRuns(store, all, olderThan ?? 0)
      : [...new Set(named.map((name) => requireRun(name, all)))];
  const running = matching.filter(({ status }) => status === 'running');
  if (named !== true && running[0] !== undefined)
    throw new PostChainError(
      'journal_held',
      `Run ${oneLine(running[0].id)} is in progress and cannot be deleted; wait until it ends`,
    );
  return { chosen: matching.filter(({ status }) => status !== 'running'), skipped: running.length };
}

/** Returns the runs that do not wait and whose last entry was written more than `ms` milliseconds ago. */
async function unchangedRuns(store: ActorJournals, all: readonly ListedRun[], ms: number) {
  const unchanged: ListedRun[] = [];
  for (const run of olderRuns(all, ms)) {
    if (run.status === 'waiting') continue;
    const writtenMs = await lastWrittenMs(run.startedAt, store.read(run.id)).catch(() => 0);
    if (run.status === 'running' || writtenMs < Date.now() - ms) unchanged.push(run);
  }
  return unchanged;
}

/** Returns the runs that started more than `ms` milliseconds ago. The age of a damaged journal is unknown. */
export function olderRuns(runs: readonly ListedRun[], ms: number): readonly ListedRun[] {
  const latest = new Date(Date.now() - ms).toISOString();
  return runs.filter(({ startedAt }) => startedAt !== '' && startedAt < latest);
}

async function confirm(runs: readonly ListedRun[], name: (run: ListedRun) => string, asker: Asker): Promise<void> {
  const what = count(runs.length, 'run');
  if (asker === null)
    throw new PostChainError('invalid_option', `--delete would delete ${what}; pass --yes to delete without asking`);
  for (const run of runs.slice(0, MAX_LISTED))
    asker.screen.line(`  ${name(run)}  ${localTime(run.startedAt)}  ${cutEnd(oneLine(run.request), 40)}`);
  if (runs.length > MAX_LISTED) asker.screen.line(`  … and ${runs.length - MAX_LISTED} more`);
  const isConfirmed = await ask(
    {
      text: `Delete ${what}?`,
      choices: [
        { value: false, label: 'no' },
        { value: true, label: 'yes, delete' },
      ],
      initial: false,
      onEscape: 'no',
    },
    asker,
  );
  if (isConfirmed !== true) throw new PostChainError('cancelled', 'Nothing was deleted');
}
