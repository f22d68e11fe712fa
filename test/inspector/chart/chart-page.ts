import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { startBrowser } from '../../support/browser.ts';
import { buildChartPage, ownCharts, servePage } from './chart-rig.ts';

interface Shown {
  readonly scheme?: 'light' | 'dark';
  readonly charts?: RunCharts;
  readonly root?: string;
}

const browser = await startBrowser();
/** Why there is no page to test; null where there is. */
export const missing = typeof browser === 'string' ? browser : null;
if (missing !== null) process.stderr.write(`skipped: the chart's page. ${missing}\n`);

let site: { readonly url: string; readonly stop: () => Promise<void> };
let remove: () => Promise<void> = async () => {};

beforeAll(async () => {
  if (typeof browser === 'string') return;
  const built = await buildChartPage();
  remove = built.remove;
  site = await servePage(built.folder);
});

afterAll(async () => {
  if (typeof browser === 'string') return;
  await browser.close();
  await site.stop();
  await remove();
});

/** A page with a chart in it; it closes with the test, which fails where the page complained. */
export async function open({ scheme = 'light', charts = ownCharts, root = 'postChain' }: Shown = {}): Promise<Page> {
  if (typeof browser === 'string') throw new Error(browser);
  const page = await browser.newPage({
    viewport: { width: 780, height: 480 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  onTestFinished(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(site.url);
  await tell(page, 'show', charts, root);
  return page;
}

/** Calls a function of the page's stage. */
export function tell(page: Page, name: string, ...given: readonly unknown[]): Promise<unknown> {
  return page.evaluate(
    ([method, args]) =>
      (window as unknown as { stage: Record<string, (...all: unknown[]) => unknown> }).stage[method]?.(...args),
    [name, given] as [string, unknown[]],
  );
}

export const state = (page: Page, name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name},`) });
export const worldOf = (page: Page): Promise<string> =>
  page.evaluate(() => document.querySelector('.chart-picture > svg > g')?.getAttribute('transform') ?? '');
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label')?.split(',')[0] ?? '');
