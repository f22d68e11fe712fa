import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startBrowser, WAIT_MS } from '../../support/browser.ts';

/** A browser for the tests of one file; `null` where none starts, which is said once. */
export async function browserFor(what: string): Promise<Browser | null> {
  const browser = await startBrowser();
  if (typeof browser !== 'string') return browser;
  process.stderr.write(`skipped: ${what}. ${browser}\n`);
  return null;
}

/** A page, and all that it did which it should not. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors, warnings, dialogs, what its policy refused, and requests to elsewhere: a line each. */
  readonly complaints: readonly string[];
  /** What it asked for, and the sockets that it opened. */
  readonly requests: readonly string[];
  /** Closes it, and fails where there is a complaint. */
  close(): Promise<void>;
}

export interface Look {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly hash?: string;
  /** Done before the page is loaded. */
  readonly before?: (page: Page) => Promise<void>;
}

declare global {
  interface Window {
    /** What shifted by itself, all in all. */
    shifted: number;
    shifts: string[];
    refused: string[];
    /** Set by any payload that runs. */
    pwned?: unknown;
  }
}

export async function openWatched(
  browser: Browser | BrowserContext,
  url: string,
  { theme = 'light', width = 1280, hash = '', before }: Look = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(
    'newContext' in browser ? { viewport: { width, height: 720 }, colorScheme: theme } : undefined,
  );
  page.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  const requests: string[] = [];
  const { origin, protocol } = new URL(url);
  const isOwn = (address: string): boolean =>
    protocol === 'file:'
      ? address === `${url}${hash === '' ? '' : `#${hash}`}` || address === url || address.startsWith('data:')
      : address.replace(/^ws/u, 'http').startsWith(`${origin}/`) || address.startsWith('data:');
  const ask = (address: string): void => {
    requests.push(address);
    if (!isOwn(address)) complaints.push(`asked for ${address}`);
  };
  page.on('pageerror', ({ message, stack }) => complaints.push(`error: ${stack ?? message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('request', (request) => ask(request.url()));
  page.on('websocket', (socket) => ask(socket.url()));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => complaints.push('opened a window'));
  await page.addInitScript(() => {
    window.shifted = 0;
    window.shifts = [];
    window.refused = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      window.refused.push(`${violatedDirective} ${blockedURI}`),
    );
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as PerformanceEntry & {
          readonly value: number;
          readonly hadRecentInput: boolean;
          readonly sources: readonly { readonly node?: Node | null }[];
        };
        if (hadRecentInput) continue;
        window.shifted += value;
        const told = (node: Node | null | undefined): string => {
          if (node instanceof Element) return node.outerHTML.slice(0, 90);
          return node ? `${node.textContent?.slice(0, 40)} in ${node.parentElement?.outerHTML.slice(0, 90)}` : 'gone';
        };
        window.shifts.push(...sources.map(({ node }) => `${value.toFixed(4)} ${told(node)}`));
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await before?.(page);
  await page.goto(`${url}${hash === '' ? '' : `#${hash}`}`);
  return {
    page,
    complaints,
    requests,
    async close() {
      const refused = await page.evaluate(() => window.refused);
      await page.close();
      expect([...complaints, ...refused.map((what) => `refused: ${what}`)]).toEqual([]);
    },
  };
}

/** Two frames: what was told by then is on the screen. */
export const settled = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

/** What a page shows of where a run is. */
export interface Shown {
  readonly position: string;
  readonly status: string;
  /** The active states, by their names in the picture, the outermost first. */
  readonly active: readonly string[];
  /** All states and lines with their marks. */
  readonly marks: readonly string[];
}

export const shown = (page: Page): Promise<Shown> =>
  page.evaluate(() => ({
    position: document.querySelector('.position')?.textContent?.replace(' · following', '') ?? '',
    status: document.querySelector('.page-header .pill')?.textContent ?? '',
    active: [...document.querySelectorAll('.chart-picture .state.active')].map(
      (state) => state.querySelector('.name')?.textContent ?? '',
    ),
    marks: [...document.querySelectorAll('.chart-picture [data-state], .chart-picture [data-line]')].map(
      (part) => part.getAttribute('class') ?? '',
    ),
  }));

/** Waits until the page has so many entries and stands at the newest. */
export async function followedTo(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (last) => document.querySelector('.position')?.textContent?.startsWith(`entry ${last} / ${last} `) === true,
    count - 1,
  );
  await settled(page);
}

export const PANEL_NAMES = ['why', 'output', 'context', 'events', 'act', 'compare', 'overlay'] as const;

export async function showPanel(page: Page, name: (typeof PANEL_NAMES)[number]): Promise<void> {
  await page.locator(`#tab-${name}`).click();
  await settled(page);
}

/** Through the list of events, as a reader would. */
export async function goTo(page: Page, seq: number): Promise<void> {
  await showPanel(page, 'events');
  await page.locator('.event-rows').evaluate((list, top) => {
    list.scrollTop = top;
  }, seq * 18);
  await page.locator(`#event-${seq}`).click();
  await page.locator('.position').getByText(`entry ${seq} /`).waitFor();
  await settled(page);
}
