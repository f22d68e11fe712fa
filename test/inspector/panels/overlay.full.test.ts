import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';
import { buildTestPage, openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the overlay of a page');
const runs = await threeRecordedRuns();

beforeAll(() => buildTestPage(tests), 60_000);

async function open(width = 1280, panel = 'overlay'): Promise<Page> {
  const page = await openRecordedRuns(tests, runs, `?panel=${panel}`, width);
  await page.locator('.measure-table, .never-taken').first().waitFor();
  return page;
}

const takenIn = async (page: Page): Promise<number> =>
  Number.parseInt(await page.getByText(/transitions taken/).innerText(), 10);

describe.skipIf(tests.areSkipped)('the overlay of the chart', () => {
  it('shows numbers only after a measure is chosen', async () => {
    const page = await open();
    expect(await page.evaluate(() => window.overlay.heat.value)).toBeNull();
    await page.getByRole('combobox', { name: 'Heatmap' }).selectOption('tokens');
    const mark = (state: string) =>
      page.evaluate(`window.overlay.heat.value.postChain.get('${state}')`) as Promise<{
        heat: number;
        text: string;
      }>;
    const all = await page.evaluate(`[...window.overlay.heat.value.postChain.values()].map(({ heat }) => heat)`);
    expect(Math.max(...(all as number[]))).toBe(1);
    expect(Math.min(...(all as number[]))).toBe(0);
    expect((await mark('routing')).heat).toBe(0);
    expect((await mark('intention')).text).toMatch(/^\d[\d,]* tokens$/);
    expect(await page.evaluate(() => window.overlay.neverTaken.value)).toBeNull();
    await page.getByRole('button', { name: 'Proofs' }).click();
    await page.getByRole('checkbox', { name: /Mark transitions never taken/ }).check();
    expect(await page.evaluate('window.overlay.neverTaken.value.postChain.size > 0')).toBe(true);
  });

  it('includes only what happened up to the cursor', async () => {
    const page = await open(1280, 'proofs');
    const whole = await takenIn(page);
    await page.evaluate('window.inspector.moveTo(40)');
    await expect.poll(() => takenIn(page)).toBeLessThan(whole);
    await page.getByRole('button', { name: 'Heatmap' }).click();
    const synthesizing = page.getByRole('row', { name: /^synthesizing / }).getByRole('cell');
    expect(await synthesizing.allInnerTexts()).toEqual(['0 ms', '0', '0', '0', '0']);
    await page.evaluate('window.inspector.moveTo(Number.MAX_SAFE_INTEGER)');
    await expect.poll(async () => (await synthesizing.allInnerTexts())[1]).toBe('1');
  });

  it('sorts by any measure in descending order', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Tokens' }).click();
    expect(await page.getByRole('columnheader', { name: 'Tokens' }).getAttribute('aria-sort')).toBe('descending');
    const cells = await page.locator('.measure-table tbody').first().locator('tr td:nth-of-type(3)').allInnerTexts();
    const numbers = cells.map((text) => Number(text.replaceAll(',', '')));
    expect(numbers).toEqual([...numbers].sort((left, right) => right - left));
    expect(numbers[0]).toBeGreaterThan(0);
  });

  it('loads all runs on request and covers more with them', async () => {
    const page = await open(1280, 'proofs');
    const one = await takenIn(page);
    await page.getByRole('button', { name: 'Load all 3 runs' }).click();
    await page.getByRole('button', { name: 'All 3 runs are loaded' }).waitFor();
    await page.getByText('3 runs, complete.').waitFor();
    await expect.poll(() => takenIn(page)).toBeGreaterThan(one);
    await page.getByText(/^attempt: \d+ never taken/).click();
    expect(await page.getByRole('cell', { name: 'firstChunkDeadline' }).count()).toBe(1);
  });

  it('passes the accessibility checks in both themes, and fits its panel', async () => {
    for (const [width, panel] of [
      [1280, 'overlay'],
      [700, 'overlay'],
      [1280, 'proofs'],
      [700, 'proofs'],
    ] as const) {
      const page = await open(width, panel);
      if (panel === 'overlay') await page.getByRole('combobox', { name: 'Heatmap' }).selectOption('ms');
      else await page.getByText(/^postChain: \d+ never taken/).click();
      for (const theme of ['light', 'dark']) {
        await page.getByRole('combobox', { name: 'Theme' }).selectOption(theme);
        expect(await axeViolations(page)).toEqual([]);
        if (process.env['SHOTS'])
          await page.screenshot({ path: `${process.env['SHOTS']}/${panel}-${width}-${theme}.png` });
      }
      const box = page.locator('#panel');
      const [inner, outer] = await box.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
      expect(inner).toBe(outer);
    }
  });
});
