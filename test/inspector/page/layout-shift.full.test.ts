import { expect, it, onTestFinished } from 'vitest';
import { inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, waitForEntries } from '../../support/inspector/inspector-page.ts';

const tests = await inspectorTests('that nothing shifts');

it.skipIf(tests.areSkipped).each([1280, 700])(
  'no part of the page shifts its layout while a run streams in, at %i pixels',
  async (width) => {
    const server = await inspectionServer();
    onTestFinished(() => server.close());
    const { run, model } = readmeRun([1, 2, 4]);
    const { page } = await tests.open('', { url: server.url, width });
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
  },
);
