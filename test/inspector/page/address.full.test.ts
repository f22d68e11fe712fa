import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { buildTestPage, openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the address of the page');
const runs = await threeRecordedRuns();

beforeAll(() => buildTestPage(tests));

const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);
const positionOf = (page: Page, seq: number) =>
  page.locator(`.position[data-at="${seq}"]`).waitFor({ state: 'attached' });
const positionNow = async (page: Page): Promise<number> =>
  Number(await page.locator('.position').getAttribute('data-at'));
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
    expect(await hashOf(page)).toBe('#/run/run-0/20?panel=why&step=phase-9');
  });

  const look = (page: Page) =>
    page.evaluate(() => ({
      step: document.querySelector('.step-title')?.textContent,
      position: document.querySelector<HTMLElement>('.position')?.dataset['at'],
      tab: document.querySelector('[role=tab][aria-selected=true]')?.textContent,
      note: document.querySelector('.selection-note')?.textContent ?? '',
      marks: [...document.querySelectorAll('.chart-picture [data-state], .chart-picture [data-line]')].map((part) =>
        part.getAttribute('class'),
      ),
    }));
  const ready = (page: Page) =>
    page.locator('.chart-picture .state.selected, .chart-picture .state.active').first().waitFor();

  it('restores a selected phase: the step, its state in the chart, the tab and the cursor', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7?panel=why');
    await page.locator('.trace-area').getByText('Intention').first().click();
    await page.getByRole('tab', { name: 'Reply' }).click();
    await expect.poll(() => hashOf(page)).toMatch(/\?panel=reply&step=phase-\d+$/u);
    const before = await look(page);
    expect(before.step).toMatch(/^Phase intention, cycle 1/u);
    const again = await openRecordedRuns(tests, runs, (await hashOf(page)).slice(1));
    await ready(again);
    await expect.poll(() => look(again)).toEqual(before);
  });

  it('restores a selected state, and a selected line of the chart', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0/7?panel=why');
    await page
      .getByRole('treeitem', { name: /^observation/i })
      .first()
      .click();
    await expect.poll(() => hashOf(page)).toMatch(/&step=state-\d+-observation&chart=postChain&state=observation$/u);
    const before = await look(page);
    expect(before.note).toContain('observation');
    const again = await openRecordedRuns(tests, runs, (await hashOf(page)).slice(1));
    await ready(again);
    await expect.poll(() => look(again)).toEqual(before);
    await again.locator('.chart-picture [data-label]', { hasText: 'modelUnavailable' }).locator('text').click();
    await expect.poll(() => hashOf(again)).toMatch(/&chart=postChain&lines=[\d-]+$/u);
    await again.locator('.selection-note').getByText('modelUnavailable').waitFor();
    const line = await openRecordedRuns(tests, runs, (await hashOf(again)).slice(1));
    await line.locator('.selection-note').getByText('modelUnavailable').waitFor();
  });

  it('ignores a step, a state or a line that the run does not have', async () => {
    const page = await openRecordedRuns(
      tests,
      runs,
      '/run/run-0/99999?panel=reply&step=phase-9&chart=nothing&lines=7-9999',
    );
    await runOf(page, 'run-0');
    await page.locator('.step-title').getByText('Answer').waitFor();
    await page.evaluate(() => {
      location.hash = '#/run/run-0/7?panel=why&step=attempt-0&chart=postChain&state=nothing';
    });
    await positionOf(page, 7);
  });

  it('restores the run that Compare shows beside the selected one', async () => {
    const page = await openRecordedRuns(tests, runs, '/run/run-0?panel=compare&with=run-2');
    await page.getByRole('heading', { name: 'First difference' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Second run' }).inputValue()).toBe('run-2');
    expect(await hashOf(page)).toBe('#/run/run-0?panel=compare&with=run-2');
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
