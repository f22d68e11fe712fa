import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import {
  type InspectionOptions,
  type InspectionServer,
  inspectionServer,
} from '../../../src/inspection/inspection-server.ts';
import { startBrowser, WAIT_MS } from '../browser.ts';
import { pageProblems } from './page-checks.ts';

/** Starts a browser for the tests of one file; reports on stderr and returns `null` if none can be started. */
export async function browserFor(what: string): Promise<Browser | null> {
  const browser = await startBrowser();
  if (typeof browser !== 'string') return browser;
  process.stderr.write(`skipped: ${what}. ${browser}\n`);
  return null;
}

/** A browser, an inspection server and a temporary folder for the tests of one file. They are closed after the last test, and each page after its test. */
export interface InspectorTests {
  /** Whether no browser can be started on this machine. */
  readonly areSkipped: boolean;
  readonly server: InspectionServer;
  readonly folder: string;
  /** Opens an address of the inspector, such as `/run/ID/3`. */
  open(hash?: string, options?: OpenOptions): Promise<InspectorPage>;
  /** Writes a page into the folder and opens it. */
  openFile(name: string, html: string, options?: OpenOptions): Promise<InspectorPage>;
}

export async function inspectorTests(subject: string, options: InspectionOptions = {}): Promise<InspectorTests> {
  const browser = await browserFor(subject);
  const server = await inspectionServer(options);
  const folder = await mkdtemp(join(tmpdir(), 'postchain-page-'));
  afterAll(async () => {
    await browser?.close();
    await server.close();
    await rm(folder, { recursive: true });
  });
  const open: InspectorTests['open'] = (hash = '', look) => {
    if (browser === null) throw new Error('no browser');
    return openInspector(browser, hash, { url: server.url, ...look });
  };
  return {
    areSkipped: browser === null,
    server,
    folder,
    open,
    async openFile(name, html, look) {
      const path = join(folder, name);
      await writeFile(path, html);
      return open('', { url: pathToFileURL(path).href, ...look });
    },
  };
}

interface InspectorPage {
  readonly page: Page;
  /** Errors, warnings, dialogs and requests to other origins, one per line. Those at the end fail the test. */
  readonly problems: readonly string[];
  /** The URLs of all requests and WebSockets. */
  readonly requests: readonly string[];
}

interface OpenOptions {
  /** Another page than that of the server. */
  readonly url?: string;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Runs before the page is loaded. */
  readonly before?: (page: Page) => Promise<void>;
  /** The test expects problems and violations of the content security policy. */
  readonly isHostile?: boolean;
}

declare global {
  interface Window {
    /** The cumulative layout shift of the Core Web Vitals: the largest sum of shifts without user input in a window of at most 5 s. */
    shifted: number;
    shifts: string[];
    refused: string[];
    /** Set by any injected script that runs. */
    pwned?: unknown;
  }
}

async function openInspector(
  browser: Browser,
  hash: string,
  { url = '', theme = 'light', width = 1280, height = 720, before, isHostile = false }: OpenOptions,
): Promise<InspectorPage> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  page.setDefaultTimeout(WAIT_MS);
  const problems = pageProblems(page, url.startsWith('file:') ? url : new URL('/', url).href);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('websocket', (socket) => requests.push(socket.url()));
  await page.addInitScript(() => {
    window.shifted = 0;
    window.shifts = [];
    window.refused = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      window.refused.push(`${violatedDirective} ${blockedURI}`),
    );
    let [firstMs, lastMs, inWindow] = [0, 0, 0];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources, startTime } = entry as PerformanceEntry & {
          readonly value: number;
          readonly hadRecentInput: boolean;
          readonly sources: readonly { readonly node?: Node | null }[];
        };
        if (hadRecentInput) continue;
        if (startTime - lastMs > 1_000 || startTime - firstMs > 5_000) {
          firstMs = startTime;
          inWindow = 0;
        }
        lastMs = startTime;
        inWindow += value;
        window.shifted = Math.max(window.shifted, inWindow);
        const describeNode = (node: Node | null | undefined): string => {
          if (node instanceof Element) return node.outerHTML.slice(0, 90);
          return node ? `${node.textContent?.slice(0, 40)} in ${node.parentElement?.outerHTML.slice(0, 90)}` : 'gone';
        };
        window.shifts.push(...sources.map(({ node }) => `${value.toFixed(4)} ${describeNode(node)}`));
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await before?.(page);
  onTestFinished(async () => {
    const refused = await page.evaluate(() => window.refused);
    await page.close();
    if (!isHostile) expect([...problems, ...refused.map((what) => `refused: ${what}`)]).toEqual([]);
  });
  await page.goto(`${url}${hash === '' ? '' : `#${hash}`}`);
  return { page, problems, requests };
}

/** Waits for two frames, so that earlier updates are rendered. */
export const nextFrames = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

export interface DisplayedState {
  readonly position: string;
  readonly status: string;
  /** The rows of the trace, without times. */
  readonly rows: readonly string[];
}

export const displayedState = (page: Page): Promise<DisplayedState> =>
  page.evaluate(() => ({
    position: document.querySelector('.position')?.textContent ?? '',
    status: document.querySelector('.verdict .word')?.textContent ?? '',
    rows: [...document.querySelectorAll<HTMLElement>('.trace-row')].map((row) =>
      row.innerText.replace(/[\d.,]+ (?:ms|s|min)\b/gu, ''),
    ),
  }));

/** Waits until the page has received at least this many entries (a run may add more meanwhile) and shows the newest. */
export async function waitForEntries(page: Page, count: number): Promise<void> {
  await page.waitForFunction((least) => {
    const { at = '', count: all = '' } = document.querySelector<HTMLElement>('.position')?.dataset ?? {};
    return Number(at) === Number(all) - 1 && Number(at) >= least;
  }, count - 1);
  await nextFrames(page);
}

/** The selected step, with its entries folded or listed. */
export const PANEL_NAMES = ['step', 'raw'] as const;
export type PanelName = (typeof PANEL_NAMES)[number];

/** Folds or lists the entries of the selected step. */
export async function showPanel(page: Page, name: PanelName): Promise<void> {
  const entries = page.getByRole('region', { name: 'Raw' }).locator('details').first();
  const isOpen = await entries.evaluate((details) => (details as HTMLDetailsElement).open);
  if (isOpen !== (name === 'raw')) await entries.locator('summary').first().click();
  await nextFrames(page);
}

/** Opens a run of the page by its address, at the latest entry, in the same panel. */
export async function openRun(page: Page, runId: string): Promise<void> {
  await page.evaluate(
    (address) => {
      const { hash } = location;
      location.hash = `${address}${hash.includes('?') ? hash.slice(hash.indexOf('?')) : ''}`;
    },
    `#/run/${encodeURIComponent(runId)}`,
  );
  await page.locator(`main[data-run="${runId}"]`).waitFor();
}

/** Moves the cursor to an entry by the address. */
export async function selectEntry(page: Page, seq: number): Promise<void> {
  await page.evaluate((at) => {
    location.hash = location.hash.replace(/^(#\/run\/[^/?]+).*$/u, `$1/${at}`);
    // The page writes its address a little later than it moves, so the hash may be the same.
    dispatchEvent(new PopStateEvent('popstate'));
  }, seq);
  await page.locator(`.position[data-at="${seq}"]`).waitFor({ state: 'attached' });
  await nextFrames(page);
}
