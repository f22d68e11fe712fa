import { createHash } from 'node:crypto';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { originOf, runStartOf, startedAtOf, withoutBytes } from '../chain/journal/journal-format.ts';
import { stateHistory } from '../chain/journal/state-at.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { requireKnown } from '../internal/require-known.ts';
import { pageData, pageWith } from './pages.ts';
import { redacted } from './redaction.ts';
import { figuresFold } from './run-figures.ts';
import { forkOf, frameWriter, limitationsOf, runCharts } from './source.ts';
import { type ExportedRun, type InspectedRun, WIRE_VERSION } from './wire.ts';

export interface ExportOptions {
  /** Replaces every string of the journal that is not part of its format. */
  readonly redact?: Redact;
}

export interface ExportedPage {
  /** One file that opens from disk without a network. */
  readonly html: string;
  /** SHA-256 of the run in the page, as hex. The page shows it, and rejects changed data. */
  readonly checksum: string;
}

/**
 * Returns a run as one self-contained page with the inspector, its charts and the journal. Throws `invalid_journal` if the first entry is not
 * `start`, and `invalid_path` if the page is not built.
 */
export async function exportRun(entries: readonly JournalEntry[], options: ExportOptions = {}): Promise<ExportedPage> {
  requireKnown('exportRun', options, 'redact');
  const { redact } = options;
  const shown = redact ? redacted(entries, redact) : entries;
  const lines = shown.map((entry) => JSON.stringify(withoutBytes(entry)));
  const { states, problem } = stateHistory(shown);
  const run = runIn(shown, runStartOf(entries), redact !== undefined);
  const exported: ExportedRun = {
    version: WIRE_VERSION,
    run: problem === null ? run : { ...run, fidelity: [...run.fidelity, problem] },
    charts: runCharts(),
    lines,
    states: states.map(frameWriter()).map((frame) => JSON.stringify(frame)),
  };
  const data = pageData(exported);
  const checksum = createHash('sha256').update(data).digest('hex');
  return { html: await pageWith(data, checksum), checksum };
}

function figuresIn(entries: readonly JournalEntry[]): InspectedRun['summary'] {
  const fold = figuresFold(runStartOf(entries), true);
  for (const entry of entries) fold.take(entry);
  return fold.figures(false);
}

/** Returns the summary of an exported run. `recorded` is its start before the export, which may redact it. */
function runIn(entries: readonly JournalEntry[], recorded: RunStart, isRedacted: boolean): InspectedRun {
  const start = runStartOf(entries);
  const last = entries.at(-1);
  return {
    runId: start.input.runId,
    kind: 'run',
    title: start.input.request,
    startedAt: startedAtOf(start),
    ...forkOf(originOf(start)),
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
