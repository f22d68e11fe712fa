import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { bakedDrawings } from '../../../inspector/chart/baked-drawings.ts';
import { chartOf } from '../../../src/diagram/chart.ts';
import { machinesByName } from '../../../src/diagram/machines.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';

/** The charts of a run of PostChain, as its server tells them. */
export const ownCharts: RunCharts = {
  charts: ['chain', 'action', 'attempt'].map((name) => chartOf(machinesByName[name] as never)),
  invoked: { action: 'actionLoop', attempt: 'attempt' },
};

/** The page of the tests, built into a folder of its own. */
export async function buildChartPage(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-chart-'));
  await build({
    root: 'test/inspector/chart/page',
    configFile: false,
    logLevel: 'error',
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [bakedDrawings(ownCharts)],
    worker: { format: 'es' },
    build: {
      outDir: folder,
      emptyOutDir: true,
      minify: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
