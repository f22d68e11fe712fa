import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectionServer } from '../../dist/inspection.js';
import { fileJournals } from '../../dist/node.js';
import { startLongRun } from '../step/long-run.mjs';
import { untilShown, watchedPage } from './page.mjs';
import { plainPage } from './plain-page.mjs';

const FRAMES = 240;
/** A cycle writes at least this many entries. */
const ENTRIES_PER_CYCLE = 80;

/** Records a run of at least this many entries on disk. */
export async function recordLongRun(/** @type {number} */ entries) {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-bench-'));
  const run = startLongRun(Math.ceil(entries / ENTRIES_PER_CYCLE), undefined, fileJournals(folder));
  await run.answer;
  return { folder, runId: run.id, count: run.entries.length, remove: () => rmSync(folder, { recursive: true }) };
}

/**
 * Opens a long recording in a page without a debugger attached. Returns the milliseconds until all of it is loaded.
 *
 * @param {number} port The DevTools port of the browser.
 * @param {{ folder: string, runId: string, count: number }} recording
 */
export async function measureOpening(port, { folder, runId, count }) {
  const inspector = await inspectionServer({ journals: fileJournals(folder) });
  inspector.choose(runId);
  const page = await plainPage(port);
  try {
    const openedAt = Date.now();
    await page.goTo(inspector.url);
    return (await page.shownAt(count - 1)) - openedAt;
  } finally {
    await page.close();
    await inspector.close();
  }
}

/**
 * Moves through a long recording with the trace or the whole chart shown, and scrolls its trace. Returns the milliseconds per frame, and the
 * size of the page's heap in bytes.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {{ folder: string, runId: string, count: number }} recording
 */
export async function measureRecording(browser, { folder, runId, count }) {
  const inspector = await inspectionServer({ journals: fileJournals(folder) });
  inspector.choose(runId);
  const { page, faults } = await watchedPage(browser);
  try {
    await page.goto(inspector.url);
    await untilShown(page, count - 1);
    const client = await page.context().newCDPSession(page);
    await client.send('Performance.enable');
    const heap = async () =>
      (await client.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
    const heapBefore = await heap();
    const move = (/** @type {'trace' | 'scrolled' | 'chart'} */ what) =>
      page.evaluate(moveThrough, { what, runId, count, frames: FRAMES });
    /** @type {Record<string, number[]>} */
    const frames = { 'moving through the trace': await move('trace') };
    frames['scrolling the trace'] = await move('scrolled');
    await page.keyboard.press('c');
    await page.locator('.chart-picture').waitFor();
    frames['moving through the chart'] = await move('chart');
    const most = Math.max(heapBefore, await heap());
    await client.send('HeapProfiler.collectGarbage');
    return { frames, heapBytes: most, keptBytes: await heap(), faults };
  } finally {
    await page.close();
    await inspector.close();
  }
}

/**
 * Runs in the page: moves the cursor in the trace or in the chart, or scrolls the trace, back and forth over the whole run. Returns the milliseconds per frame.
 *
 * @param {{ what: 'trace' | 'scrolled' | 'chart', runId: string, count: number, frames: number }} options
 */
async function moveThrough({ what, runId, count, frames }) {
  const area = document.querySelector('.trace-area');
  const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
  /** @type {number[]} */
  const times = [];
  let before = /** @type {number} */ (await next());
  for (let frame = 0; frame < frames; frame += 1) {
    const share = (1 - Math.cos((frame / frames) * Math.PI * 6)) / 2;
    const view = what === 'chart' ? '?view=chart' : '';
    if (what !== 'scrolled') location.replace(`#/run/${runId}/${Math.round(share * (count - 1))}${view}`);
    else if (area !== null) area.scrollTop = share * (area.scrollHeight - area.clientHeight);
    const now = /** @type {number} */ (await next());
    times.push(now - before);
    before = now;
  }
  const shown = document.querySelector(what === 'chart' ? '.chart-picture' : '.trace-row');
  if (shown === null) throw new Error(`The page does not show what was measured: ${what}`);
  return times;
}
