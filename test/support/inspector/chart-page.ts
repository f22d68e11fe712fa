import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { bakedDrawings } from '../../../inspector/vite-plugins.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { startBrowser, WAIT_MS } from '../browser.ts';
import { ownCharts } from './inspected-runs.ts';
import { pageProblems, serveFolder } from './page-checks.ts';

/** Builds a page with only the chart into a temporary folder. */
async function buildChartPage(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-chart-'));
  await build({
    root: 'test/support/inspector/pages/chart',
    configFile: false,
    logLevel: 'error',
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [bakedDrawings(ownCharts)],
    build: {
      outDir: folder,
      emptyOutDir: true,
      minify: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  await build({
    configFile: 'inspector/vite.config.ts',
    mode: 'layout',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: false },
  });
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** The same policy as the inspection server's. */
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

const [chain] = ownCharts.charts;
/** The index of a transition in the chain's chart. */
export const transitionIndex = (source: string, target: string): number =>
  chain?.transitions.findIndex((one) => one.source === source && one.target.includes(target)) ?? -1;
const READING = 'postChain.cycling.experience.reading';
const CALLING = 'postChain.cycling.intention.calling';
const DECIDING = 'postChain.cycling.yield.deciding';

/** The run has just entered `intention`, and its attempt is streaming. */
export const marksInIntention = {
  active: {
    postChain: ['postChain', 'postChain.cycling', 'intention', CALLING],
    attempt: ['attempt', 'attempt.calling', 'attempt.calling.streaming'],
  },
  where: { attempt: { chartId: 'postChain', stateId: CALLING } },
  taken: {
    postChain: [
      [transitionIndex('postChain.cycling.action.running', 'experience'), 1],
      [transitionIndex(READING, 'intention'), 2],
    ],
  },
  last: {
    chartId: 'postChain',
    transition: transitionIndex(READING, 'intention'),
    source: READING,
    target: 'intention',
  },
};
/** The run has just gone back to `experience`. */
export const marksAfterDeciding = {
  active: { postChain: ['postChain', 'postChain.cycling', 'experience', 'postChain.cycling.experience.searching'] },
  where: {},
  taken: { postChain: [[transitionIndex(DECIDING, 'experience'), 1]] },
  last: {
    chartId: 'postChain',
    transition: transitionIndex(DECIDING, 'experience'),
    source: DECIDING,
    target: 'experience',
  },
};

/** Intention has just failed. */
export const marksAfterFailing = {
  active: { postChain: ['postChain', 'postChain.cycling', 'recovering'] },
  where: {},
  taken: { postChain: [[transitionIndex(CALLING, 'recovering'), 1]] },
  last: {
    chartId: 'postChain',
    transition: transitionIndex(CALLING, 'recovering'),
    source: CALLING,
    target: 'recovering',
  },
  failed: { postChain: ['intention'] },
};

interface OpenChartOptions {
  readonly scheme?: 'light' | 'dark';
  readonly charts?: RunCharts;
  readonly root?: string;
  readonly size?: { readonly width: number; readonly height: number };
}

const browser = await startBrowser();
/** Why the tests are skipped, or null. */
export const skipReason = typeof browser === 'string' ? browser : null;
if (skipReason !== null) process.stderr.write(`skipped: the chart page. ${skipReason}\n`);

let site: Awaited<ReturnType<typeof serveFolder>>;
let remove: () => Promise<void> = async () => {};

beforeAll(async () => {
  if (typeof browser === 'string') return;
  const built = await buildChartPage();
  remove = built.remove;
  site = await serveFolder(built.folder, { 'content-security-policy': POLICY });
});

afterAll(async () => {
  if (typeof browser === 'string') return;
  await browser.close();
  await site.stop();
  await remove();
});

/** Opens a page with a chart, which is closed after the test. The test fails if the page reported a problem. */
export async function openChart({
  scheme = 'light',
  charts = ownCharts,
  root = 'postChain',
  size = { width: 780, height: 560 },
}: OpenChartOptions = {}): Promise<Page> {
  if (typeof browser === 'string') throw new Error(browser);
  const page = await browser.newPage({
    viewport: size,
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  page.setDefaultTimeout(WAIT_MS);
  const problems = pageProblems(page, site.url);
  onTestFinished(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  await page.goto(site.url);
  await callPage(page, 'show', charts, root);
  return page;
}

/** Calls a method of the page's `chartPage` object. */
export function callPage(page: Page, name: string, ...args: readonly unknown[]): Promise<unknown> {
  return page.evaluate(
    ([method, all]) =>
      (window as unknown as { chartPage: Record<string, (...args: unknown[]) => unknown> }).chartPage[method]?.(...all),
    [name, args] as [string, unknown[]],
  );
}

export const stateItem = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name},`) });
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label')?.split(',')[0] ?? '');
