import { PostChainError } from '../../machines/contracts/error.ts';
import { createDurableMachine } from '../durable/durable-machine.ts';
import { type Journals, lastWrittenMs } from '../durable/journals/journal-store.ts';
import { count, cutEnd, firstLineOf, oneLine } from '../internal/printable.ts';
import { type Asker, ask } from './ask-user.ts';
import { durableMachines, type ModuleFlags, modulePaths } from './durable-modules.ts';
import { type ListedRun, listAll, requireRun, shortRunIds } from './find-run.ts';
import { type JournalFlags, openJournals } from './open-journals.ts';
import { localTime } from './screen.ts';

export interface DeleteFlags extends JournalFlags, ModuleFlags {
  /** Ids of runs or durable actors, or starts of them; true for all that have not changed for `olderThan` and do not wait. */
  readonly delete: true | readonly string[];
  /** Milliseconds. */
  readonly olderThan?: number;
  /** Deletes without asking. */
  readonly yes?: boolean;
}

const MAX_LISTED = 10;

/** Returns how many runs and actors these are, such as "2 runs and 1 actor". */
function counted(listed: readonly ListedRun[]): string {
  const actors = listed.filter(({ machine }) => machine !== undefined).length;
  const runs = listed.length - actors;
  const counts = [runs > 0 || actors === 0 ? count(runs, 'run') : '', actors > 0 ? count(actors, 'actor') : ''];
  return counts.filter(Boolean).join(' and ');
}

/**
 * `postchain runs --delete`: deletes runs and durable actors after a confirmation, never one in progress. Returns the text to print.
 *
 * @throws PostChainError `invalid_option` without a choice of runs or a confirmation, `unknown_journal` for an unknown run
 */
export async function deleteRuns(flags: DeleteFlags, asker: Asker): Promise<string> {
  // `runs` lists the stores of modules, too, but deletes only from the one of `--journals`.
  if (flags.journals === undefined && modulePaths(flags).length > 0)
    throw new PostChainError(
      'invalid_option',
      '--delete with a module needs the store to delete from; pass --journals PLACE',
    );
  const all = await listAll(flags);
  const store = openJournals(flags);
  const { chosen, skipped } = await chosenRuns(store, all, flags);
  const shortId = shortRunIds(all);
  const name = ({ id }: ListedRun): string => oneLine(shortId(id));
  const note = skipped.length > 0 ? `${counted(skipped)} in progress skipped.\n` : '';
  if (chosen.length === 0) return `${note}No run or actor is that old.\n`;
  if (flags.yes !== true) await confirm(chosen, name, asker);
  const problems = new Map<ListedRun, string>();
  const hosts = chosen.some(({ machine }) => machine !== undefined) ? await durableMachines(flags) : [];
  // The store of the module may be another one.
  const machines = new Map(
    hosts.map(({ machineId, machine }) => [machineId, createDurableMachine(machine, { journals: store })]),
  );
  const removeFrom = ({ id, machine = '' }: ListedRun): Promise<void> => (machines.get(machine) ?? store).delete(id);
  const remove = (run: ListedRun) =>
    removeFrom(run).catch((error) => problems.set(run, `${name(run)}: ${oneLine(firstLineOf(error))}`));
  await Promise.all(chosen.map(remove));
  const deleted = `${note}Deleted ${counted(chosen.filter((run) => !problems.has(run)))}.\n`;
  if (problems.size === 0) return deleted;
  throw new PostChainError(
    'invalid_journal',
    `${oneLine(deleted)} ${counted([...problems.keys()])} could not be deleted: ${[...problems.values()].join('; ')}`,
  );
}

/** Runs in progress are an error if they were named. Old ones are skipped, as are old runs that wait. */
async function chosenRuns(store: Journals, all: readonly ListedRun[], flags: DeleteFlags) {
  const { delete: named, olderThan } = flags;
  if (named === true && olderThan === undefined)
    throw new PostChainError('invalid_option', '--delete needs run ids, or --older-than with an age such as 30d');
  if (named !== true && olderThan !== undefined)
    throw new PostChainError('invalid_option', '--delete takes run ids or --older-than; received both');
  const matching =
    named === true
      ? await unchangedRuns(store, all, olderThan ?? 0)
      : [...new Set(named.map((name) => requireRun(name, all)))];
  const skipped = matching.filter(({ status }) => status === 'running');
  const [held] = skipped;
  if (named !== true && held !== undefined) {
    const what = `${held.machine === undefined ? 'Run' : 'Actor'} ${oneLine(held.id)}`;
    throw new PostChainError('journal_held', `${what} is in progress and cannot be deleted; wait until it ends`);
  }
  return { chosen: matching.filter(({ status }) => status !== 'running'), skipped };
}

/** Returns the runs that do not wait and whose last entry was written more than `ms` milliseconds ago. */
async function unchangedRuns(store: Journals, all: readonly ListedRun[], ms: number) {
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
  const what = counted(runs);
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
