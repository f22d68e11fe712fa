import { baked } from 'virtual:drawings';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartDigest, type Drawing, type LaidOut, ownOf } from './drawing.ts';

const LAYOUT_TIMEOUT_MS = 10_000;

const laidOut = new Map<string, Promise<LaidOut>>();
const MAX_CACHED = 20;

/** The drawings made at build time; null if one is missing. */
export function bakedDrawingsOf(charts: RunCharts): Readonly<Record<string, Drawing>> | null {
  const found: [string, Drawing][] = [];
  for (const chart of charts.charts) {
    const drawing = ownOf(baked, chartDigest(chart));
    if (drawing === undefined) return null;
    found.push([chart.id, drawing]);
  }
  return Object.fromEntries(found);
}

/** Lays out charts in a worker, once per definition. Charts that take too long are not drawn. */
export function layoutOf(charts: RunCharts): Promise<LaidOut> {
  const key = charts.charts.map(chartDigest).join(' ');
  const cached = laidOut.get(key) ?? inWorker(charts);
  laidOut.delete(key);
  laidOut.set(key, cached);
  for (const oldest of [...laidOut.keys()].slice(0, -MAX_CACHED)) laidOut.delete(oldest);
  return cached;
}

/** Workers are unavailable in a page opened from disk. */
const NO_WORKER = 'The chart could not be laid out: the layout worker did not start.';

function inWorker({ charts, invoked }: RunCharts): Promise<LaidOut> {
  return new Promise((resolve) => {
    const fail = (problem: string): void => resolve({ drawings: null, problem });
    let worker: Worker;
    try {
      worker = new Worker(new URL('layout.js', document.baseURI), { type: 'module' });
    } catch {
      fail(NO_WORKER);
      return;
    }
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      worker.terminate();
      settle();
    };
    const timer = setTimeout(
      () => finish(() => fail(`Laying out the chart took longer than ${LAYOUT_TIMEOUT_MS / 1000} s.`)),
      LAYOUT_TIMEOUT_MS,
    );
    worker.addEventListener('message', ({ data }: MessageEvent<LaidOut>) => finish(() => resolve(data)));
    // If the script cannot be loaded, the event has no message.
    worker.addEventListener('error', ({ message }: Partial<ErrorEvent>) =>
      finish(() => fail(message === undefined ? NO_WORKER : `The chart could not be laid out: ${message}.`)),
    );
    worker.postMessage({ charts, invoked });
  });
}
