import { createHash } from 'node:crypto';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { isStartOfRun, parseRun, withPictures } from '../chain/journal/run-journal.ts';
import { isStored, runStartOf } from '../chain/journal/run-start.ts';
import { stateHistory } from '../chain/journal/state-at.ts';
import type { DurableEntry } from '../durable/entries.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { requireKnownOptions } from '../internal/require-known.ts';
import { chartDrawings } from './chart-drawings.ts';
import { pageData, pageWith } from './pages.ts';
import { redacted } from './redaction.ts';
import { figuresIn } from './run-figures.ts';
import { aboutRun, frameWriter, limitationsOf, runCharts } from './source.ts';
import { type ActorPageEntry, actorPage } from './systems/export-actor.ts';
import type { ReplayHost } from './systems/recorded-states.ts';
import { type ExportedRun, type InspectedRun, WIRE_VERSION } from './wire.ts';

export interface ExportOptions {
  /** Replaces every string of the journal that is not part of its format. */
  readonly redact?: Redact;
  /** Durable machines whose actors are shown with charts and contexts, which a journal does not contain. */
  readonly hosts?: readonly ReplayHost[];
  /** The id of a durable actor; by default the one in its journal, which for a fork is that of its original. */
  readonly id?: string;
}

export interface ExportedPage {
  /** One file that opens from disk without a network. */
  readonly html: string;
  /** SHA-256 of the data in the page, as hex. The page shows it, and rejects changed data. */
  readonly checksum: string;
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
  const exported = isOfActor(shared) ? await exportedActor(shared, redact) : exportedRun(shared, redact);
  const data = pageData({ version: WIRE_VERSION, ...exported } satisfies ExportedRun);
  const checksum = createHash('sha256').update(data).digest('hex');
  return { html: await pageWith(data, checksum), checksum };
}

type SharedEntries = readonly JournalEntry[] | readonly ActorPageEntry[];

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

const isOfActor = (shared: readonly (JournalEntry | ActorPageEntry)[]): shared is readonly ActorPageEntry[] =>
  shared[0]?.type === 'page';

function exportedRun(entries: readonly JournalEntry[], redact: Redact | undefined): Omit<ExportedRun, 'version'> {
  const shown = redact ? redacted(entries, redact) : entries;
  const { states, problem } = stateHistory(shown);
  const run = runIn(shown, runStartOf(entries), redact !== undefined);
  return {
    run: problem === null ? run : { ...run, fidelity: [...run.fidelity, problem] },
    charts: runCharts(),
    lines: shown.map((entry) => JSON.stringify(withPictures(entry))),
    states: states.map(frameWriter()).map((frame) => JSON.stringify(frame)),
  };
}

async function exportedActor(
  page: readonly ActorPageEntry[],
  redact: Redact | undefined,
): Promise<Omit<ExportedRun, 'version'>> {
  const [head, ...shown] = redact ? redacted(page, redact) : page;
  const { run, charts } = head as Extract<ActorPageEntry, { run: unknown }>;
  const note = redact ? ['The actor was redacted when this file was exported.'] : [];
  const lines = shown.flatMap((one) => ('entry' in one ? [JSON.stringify(one.entry)] : []));
  const states = shown.flatMap((one) => ('frame' in one ? [JSON.stringify(one.frame)] : []));
  const drawings = await chartDrawings(charts);
  return {
    run: { ...run, fidelity: [...run.fidelity, ...note] },
    charts,
    ...(drawings && { drawings }),
    lines,
    states,
  };
}

/** Returns the summary of an exported run. `recorded` is its start before the export, which may redact it. */
function runIn(entries: readonly JournalEntry[], recorded: RunStart, isRedacted: boolean): InspectedRun {
  const start = runStartOf(entries);
  const last = entries.at(-1);
  return {
    runId: start.input.runId,
    ...aboutRun(start),
    ...(last?.type === 'end'
      ? { status: last.summary.status }
      : { status: 'interrupted', exportedAt: new Date().toISOString() }),
    live: false,
    fidelity: [
      ...limitationsOf(recorded),
      ...(isRedacted ? ['The run was redacted when this file was exported; streamed text is left out.'] : []),
    ],
    summary: figuresIn(entries),
  };
}
