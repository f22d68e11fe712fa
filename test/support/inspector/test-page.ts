import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { beforeAll, onTestFinished } from 'vitest';
import { chainEventSchema } from '../../../machines/contracts/events.ts';
import type { Run } from '../../../src/chain/runtime/run.ts';
import { settle } from '../run-chain.ts';
import { ownCharts, type RecordedRun, stateFrames } from './inspected-runs.ts';
import { type InspectorTests, inspectorTests } from './inspector-page.ts';
import type {} from './pages/test-page/main.ts';

/** Tests with the inspector's page and a data source that the test controls. */
export async function pageTests(...given: Parameters<typeof inspectorTests>): Promise<InspectorTests> {
  const tests = await inspectorTests(...given);
  beforeAll(async () => {
    if (tests.areSkipped) return;
    await build({
      configFile: 'inspector/vite.config.ts',
      mode: 'file',
      root: 'test/support/inspector/pages/test-page',
      logLevel: 'error',
      build: { outDir: tests.folder, emptyOutDir: true },
    });
  });
  return tests;
}

/** Opens the page without any run; `hash` selects what it shows, like `/run/ID/3`. */
export async function openTestPage({ open, folder }: InspectorTests, hash: string, width = 1280): Promise<Page> {
  return (await open(hash, { width, url: pathToFileURL(join(folder, 'index.html')).href })).page;
}

/** Lists these completed runs in the page. */
export async function showRuns(page: Page, runs: readonly RecordedRun[]): Promise<void> {
  // Playwright's type of an argument is too deep for one with any JSON in it.
  await page.evaluate<void, unknown>((all) => window.showRuns(all as readonly RecordedRun[]), runs);
}

/** Opens the page with these completed runs. */
export async function openRecordedRuns(
  tests: InspectorTests,
  runs: readonly RecordedRun[],
  hash: string,
): Promise<Page> {
  const page = await openTestPage(tests, hash);
  await showRuns(page, runs);
  await page.locator('#panel').waitFor();
  return page;
}

export interface LivePage {
  readonly page: Page;
  /** What the page sent, in order. */
  readonly sent: readonly unknown[];
  /** Waits until the run waits for something, and sends the page the journal entries recorded since the last update. */
  update(): Promise<void>;
  /** Leaves everything the page sends unanswered until the returned function is called with the problem, or null. */
  pauseSending(): (problem: string | null) => void;
}

/** Opens a page with a live run, which is canceled after the test; events that the page sends are delivered to the run. */
export async function openLivePage(tests: InspectorTests, run: Run, hash: string): Promise<LivePage> {
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
    for (let count = -1; count < run.entries.length; await settle(50)) count = run.entries.length;
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
  onTestFinished(() => run.cancel());
  await update();
  return { page, sent, update, pauseSending };
}
