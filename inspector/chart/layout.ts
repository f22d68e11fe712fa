import { baked } from 'virtual:drawings';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartDigest, type Drawing, LAYOUT_TIMEOUT_MS, ownOf, tooLarge } from './drawing.ts';

type Drawings = Readonly<Record<string, Drawing>>;

const laidOut = new Map<string, Promise<Drawings>>();
/** So many definitions are kept. */
const MOST_KEPT = 20;

/** The drawings made at build time; null if one is missing. */
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
 * Lays out charts in a worker, once per definition; resolves to drawings by chart id. Rejects with a message for the
 * user if the charts are too large or take too long.
 */
export function layoutOf(charts: RunCharts): Promise<Drawings> {
  const problem = tooLarge(charts);
  if (problem !== null) return Promise.reject(new Error(problem));
  const key = charts.charts.map(({ id }) => chartDigest(id, charts)).join(' ');
  const known = laidOut.get(key) ?? inWorker(charts);
  laidOut.delete(key);
  laidOut.set(key, known);
  for (const oldest of [...laidOut.keys()].slice(0, -MOST_KEPT)) laidOut.delete(oldest);
  return known;
}

const NO_WORKER = 'The chart could not be laid out: the layout worker did not start.';

/** A page that is a file may have none. */
function startWorker(): Worker | null {
  try {
    return new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  } catch {
    return null;
  }
}

function inWorker(charts: RunCharts): Promise<Drawings> {
  return new Promise((resolve, reject) => {
    const worker = startWorker();
    if (worker === null) {
      reject(new Error(NO_WORKER));
      return;
    }
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
    // If the script cannot be loaded, the event has no message.
    worker.addEventListener('error', ({ message }: Partial<ErrorEvent>) =>
      fail(message === undefined ? NO_WORKER : `The chart could not be laid out: ${message}.`),
    );
    worker.postMessage({ charts: charts.charts, invoked: charts.invoked });
  });
}
