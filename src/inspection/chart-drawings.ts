import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { builtFolder } from './pages.ts';
import type { RunCharts } from './wire.ts';

type Drawings = Readonly<Record<string, unknown>>;

/** Gives the page's layout worker the two functions of a browser that it uses. */
const BROWSER = `
const { parentPort, workerData } = require('node:worker_threads');
globalThis.self = {
  addEventListener: (_, take) => parentPort.on('message', (data) => take({ data })),
  postMessage: (data) => parentPort.postMessage(data),
};
import(workerData);
`;

const TIMEOUT_MS = 30_000;

/**
 * Returns pictures of charts for a page that is opened from disk, which cannot start a worker. Undefined if there are none, if the page is not
 * built, or if the layout takes longer than 30 seconds; the page then shows lists.
 */
export async function chartDrawings(charts: RunCharts): Promise<Drawings | undefined> {
  const path = join(builtFolder('inspector'), 'layout.js');
  if (charts.charts.length === 0 || !existsSync(path)) return undefined;
  const worker = new Worker(BROWSER, { eval: true, workerData: pathToFileURL(path).href });
  try {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), TIMEOUT_MS);
      worker.on('error', () => resolve(undefined));
      worker.on('exit', () => clearTimeout(timer));
      worker.on('message', ({ drawings, isPart }: { drawings: Drawings | null; isPart?: true }) => {
        if (!isPart) resolve(drawings ?? undefined);
      });
      worker.postMessage(charts);
    });
  } finally {
    await worker.terminate();
  }
}
