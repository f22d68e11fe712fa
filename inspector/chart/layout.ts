import { baked } from 'virtual:drawings';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { LAYOUT_TIMEOUT_MS, tooLarge } from './chart-limits.ts';
import { chartDigest } from './charts-digest.ts';
import type { Drawing } from './drawing.ts';
import { ownOf } from './own-of.ts';

type Drawings = Readonly<Record<string, Drawing>>;

const laidOut = new Map<string, Promise<Drawings>>();
/** So many definitions are kept. */
const MOST_KEPT = 20;

/** The drawings of charts that were laid out while the page was built; null where one of them was not. */
export function bakedDrawingsOf(charts: RunCharts): Drawings | null {
  const found: [string, Drawing][] = [];
  for (const { id } of charts.charts) {
    const drawing = ownOf(baked, chartDigest(id, charts));
    if (drawing === undefined) return null;
    found.push([id, drawing]);
  }
  return Object.fromEntries(found);
}

/**
 * The drawings of charts by their ids, made once for each definition: those of the build at once, any other in a worker. Rejects
 * with a sentence for the reader where the charts are too large, or take too long.
 */
export function layoutOf(charts: RunCharts): Promise<Drawings> {
  const ready = bakedDrawingsOf(charts);
  if (ready !== null) return Promise.resolve(ready);
  const problem = tooLarge(charts);
  if (problem !== null) return Promise.reject(new Error(problem));
  const key = charts.charts.map(({ id }) => chartDigest(id, charts)).join(' ');
  const known = laidOut.get(key) ?? inWorker(charts);
  laidOut.delete(key);
  laidOut.set(key, known);
  for (const oldest of [...laidOut.keys()].slice(0, -MOST_KEPT)) laidOut.delete(oldest);
  return known;
}

function inWorker(charts: RunCharts): Promise<Drawings> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      worker.terminate();
      settle();
    };
    const fail = (why: string): void => finish(() => reject(new Error(why)));
    const timer = setTimeout(
      () => fail(`Laying out the chart took longer than ${LAYOUT_TIMEOUT_MS / 1000} s.`),
      LAYOUT_TIMEOUT_MS,
    );
    worker.addEventListener('message', ({ data }: MessageEvent<{ drawings?: Drawings; problem?: string }>) => {
      const { drawings } = data;
      if (drawings === undefined) fail(`The chart could not be laid out: ${data.problem ?? 'no reason given'}.`);
      else finish(() => resolve(drawings));
    });
    worker.addEventListener('error', ({ message }) => fail(`The chart could not be laid out: ${message}.`));
    worker.postMessage({ charts: charts.charts, invoked: charts.invoked });
  });
}
