import { runnerImport } from 'vite';

/** @typedef {import('playwright-core').Page} Page */

/**
 * Starts the Chromium that npm installs, and throws if that fails. With `port`, it also accepts DevTools connections there.
 *
 * @param {number} [port]
 */
export async function startChromium(port) {
  const { module } = await runnerImport(new URL('../../test/support/browser.ts', import.meta.url).pathname);
  const { startBrowser } = /** @type {typeof import('../../test/support/browser.ts')} */ (module);
  const browser = await startBrowser(port === undefined ? [] : [`--remote-debugging-port=${port}`]);
  if (typeof browser === 'string') throw new Error(browser);
  return browser;
}

/**
 * Returns a page that records when the map and each cursor position were painted, in milliseconds since the epoch. `faults` holds its
 * errors and warnings.
 *
 * @param {import('playwright-core').Browser} browser
 */
export async function watchedPage(browser) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  /** @type {string[]} */
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  await page.addInitScript(recordWhatIsShown);
  return { page, faults };
}

/** Runs in the page, before the page's own scripts. */
export function recordWhatIsShown() {
  const seen = { begunAt: Date.now(), traceAt: 0, positions: /** @type {[number, number][]} */ ([]) };
  Object.assign(window, { seen });
  const look = () => {
    const at = Date.now();
    if (seen.traceAt === 0 && document.querySelector('.trace-row') !== null) seen.traceAt = at;
    const entry = Number(document.querySelector('.position')?.getAttribute('data-at') ?? Number.NaN);
    if (!Number.isNaN(entry) && seen.positions.at(-1)?.[0] !== entry) seen.positions.push([entry, at]);
  };
  // A frame has been painted when the next one starts.
  const observer = new MutationObserver(() => requestAnimationFrame(look));
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
}

/**
 * Returns what the page has recorded.
 *
 * @param {Page} page
 * @returns {Promise<{ begunAt: number, traceAt: number, positions: [number, number][] }>}
 */
export const seenBy = (page) => page.evaluate(() => /** @type {any} */ (window).seen);

/**
 * Waits until the cursor of the page is at an entry.
 *
 * @param {Page} page
 * @param {number} entry
 */
export async function untilShown(page, entry) {
  await page.waitForFunction((least) => /** @type {any} */ (window.seen.positions.at(-1)?.[0] ?? -1) >= least, entry, {
    timeout: 60_000,
    polling: 50,
  });
}
