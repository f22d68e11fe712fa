import { afterAll, expect, it } from 'vitest';
import { inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { browserFor, openInspector, PANEL_NAMES, waitForEntries } from '../../support/inspector/inspector-page.ts';

const browser = await browserFor('that nothing shifts');

afterAll(async () => {
  await browser?.close();
});

it.skipIf(browser === null).each([1280, 700])(
  'no panel shifts its layout while a run streams in, at %i pixels',
  async (width) => {
    if (browser === null) throw new Error('no browser');
    const server = await inspectionServer();
    const { run, model } = readmeRun([1, 2, 4]);
    const pages = await Promise.all(
      PANEL_NAMES.map((panel) => openInspector(browser, server.url, { hash: `?panel=${panel}`, width })),
    );
    server.watch(run);
    const allThere = (): Promise<unknown> =>
      Promise.all(pages.map(({ page }) => waitForEntries(page, run.journal.length)));
    for (const call of [1, 2, 4]) {
      await model.reached(call);
      await allThere();
      model.release(call);
    }
    await run.answer;
    await allThere();
    // Half of what the Core Web Vitals call good: a busy machine paints more intermediate states.
    const moved = await Promise.all(
      pages.map(({ page }) => page.evaluate(() => (window.shifted < 0.05 ? 'calm' : window.shifts))),
    );
    expect(moved).toEqual(PANEL_NAMES.map(() => 'calm'));
    for (const watched of pages) await watched.close();
    await server.close();
  },
);
