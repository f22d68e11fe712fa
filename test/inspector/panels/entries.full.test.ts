import { describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { openRun } from '../../support/inspector/inspector-page.ts';
import { openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the entries of several runs in a page');
const runs = await threeRecordedRuns();

describe.skipIf(tests.areSkipped)('the search through the entries of several runs', () => {
  it('gives the search the key after /, however soon it is pressed', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0');
    const focused = await page.evaluate(async () => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
      for (let toggle = 0; toggle < 20; toggle += 1) await Promise.resolve();
      return document.activeElement?.getAttribute('aria-label');
    });
    expect(focused).toBe('Search the entries');
  });

  it('searches again in a newly chosen run and drops the results of the previous one', async () => {
    const [long, short] = [...runs].sort((left, right) => right.lines.length - left.lines.length);
    if (long === undefined || short === undefined) throw new Error('there are three');
    expect(short.lines.length).toBeLessThan(long.lines.length);
    const page = await openRecordedRuns(tests, [long, short], `/run/${long.run.runId}`);
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill('type:end');
    const rows = page.locator('.entries > li > .link-button');
    for (const { run, lines } of [long, short, long, short]) {
      await openRun(page, run.runId);
      await expect.poll(() => rows.allTextContents()).toEqual([(lines.length - 1).toLocaleString('en-US')]);
    }
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
