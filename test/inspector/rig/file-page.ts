import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { chartOf } from '../../../src/diagram/chart.ts';
import type { ExportedRun, RunCharts } from '../../../src/inspection/wire.ts';

export const runCharts: RunCharts = {
  charts: [chainMachine, attemptMachine, actionMachine].map(chartOf),
  invoked: { attempt: attemptMachine.id, action: actionMachine.id },
};

/** A page that is a file, with this run in it, as an export writes it: gives its address. The page must be built. */
export function filePage(entries: readonly JournalEntry[], folder: string): string {
  const [start] = entries;
  if (start?.type !== 'run-start') throw new Error('no run begins with it');
  const { runId, request: title, startedAt } = start;
  const end = entries.at(-1);
  const status = end?.type === 'run-end' ? end.status : 'interrupted';
  const exported: ExportedRun = {
    version: 1,
    run: { runId, kind: 'run', title, startedAt, status, live: false, fidelity: [] },
    charts: runCharts,
    lines: entries.map((entry) => JSON.stringify(entry)),
  };
  const template = readFileSync('dist/inspector-file/index.html', 'utf8');
  const data = JSON.stringify(exported).replaceAll('<', '\\u003c');
  const checksum = createHash('sha256').update(data).digest('hex');
  const path = join(folder, `${runId}.html`);
  writeFileSync(
    path,
    template.replace(
      /(<script type="application\/json" id="recording">)(?=<)/u,
      () => `<script type="application/json" id="recording" data-sha256="${checksum}">${data}`,
    ),
  );
  return pathToFileURL(path).href;
}
