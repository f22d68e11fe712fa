import { createHash } from 'node:crypto';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, Redact } from '../../../machines/contracts/journal.ts';

import { fidelityOf } from '../fidelity.ts';
import { pageData, pageWith } from '../pages/page-template.ts';
import { runCharts } from '../run-charts.ts';
import { type ExportedRun, type InspectedRun, WIRE_VERSION } from '../wire.ts';
import { redacted } from './redaction.ts';

export interface ExportOptions {
  /** Sees every text of the journal, and gives what stands in the file in its place. */
  readonly redact?: Redact;
}

export interface ExportedPage {
  /** One file that opens from disk, with no network. */
  readonly html: string;
  /** SHA-256 of the run in it, hex: the page shows the same, and refuses a run that was changed. */
  readonly checksum: string;
}

/**
 * A run as one self-contained page: the inspector, its charts as they are drawn, and the journal. Throws `invalid_journal` for what
 * no run begins, and `invalid_path` where the page is not built.
 */
export async function exportRun(
  entries: readonly JournalEntry[],
  { redact }: ExportOptions = {},
): Promise<ExportedPage> {
  const shown = redact ? redacted(entries, redact) : entries;
  const lines = shown.map((entry) => JSON.stringify(entry));
  const exported: ExportedRun = { version: WIRE_VERSION, run: runIn(shown), charts: runCharts(), lines };
  const data = pageData(exported);
  const checksum = createHash('sha256').update(data).digest('hex');
  return { html: await pageWith('run', data, checksum), checksum };
}

function runIn(entries: readonly JournalEntry[]): InspectedRun {
  const [start] = entries;
  if (start?.type !== 'run-start')
    throw new PostChainError(
      'invalid_journal',
      'No run begins with the first entry: wanted the whole journal of a run.',
    );
  const last = entries.at(-1);
  return {
    runId: start.runId,
    kind: 'run',
    title: start.request,
    startedAt: start.forkedFrom?.forkedAt ?? start.startedAt,
    status: last?.type === 'run-end' ? last.status : 'interrupted',
    live: false,
    fidelity: fidelityOf(start),
  };
}
