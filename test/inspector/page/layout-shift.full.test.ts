import { afterAll, expect, it } from 'vitest';
import { inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { browserFor, openInspector, waitForEntries } from '../../support/inspector/inspector-page.ts';

const browser = await browserFor('that nothing shifts');

afterAll(async () => {
  await browser?.close();
});

it.skipIf(browser === null).each([1280, 700])(
  'no part of the page shifts its layout while a run streams in, at %i pixels',
  async (width) => {
    if (browser === null) throw new Error('no browser');
    const server = await inspectionServer();
    const { run, model } = readmeRun([1, 2, 4]);
    const watched = await openInspector(browser, server.url, { width });
    const { page } = watched;
    server.watch(run);
    for (const call of [1, 2, 4]) {
      await model.reached(call);
      await waitForEntries(page, run.entries.length);
      model.release(call);
    }
    await run.answer;
    await waitForEntries(page, run.entries.length);
    // Half of what the Core Web Vitals call good: a busy machine paints more intermediate states.
    expect(await page.evaluate(() => (window.shifted < 0.05 ? 'calm' : window.shifts))).toBe('calm');
    await watched.close();
    await server.close();
  },
);
