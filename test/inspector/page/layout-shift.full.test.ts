import { expect, it } from 'vitest';
import { readmeRun } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, waitForEntries } from '../../support/inspector/inspector-page.ts';

for (const width of [700, 390]) {
  const tests = await inspectorTests('that nothing shifts');

  it.skipIf(tests.areSkipped)(`no part of a page of ${width} px shifts its layout while a run streams in`, async () => {
    const { run, model } = readmeRun([1, 2, 4]);
    const { page } = await tests.open('', { width });
    tests.server.watch(run);
    for (const call of [1, 2, 4]) {
      await model.reached(call);
      await waitForEntries(page, run.entries.length);
      model.release(call);
    }
    await run.answer;
    await waitForEntries(page, run.entries.length);
    // Half of what the Core Web Vitals call good: a busy machine paints more intermediate states.
    expect(await page.evaluate(() => (window.shifted < 0.05 ? 'calm' : window.shifts))).toBe('calm');
  });
}
