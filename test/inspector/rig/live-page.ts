import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { z } from 'zod';
import { chainEventSchema } from '../../../machines/contracts/chain-event.ts';
import type { Run } from '../../../src/runtime/run.ts';
import { runCharts } from './file-page.ts';
import type {} from './live-page/main.ts';

/** Builds the inspector's page with a source that a test plays. */
export async function buildLivePage(outDir: string): Promise<void> {
  await build({
    configFile: 'inspector/vite.config.ts',
    mode: 'file',
    root: 'test/inspector/rig/live-page',
    logLevel: 'error',
    build: { outDir, emptyOutDir: true },
  });
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
export async function openLivePage(browser: Browser, outDir: string, run: Run, hash: string): Promise<LivePage> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(10_000);
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

  await page.goto(`${pathToFileURL(join(outDir, 'index.html')).href}#${hash}`);
  const events = chainEventSchema.options.map((option) => ({
    type: option.shape.type.value,
    schema: z.toJSONSchema(option) as Readonly<Record<string, unknown>>,
  }));
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
