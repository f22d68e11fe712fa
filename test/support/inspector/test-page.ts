import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, expect, onTestFinished } from 'vitest';
import { chainEventSchema } from '../../../machines/contracts/events.ts';
import type { Run } from '../../../src/chain/runtime/run.ts';
import { startBrowser, WAIT_MS } from '../browser.ts';
import { ownCharts, type RecordedRun, stateFrames } from './inspected-runs.ts';
import { pageProblems } from './page-checks.ts';
import type {} from './pages/test-page/main.ts';

/** A browser and a temporary folder, which are disposed of after the last test of the file. */
export interface PageTests {
  /** Whether no browser can be started on this machine. */
  readonly areSkipped: boolean;
  readonly folder: string;
  /** Opens a page, which is closed after the test. The test fails if the page logged an error or requested anything but its own files. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
}

export async function pageTests(subject: string): Promise<PageTests> {
  const browser = await startBrowser();
  if (typeof browser === 'string') process.stderr.write(`skipped: ${subject}. ${browser}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'postchain-page-'));
  afterAll(async () => {
    if (typeof browser !== 'string') await browser.close();
    await rm(folder, { recursive: true });
  });
  return {
    areSkipped: typeof browser === 'string',
    folder,
    async newPage(options) {
      if (typeof browser === 'string') throw new Error(browser);
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...options });
      page.setDefaultTimeout(WAIT_MS);
      const problems = pageProblems(page, 'file:');
      onTestFinished(async () => {
        await page.close();
        expect(problems).toEqual([]);
      });
      return page;
    },
  };
}

/** Builds the inspector's page with a data source that the test controls. */
export async function buildTestPage({ areSkipped, folder }: PageTests): Promise<void> {
  if (areSkipped) return;
  await build({
    configFile: 'inspector/vite.config.ts',
    mode: 'file',
    root: 'test/support/inspector/pages/test-page',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
  });
}

/** Opens the page without any run; `hash` selects what it shows, like `/run/ID/3`. */
export async function openTestPage({ newPage, folder }: PageTests, hash: string, width = 1280): Promise<Page> {
  const page = await newPage({ viewport: { width, height: 720 } });
  await page.goto(`${pathToFileURL(join(folder, 'index.html')).href}#${hash}`);
  return page;
}

/** Opens the page with these completed runs. */
export async function openRecordedRuns(
  tests: PageTests,
  runs: readonly RecordedRun[],
  hash: string,
  width = 1280,
): Promise<Page> {
  const page = await openTestPage(tests, hash, width);
  await page.evaluate((all) => window.showRuns(all), runs);
  await page.locator('#panel').waitFor();
  return page;
}

export interface LivePage {
  readonly page: Page;
  /** What the page sent, in order. */
  readonly sent: readonly unknown[];
  /** Sends the page the journal entries recorded since the last update. */
  update(): Promise<void>;
  /** Leaves everything the page sends unanswered until the returned function is called with the problem, or null. */
  pauseSending(): (problem: string | null) => void;
}

/** Opens the page with a live run; events that the page sends are delivered to the run. */
export async function openLivePage(tests: PageTests, run: Run, hash: string): Promise<LivePage> {
  const page = await openTestPage(tests, hash);
  const sent: unknown[] = [];
  let pending: Promise<string | null> | null = null;
  await page.exposeFunction('sendToTest', async (_: string, event: unknown) => {
    sent.push(event);
    if (pending !== null) return pending;
    const read = chainEventSchema.safeParse(event);
    if (!read.success) return 'not a valid event';
    run.send(read.data);
    return null;
  });
  const events = chainEventSchema.def.options.flatMap(({ shape }) => shape.type.def.values);
  let sentCount = 0;
  let sentFrames = 0;
  const start = { runId: run.id, charts: ownCharts, events };
  await page.evaluate(({ runId, charts, events: all }) => {
    const known = {
      runId,
      kind: 'run',
      title: 'A run',
      startedAt: new Date().toISOString(),
      status: 'running',
      live: true,
    } as const;
    window.listener.connection('open');
    window.listener.hello(all, false);
    window.listener.runs([{ ...known, fidelity: [], summary: null }], runId, 0);
    window.listener.charts(runId, charts);
  }, start);
  const update = async (): Promise<void> => {
    const lines = run.entries.slice(sentCount).map((entry) => JSON.stringify(entry));
    await page.evaluate(([runId, from, more]) => window.listener.entries(runId, from, more), [
      run.id,
      sentCount,
      lines,
    ] as const);
    sentCount += lines.length;
    const frames = stateFrames([...run.entries]);
    await page.evaluate(([runId, from, more]) => window.listener.states(runId, from, more), [
      run.id,
      sentFrames,
      frames.slice(sentFrames),
    ] as const);
    sentFrames = frames.length;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  };
  const pauseSending = () => {
    let release: (problem: string | null) => void = () => {};
    pending = new Promise((resolve) => {
      release = (problem) => {
        pending = null;
        resolve(problem);
      };
    });
    return release;
  };
  return { page, sent, update, pauseSending };
}
