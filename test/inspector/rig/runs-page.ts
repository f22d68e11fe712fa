import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { bakedDrawings } from '../../../inspector/chart/baked-drawings.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { runCharts as bakedCharts } from '../../../src/inspection/run-charts.ts';
import type { InspectedRun, RunCharts } from '../../../src/inspection/wire.ts';
import { serveFolder } from '../../examples/react/page-rig.ts';
import { runCharts } from './file-page.ts';

/** A run as a server would give it. */
export interface HeldRun {
  readonly run: InspectedRun;
  readonly charts: RunCharts;
  readonly lines: readonly string[];
  readonly test: { readonly text: string; readonly problem: string | null };
}

export function heldRun(entries: readonly JournalEntry[], changes: Partial<HeldRun> = {}): HeldRun {
  const [start, end] = [entries[0], entries.at(-1)];
  if (start?.type !== 'run-start') throw new Error('no run begins with it');
  const { runId, request: title, startedAt } = start;
  const status = end?.type === 'run-end' ? end.status : 'interrupted';
  return {
    run: { runId, kind: 'run', title, startedAt, status, live: false, fidelity: [] },
    charts: runCharts,
    lines: entries.map((entry) => JSON.stringify(entry)),
    test: { text: `// a test of ${runId}`, problem: null },
    ...changes,
  };
}

/** The page on these runs, at an address of this machine. */
export async function serveRuns(runs: readonly HeldRun[], folder: string) {
  await build({
    root: 'test/inspector/rig/runs-page',
    base: './',
    configFile: false,
    plugins: [bakedDrawings(bakedCharts())],
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true, minify: false, target: 'es2023' },
  });
  writeFileSync(join(folder, 'runs.json'), JSON.stringify(runs));
  return serveFolder(folder);
}
