import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { chainEventSchema } from '../../../machines/contracts/events.ts';
import type { Run } from '../../../src/engine/runtime/run.ts';
import { runCharts } from './file-page.ts';
import type { HeldRun } from './held-run.ts';
import type { PageTests } from './page-tests.ts';
import type {} from './played-page/main.ts';

/** Builds the inspector's page with a source that a test plays. */
export async function buildPlayedPage({ areSkipped, folder }: PageTests): Promise<void> {
  if (areSkipped) return;
  await build({
    configFile: 'inspector/vite.config.ts',
    mode: 'file',
    root: 'test/inspector/rig/played-page',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
  });
}

/** The page, to which nothing was told yet; `hash` says what it shows: `panel=act&at=3`. */
export async function openPlayedPage({ newPage, folder }: PageTests, hash: string, width = 1280): Promise<Page> {
  const page = await newPage({ viewport: { width, height: 720 } });
  await page.goto(`${pathToFileURL(join(folder, 'index.html')).href}#${hash}`);
  return page;
}

/** The page on runs that are over. */
export async function openHeldRuns(
  tests: PageTests,
  runs: readonly HeldRun[],
  hash: string,
  width = 1280,
): Promise<Page> {
  const page = await openPlayedPage(tests, hash, width);
  await page.evaluate((held) => window.hold(held), runs);
  await page.getByRole('tabpanel').waitFor();
  return page;
}

export interface LivePage {
  readonly page: Page;
  /** What the page sent, in order. */
  readonly sent: readonly unknown[];
  /** Gives the page what the run has told since. */
  update(): Promise<void>;
  /** From here on what is sent waits for its answer until this is called with what is wrong with it. */
  hold(): (problem: string | null) => void;
}

/** A page on a run that is under way here: what is sent reaches the run, as a server would pass it on. */
export async function openLivePage(tests: PageTests, run: Run, hash: string): Promise<LivePage> {
  const page = await openPlayedPage(tests, hash);
  const sent: unknown[] = [];
  let held: Promise<string | null> | null = null;
  await page.exposeFunction('sendToTest', async (_: string, event: unknown) => {
    sent.push(event);
    if (held !== null) return held;
    const read = chainEventSchema.safeParse(event);
    if (!read.success) return 'this is no event of a run';
    run.send(read.data);
    return null;
  });
  const events = chainEventSchema.options.map(({ shape }) => shape.type.value);
  let told = 0;
  const start = { runId: run.runId, charts: runCharts, events };
  await page.evaluate(({ runId, charts, events: all }) => {
    const known = { runId, kind: 'run', title: 'A run', startedAt: '', status: 'running', live: true } as const;
    window.ear.connection('open');
    window.ear.events(all);
    window.ear.runs([{ ...known, fidelity: [] }], runId);
    window.ear.charts(runId, charts);
  }, start);
  const update = async (): Promise<void> => {
    const lines = run.journal.slice(told).map((entry) => JSON.stringify(entry));
    await page.evaluate(([runId, from, more]) => window.ear.entries(runId, from, more), [
      run.runId,
      told,
      lines,
    ] as const);
    told += lines.length;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  };
  const hold = () => {
    let release: (problem: string | null) => void = () => {};
    held = new Promise((resolve) => {
      release = (problem) => {
        held = null;
        resolve(problem);
      };
    });
    return release;
  };
  return { page, sent, update, hold };
}
