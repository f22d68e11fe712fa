import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { buildTestPage, openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the address of the page');
const runs = await threeRecordedRuns();

beforeAll(() => buildTestPage(tests), 60_000);

const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);
const positionOf = (page: Page, seq: number) => page.locator('.position').getByText(`entry ${seq} /`).waitFor();
const positionNow = async (page: Page): Promise<number> =>
  Number(/entry (\d+)/u.exec((await page.locator('.position').textContent()) ?? '')?.[1]);
const runOf = (page: Page, runId: string) => page.locator(`main[data-run="${runId}"]`).waitFor();

describe.skipIf(tests.areSkipped)('the address of the page', () => {
  it('opens a run at an entry in a panel, and follows the cursor without adding to the history', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-1/7?panel=why');
    await runOf(page, 'run-1');
    await positionOf(page, 7);
    const length = await page.evaluate(() => history.length);
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowRight');
    await expect.poll(() => hashOf(page)).toBe('#/run/run-1/10?panel=why');
    expect(await page.evaluate(() => history.length)).toBe(length);
  });

  it('goes back and forward between the selected steps and runs', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7?panel=why');
    await positionOf(page, 7);
    await page.evaluate(() => window.inspector.select({ kind: 'phase', from: 9, to: 20 }));
    await positionOf(page, 20);
    await page.evaluate(() => window.inspector.selectRun('run-2'));
    await runOf(page, 'run-2');
    await page.goBack();
    await runOf(page, 'run-0');
    await positionOf(page, 20);
    await page.goBack();
    await positionOf(page, 7);
    await page.goForward();
    await positionOf(page, 20);
    expect(await hashOf(page)).toBe('#/run/run-0/20?panel=why');
  });

  it('goes back from a view to what was shown before', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7?panel=why');
    await positionOf(page, 7);
    await page.getByRole('button', { name: 'What if' }).click();
    await page.getByRole('heading', { name: 'What if' }).waitFor();
    await page.getByRole('button', { name: 'Origins' }).click();
    await page.getByRole('heading', { name: 'Origins' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'What if' }).waitFor();
    await page.goBack();
    await page.getByRole('tab', { name: 'Why', selected: true }).waitFor();
    await positionOf(page, 7);
    await page.goForward();
    await page.getByRole('heading', { name: 'What if' }).waitFor();
  });

  it('follows a link that is pasted into the open page', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7?panel=why');
    await page.evaluate(() => {
      location.hash = '#/run/run-2/5?panel=context';
    });
    await runOf(page, 'run-2');
    await positionOf(page, 5);
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Context');
  });

  it('steps with ← and → wherever the focus is, but not in a text field', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7?panel=why');
    await positionOf(page, 7);
    await page.getByRole('tab', { name: 'Why' }).click();
    await page.keyboard.press('ArrowLeft');
    await positionOf(page, 6);
    await page.keyboard.press('ArrowRight');
    await positionOf(page, 7);
    await page
      .getByRole('treeitem', { name: /^observation/i })
      .first()
      .click();
    await expect.poll(() => positionNow(page)).not.toBe(7);
    const clicked = await positionNow(page);
    await page.keyboard.press('ArrowLeft');
    await positionOf(page, clicked - 1);
    await page.keyboard.press('ArrowRight');
    await positionOf(page, clicked);
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    await page.keyboard.press('ArrowLeft');
    await positionOf(page, clicked);
  });
});
