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
  return { folder, runId: run.runId, count: run.journal.length, remove: () => rmSync(folder, { recursive: true }) };
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
 * Scrubs through a long recording with each of these panels open. Returns the milliseconds per frame, and the size of the page's heap in
 * bytes.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {{ folder: string, runId: string, count: number }} recording
 * @param {readonly string[]} panels
 */
export async function measureRecording(browser, { folder, runId, count }, panels) {
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
    /** @type {Record<string, number[]>} */
    const frames = {};
    for (const panel of panels) {
      await page.evaluate((name) => {
        location.hash = `${location.hash.replace(/\?.*/u, '')}?panel=${name}`;
      }, panel);
      frames[panel] = await scrub(page);
    }
    const most = Math.max(heapBefore, await heap());
    await client.send('HeapProfiler.collectGarbage');
    return { frames, heapBytes: most, keptBytes: await heap(), faults };
  } finally {
    await page.close();
    await inspector.close();
  }
}

/** Drags the cursor back and forth over the whole timeline. Returns the milliseconds per frame. */
function scrub(/** @type {import('playwright-core').Page} */ page) {
  return page.evaluate(async (frames) => {
    const track = /** @type {HTMLElement} */ (document.querySelector('.timeline [role=slider]'));
    const { left, width, top } = track.getBoundingClientRect();
    const point = (/** @type {string} */ type, /** @type {number} */ share) =>
      track.dispatchEvent(
        new PointerEvent(type, {
          bubbles: true,
          button: 0,
          pointerId: 1,
          clientX: left + width * share,
          clientY: top + 20,
        }),
      );
    track.setPointerCapture = () => {};
    const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
    point('pointerdown', 0);
    /** @type {number[]} */
    const times = [];
    let before = /** @type {number} */ (await next());
    for (let frame = 0; frame < frames; frame += 1) {
      point('pointermove', (1 - Math.cos((frame / frames) * Math.PI * 6)) / 2);
      const now = /** @type {number} */ (await next());
      times.push(now - before);
      before = now;
    }
    point('pointerup', 1);
    return times;
  }, FRAMES);
}
