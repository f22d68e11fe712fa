import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the address of the page');
const runs = await threeRecordedRuns();

const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);
const positionOf = (page: Page, seq: number) =>
  page.locator(`.position[data-at="${seq}"]`).waitFor({ state: 'attached' });
const positionNow = async (page: Page): Promise<number> =>
  Number(await page.locator('.position').getAttribute('data-at'));
const runOf = (page: Page, runId: string) => page.locator(`main[data-run="${runId}"]`).waitFor();

describe.skipIf(tests.areSkipped)('the address of the page', () => {
  it('opens a run at an entry, and follows the cursor without adding to the history', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-1/7');
    await runOf(page, 'run-1');
    await positionOf(page, 7);
    const length = await page.evaluate(() => history.length);
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowRight');
    await expect.poll(() => hashOf(page)).toBe('#/run/run-1/10');
    expect(await page.evaluate(() => history.length)).toBe(length);
  });

  it('goes back and forward between the selected steps and runs', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7');
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
    expect(await hashOf(page)).toBe('#/run/run-0/20?step=phase-9');
  });

  const look = (page: Page) =>
    page.evaluate(() => ({
      step: document.querySelector('.step-head h2')?.textContent,
      position: document.querySelector<HTMLElement>('.position')?.dataset['at'],
      note: document.querySelector('.selection-note')?.textContent ?? '',
      marks: [...document.querySelectorAll('.chart-picture [data-state], .chart-picture [data-line]')].map((part) =>
        part.getAttribute('class'),
      ),
    }));

  it('restores a selected phase and the cursor', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7');
    await page.locator('.trace-row.phase', { hasText: 'Intention' }).first().click();
    await expect.poll(() => hashOf(page)).toMatch(/\?step=phase-\d+$/u);
    const before = await look(page);
    expect(before.step).toMatch(/^Intention/u);
    const again = await openRecordedRuns(tests, runs, (await hashOf(page)).slice(1));
    await expect.poll(() => look(again)).toEqual(before);
  });

  it('restores a selected state of the chart', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7');
    await positionOf(page, 7);
    await page.keyboard.press('c');
    await page.locator('.chart-picture [data-state=observation]').click();
    await expect.poll(() => hashOf(page)).toMatch(/chart=postChain&state=observation/u);
    const before = await look(page);
    expect(before.note).toContain('observation');
    const again = await openRecordedRuns(tests, runs, (await hashOf(page)).slice(1));
    await expect.poll(() => look(again)).toEqual(before);
  });

  it('ignores a step, a state or a line that the run does not have', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/99999?step=phase-9&chart=nothing&lines=7-9999');
    await runOf(page, 'run-0');
    await page.locator('.step-head').getByText('The answer').waitFor();
    await page.evaluate(() => {
      location.hash = '#/run/run-0/7?step=attempt-0&chart=postChain&state=nothing';
    });
    await positionOf(page, 7);
  });

  it('goes back from the chart to what was shown before', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7');
    await positionOf(page, 7);
    await page.keyboard.press('c');
    await page.locator('.chart-picture').waitFor();
    expect(await hashOf(page)).toContain('view=chart');
    await page.goBack();
    await page.locator('.trace').waitFor();
    await positionOf(page, 7);
    await page.goForward();
    await page.locator('.chart-picture').waitFor();
  });

  it('does not go back to a chart that was closed', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7');
    await positionOf(page, 7);
    const length = await page.evaluate(() => history.length);
    await page.keyboard.press('c');
    await page.locator('.chart-picture').waitFor();
    await expect.poll(() => hashOf(page)).toContain('view=chart');
    await page.keyboard.press('c');
    await expect.poll(() => hashOf(page)).toBe('#/run/run-0/7');
    expect(await page.evaluate(() => history.length)).toBe(length + 1);
    await page.goBack();
    expect(await hashOf(page)).toBe('#/run/run-0/7');
    expect(await page.locator('.trace').count()).toBe(1);
  });

  it('steps with ← and → wherever the focus is, but not in a text field', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7');
    await positionOf(page, 7);
    await page.locator('#panel').focus();
    await page.keyboard.press('ArrowLeft');
    await positionOf(page, 6);
    await page.keyboard.press('ArrowRight');
    await positionOf(page, 7);
    await page.locator('.trace-row.phase', { hasText: 'Observation' }).first().click();
    await expect.poll(() => positionNow(page)).not.toBe(7);
    const clicked = await positionNow(page);
    await page.keyboard.press('ArrowLeft');
    await positionOf(page, clicked - 1);
    await page.keyboard.press('ArrowRight');
    await positionOf(page, clicked);
    await page.keyboard.press('o');
    await page.keyboard.type('x');
    await page.keyboard.press('ArrowLeft');
    await positionOf(page, clicked);
  });
});
