import { createPassageIndex, createPostChain, extractiveModel, memoryJournals } from '../../dist/index.js';
import { inspectionServer } from '../../dist/inspection.js';
import { loadDocuments } from '../../dist/node.js';
import { seenBy, untilShown, watchedPage } from './page.mjs';

/**
 * Runs the README's example with a page open. Measures, in milliseconds, how long the page takes to show the first row of the trace, and how
 * long after it was written each entry is shown. The model waits until the page is open and its idle CPU time has been measured.
 *
 * @param {import('playwright-core').Browser} browser
 */
export async function measureLive(browser) {
  const inspector = await inspectionServer();
  const { page, faults } = await watchedPage(browser);
  try {
    const { documents } = await loadDocuments(['docs']);
    const { model, begin } = gated(extractiveModel());
    const chain = createPostChain({ model, documents: createPassageIndex(documents), journals: memoryJournals() });
    const run = chain.run({ request: 'What does the Yield phase decide, and in which order?' });
    inspector.watch(run);
    const openedAt = Date.now();
    await page.goto(inspector.url);
    await untilShown(page, run.entries.length - 1);
    const waited = run.entries.length;
    const { traceAt } = await seenBy(page);
    const idleMs = await taskMs(page, 3_000);

    begin();
    await run.answer;
    await untilShown(page, run.entries.length - 1);
    const { positions } = await seenBy(page);
    const startedAt = Date.parse(/** @type {any} */ (run.entries[0]).startedAt);
    const lags = run.entries.slice(waited).map(({ seq, atMs }) => {
      const shownAt = positions.find(([entry]) => entry >= seq)?.[1] ?? Number.POSITIVE_INFINITY;
      return shownAt - (startedAt + atMs);
    });
    const verdict = await page.locator('.verdict').textContent();
    return { traceMs: traceAt - openedAt, lags, idleMs, faults, verdict };
  } finally {
    await page.close();
    await inspector.close();
  }
}

/**
 * Returns a model that does not answer before `begin` is called.
 *
 * @param {import('../../dist/index.js').ChatModel} inner
 */
function gated(inner) {
  let begin = () => {};
  /** @type {Promise<void>} */
  const begun = new Promise((resolve) => {
    begin = resolve;
  });
  /** @type {import('../../dist/index.js').ChatModel} */
  const model = {
    ...inner,
    async *stream(request, options) {
      await begun;
      yield* inner.stream(request, options);
    },
  };
  return { model, begin };
}

/**
 * Returns the milliseconds that the page's main thread is busy during `ms` milliseconds.
 *
 * @param {import('playwright-core').Page} page
 * @param {number} ms
 */
async function taskMs(page, ms) {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable');
  const spent = async () =>
    (await client.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  const before = await spent();
  await page.waitForTimeout(ms);
  return ((await spent()) - before) * 1_000;
}
