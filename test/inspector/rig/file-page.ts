import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { runCharts as chartsOfRuns } from '../../../src/inspection/source.ts';
import type { ExportedRun } from '../../../src/inspection/wire.ts';
import { heldRun } from './held-run.ts';

export const runCharts = chartsOfRuns();

/** A page that is a file, with this run in it, as an export writes it: gives its address. The page must be built. */
export function filePage(entries: readonly JournalEntry[], folder: string): string {
  const { run, charts, lines } = heldRun(entries);
  const exported: ExportedRun = { version: 1, run, charts, lines };
  const template = readFileSync('dist/inspector-file/index.html', 'utf8');
  const data = JSON.stringify(exported).replaceAll('<', '\\u003c');
  const checksum = createHash('sha256').update(data).digest('hex');
  const path = join(folder, `${run.runId}.html`);
  writeFileSync(
    path,
    template.replace(
      /(<script type="application\/json" id="recording">)(?=<)/u,
      () => `<script type="application/json" id="recording" data-sha256="${checksum}">${data}`,
    ),
  );
  return pathToFileURL(path).href;
}
