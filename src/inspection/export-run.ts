import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { isStartOfRun, parseRun } from '../chain/journal/run-journal.ts';
import { isStored } from '../chain/journal/run-start.ts';
import type { DurableEntry } from '../durable/entries.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { requireKnownOptions } from '../internal/require-known.ts';
import { chartDrawings } from './chart-drawings.ts';
import { type ExportedPage, exportedPage, type SharedEntries } from './exported-page.ts';
import { inspectorFile } from './pages.ts';
import { actorPage } from './systems/export-actor.ts';
import type { ReplayHost } from './systems/recorded-states.ts';

export interface ExportOptions {
  /** Replaces every string of the journal that is not part of its format. */
  readonly redact?: Redact;
  /** Durable machines whose actors are shown with charts and contexts, which a journal does not contain. */
  readonly hosts?: readonly ReplayHost[];
  /** The id of a durable actor; by default the one in its journal, which for a fork is that of its original. */
  readonly id?: string;
}

/**
 * Returns a run, or a durable actor of any machine, as one self-contained page with the inspector, its charts and the journal. Throws
 * `invalid_journal` if the first entry is not `start`, and `invalid_path` if the page is not built.
 *
 * @param entries of one run or actor, for example `journals.read(id)`
 */
export async function exportRun(
  entries: Iterable<JournalEntry | DurableEntry> | AsyncIterable<JournalEntry | DurableEntry>,
  options: ExportOptions = {},
): Promise<ExportedPage> {
  requireKnownOptions('exportRun', options, 'redact hosts id');
  const { redact, ...others } = options;
  const read: (JournalEntry | DurableEntry)[] = [];
  for await (const entry of entries) read.push(entry);
  return exportShared(await sharedEntries(read as readonly JournalEntry[] | readonly DurableEntry[], others), redact);
}

/** Returns the page of the result of `sharedEntries`. */
export async function exportShared(shared: SharedEntries, redact: Redact | undefined): Promise<ExportedPage> {
  return exportedPage(await inspectorFile(), shared, redact, chartDrawings);
}

/** Returns what an exported page contains: the entries of a run, or the rows of an actor's page. */
export async function sharedEntries(
  entries: readonly JournalEntry[] | readonly DurableEntry[],
  { hosts = [], id }: Pick<ExportOptions, 'hosts' | 'id'> = {},
): Promise<SharedEntries> {
  const [start] = entries;
  if (start?.type !== 'start' || isStartOfRun(start))
    return start && isStored(start)
      ? parseRun(entries as readonly DurableEntry[])
      : (entries as readonly JournalEntry[]);
  return actorPage(id ?? start.actorId, entries as readonly DurableEntry[], hosts);
}
