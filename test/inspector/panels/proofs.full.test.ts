import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { buildTestPage, openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('proofs');
const runs = await threeRecordedRuns();

beforeAll(() => buildTestPage(tests));

async function open(): Promise<Page> {
  const page = await openRecordedRuns(tests, runs, '?panel=proofs');
  await page.getByRole('region', { name: 'Proof', exact: true }).waitFor();
  return page;
}

const proofIn = (page: Page) => page.getByRole('region', { name: 'Proof', exact: true });

const select = (page: Page, state: string) =>
  page
    .getByRole('treeitem', { name: new RegExp(`^${state}\\b`, 'u') })
    .first()
    .press(' ');

describe.skipIf(tests.areSkipped)('the proofs of a recorded run', () => {
  it('say for a selected state that no run gets stuck there, and after how many model calls each path ends', async () => {
    const page = await open();
    expect(await proofIn(page).innerText()).toContain('The run ends here, with an answer.');
    await select(page, 'observation');
    await proofIn(page).getByText('No run gets stuck here: every path ends with an answer, after at most').waitFor();
    const callsLeft = async () => Number(/at most (\d+) more model calls/u.exec(await proofIn(page).innerText())?.[1]);
    const late = await callsLeft();
    await page.evaluate(() => window.inspector.moveTo(1));
    await expect.poll(callsLeft).toBeGreaterThan(late);
    expect(await callsLeft()).toBe(103);
    await proofIn(page).getByText('What is proven').click();
    expect(await proofIn(page).innerText()).toMatch(
      /All 4,496 states and [\d,]+ steps reachable from 11 starts \(a question; /u,
    );
  });

  it('list the shortest path to the selected state, and highlight it in the chart until the view is left', async () => {
    const page = await open();
    const onPath = () => page.locator('[data-line].selected').count();
    expect(await onPath()).toBe(0);
    await select(page, 'yield');
    const steps = page.getByRole('region', { name: 'Shortest path' }).getByRole('listitem');
    await expect.poll(() => steps.count()).toBe(3);
    const texts = (await steps.allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, ' '));
    expect(texts).toEqual(['with a capability (start)', 'action: replied intention.calling', 'attempt: replied yield']);
    await expect.poll(onPath).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Back to the step' }).click();
    await expect.poll(onPath).toBe(0);
  });

  it('end the path at a state that a step only passes through, or that every run starts in', async () => {
    const page = await open();
    const steps = page.getByRole('region', { name: 'Shortest path' }).getByRole('listitem');
    const texts = async () => (await steps.allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, ' '));
    await select(page, 'recovering');
    await expect.poll(texts).toEqual(['a question (start)', 'action: invalid reply recovering']);
    const drawn = page.locator('.chart-picture > svg [data-chart="0"] > [data-line].selected');
    await expect.poll(() => drawn.count()).toBe(1);
    await select(page, 'routing');
    await expect.poll(texts).toEqual(['a question (start) routing']);
  });

  it('write a test for a transition that no run took, and copy it', async () => {
    const page = await open();
    await page.evaluate(() => {
      const clipboard = { writeText: async (text: string) => void Object.assign(window, { written: text }) };
      Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
    });
    await page.getByText('3 runs read').waitFor();
    await page.getByText(/^postChain: \d+ never taken/u).click();
    const row = page.getByRole('row', { name: 'modelUnavailable' });
    await row.getByRole('button', { name: 'Copy path test' }).click();
    await page.getByRole('dialog').getByText('Copied.').waitFor();
    const text = await page.evaluate(() => (window as unknown as { written: string }).written);
    expect(await page.getByRole('dialog').getByRole('textbox').inputValue()).toBe(text);
    expect(text).toContain("it('takes recovering, always, [modelUnavailable] → synthesizing', () => {");
    expect(text).toContain("  walk.take('action: connection lost');\n");
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('do not exist for the machines of other programs', async () => {
    const page = await open();
    expect(await page.getByRole('button', { name: 'Proofs' }).count()).toBe(1);
    await page.evaluate(() => {
      const machine = { id: 'door', states: [], transitions: [] };
      const known = { runId: 'x', kind: 'system', title: 'Doors', startedAt: '', status: 'running' } as const;
      window.listener.runs([{ ...known, live: true, fidelity: [], summary: null }], 'x', 0);
      window.listener.charts('x', { charts: [machine], invoked: {} });
      window.inspector.selectRun('x');
    });
    await page.getByRole('heading', { name: 'Doors' }).waitFor();
    expect(await page.getByRole('button', { name: 'Fleet' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Proofs' }).count()).toBe(0);
    expect(await page.locator('#panel').innerText()).not.toContain('proven');
  });
});
