import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { withPictures } from '../chain/journal/run-journal.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import { stateHistory } from '../chain/journal/state-at.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { redacted } from './redaction.ts';
import { figuresIn } from './run-figures.ts';
import { aboutRun, frameWriter, limitationsOf, runCharts } from './source.ts';
import { type ActorPageEntry, type ExportedRun, type InspectedRun, type RunCharts, WIRE_VERSION } from './wire.ts';

export interface ExportedPage {
  /** One file that opens from disk without a network. */
  readonly html: string;
  /** SHA-256 of the data in the page, as hex. The page shows it, and rejects changed data. */
  readonly checksum: string;
}

/**
 * Returns the page with the result of `sharedEntries`. Runs in browsers, too. Throws `invalid_path` if the template is not the single-file
 * inspector. `draw` returns the pictures of an actor's charts.
 */
export async function exportedPage(
  template: string,
  shared: SharedEntries,
  redact?: Redact,
  draw: (charts: RunCharts) => Promise<ExportedRun['drawings']> = async () => undefined,
): Promise<ExportedPage> {
  const start = '<script type="application/json" id="recording"';
  const [before, after] = template.split(`${start}></script>`);
  if (before === undefined || after === undefined)
    throw new PostChainError('invalid_path', 'The page of the inspector is damaged; run: npm run build');
  const exported = isOfActor(shared) ? exportedActor(shared, redact) : exportedRun(shared, redact);
  const drawings = isOfActor(shared) ? await draw(exported.charts) : undefined;
  const whole: ExportedRun = { version: WIRE_VERSION, ...exported, ...(drawings && { drawings }) };
  // Safe inside a script element.
  const data = JSON.stringify(whole).replaceAll('<', '\\u003c');
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(data)));
  const checksum = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { html: `${before}${start} data-sha256="${checksum}">${data}</script>${after}`, checksum };
}

export type SharedEntries = readonly JournalEntry[] | readonly ActorPageEntry[];

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

function exportedActor(page: readonly ActorPageEntry[], redact: Redact | undefined): Omit<ExportedRun, 'version'> {
  const [head, ...shown] = redact ? redacted(page, redact) : page;
  const { run, charts } = head as Extract<ActorPageEntry, { run: unknown }>;
  const note = redact ? ['The actor was redacted when this file was exported.'] : [];
  const lines = shown.flatMap((one) => ('entry' in one ? [JSON.stringify(one.entry)] : []));
  const states = shown.flatMap((one) => ('frame' in one ? [JSON.stringify(one.frame)] : []));
  return { run: { ...run, fidelity: [...run.fidelity, ...note] }, charts, lines, states };
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
