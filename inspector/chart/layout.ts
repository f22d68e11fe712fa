import { baked } from 'virtual:drawings';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartDigest, type Drawing, type LaidOut, type LayoutRequest, ownOf } from './drawing.ts';

/** After that, the page shows the list. */
const LAYOUT_TIMEOUT_MS = 30_000;

interface Layout {
  done: LaidOut | null;
  readonly listeners: Set<(done: LaidOut) => void>;
}

const layouts = new Map<string, Layout>();

/** Drawings in an exported page, by the digests of their charts. */
const exported = new Map<string, Drawing>();

export function addDrawings({ charts }: RunCharts, drawings: Readonly<Record<string, unknown>>): void {
  for (const chart of charts) {
    const drawing = ownOf(drawings, chart.id);
    if (drawing !== undefined) exported.set(chartDigest(chart), drawing as Drawing);
  }
}

/** The drawings made at build time or for an exported page; null if one is missing. */
export function bakedDrawingsOf(charts: RunCharts): Readonly<Record<string, Drawing>> | null {
  const found: [string, Drawing][] = [];
  for (const chart of charts.charts) {
    const digest = chartDigest(chart);
    const drawing = ownOf(baked, digest) ?? exported.get(digest);
    if (drawing === undefined) return null;
    found.push([chart.id, drawing]);
  }
  return Object.fromEntries(found);
}

/**
 * Lays out charts in a worker, once per definition and aspect. Calls `take` with the whole charts, then with the insides of their states too, until the
 * returned function is called. Charts that take too long are not drawn.
 */
export function layoutOf(charts: LayoutRequest, take: (done: LaidOut) => void): () => void {
  const key = [charts.aspect, ...charts.charts.map(chartDigest)].join(' ');
  const known = layouts.get(key);
  const layout: Layout = known ?? { done: null, listeners: new Set() };
  layouts.set(key, layout);
  layout.listeners.add(take);
  if (layout.done !== null) take(layout.done);
  if (known === undefined)
    inWorker(charts, (done) => {
      layout.done = done;
      for (const listener of layout.listeners) listener(done);
    });
  return () => layout.listeners.delete(take);
}

/** A worker that has no work. */
let idle: Worker | null = null;

const startWorker = (): Worker => new Worker(new URL('layout.js', document.baseURI), { type: 'module' });

/** Starts the worker before the first chart is known, because loading its script takes longer than most layouts. */
export function prepareLayout(): void {
  if (idle !== null || layouts.size > 0) return;
  try {
    idle = startWorker();
    idle.addEventListener('error', () => {
      idle = null;
    });
  } catch {
    // The first layout reports it.
  }
}

/** Workers are unavailable in a page opened from disk. */
const NO_WORKER = 'The chart could not be laid out: the layout worker did not start.';

function inWorker(request: LayoutRequest, take: (done: LaidOut) => void): void {
  let whole: LaidOut | null = null;
  const fail = (problem: string): void => take({ drawings: whole?.drawings ?? null, problem });
  let worker: Worker;
  try {
    worker = idle ?? startWorker();
  } catch {
    fail(NO_WORKER);
    return;
  }
  idle = null;
  const end = (): void => {
    clearTimeout(timer);
    worker.terminate();
  };
  const timer = setTimeout(() => {
    end();
    fail(`Laying out the chart took longer than ${LAYOUT_TIMEOUT_MS / 1000} s.`);
  }, LAYOUT_TIMEOUT_MS);
  worker.addEventListener('message', ({ data }: MessageEvent<LaidOut>) => {
    if (data.isPart) whole = data;
    else end();
    take(data);
  });
  // If the script cannot be loaded, the event has no message.
  worker.addEventListener('error', ({ message }: Partial<ErrorEvent>) => {
    end();
    fail(message === undefined ? NO_WORKER : `The chart could not be laid out: ${message}.`);
  });
  worker.postMessage(request);
}
