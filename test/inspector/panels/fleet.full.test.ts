import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';
import { buildTestPage, openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('the fleet of a page');
const runs = await threeRecordedRuns();

beforeAll(() => buildTestPage(tests));

/** Opens the view with the first run alone, or with all runs. The second is a fork of the first. */
async function open(shows: 'many runs' | 'this run up to the cursor', width = 1280, panel = 'fleet'): Promise<Page> {
  const page = await openRecordedRuns(tests, runs, `?panel=${panel}`, width);
  if (panel === 'fleet') await page.getByRole('combobox', { name: 'Forks' }).selectOption('With forks');
  await page.getByText('3 runs read').waitFor();
  await page.getByRole('combobox', { name: 'Show' }).selectOption(shows);
  await page.locator('.measure-table, .never-taken').first().waitFor();
  return page;
}

const number = (text: string): number => Number(text.replace(/[^\d.]/gu, ''));

const takenIn = async (page: Page): Promise<number> =>
  Number.parseInt(await page.getByText(/transitions taken/).innerText(), 10);

describe.skipIf(tests.areSkipped)('many runs on one chart', () => {
  it('shows numbers only after a measure is chosen', async () => {
    const page = await open('this run up to the cursor');
    expect(await page.evaluate(() => window.fleet.heat.value)).toBeNull();
    await page.getByRole('combobox', { name: 'Color by' }).selectOption('tokens');
    const mark = (state: string) =>
      page.evaluate(`window.fleet.heat.value.postChain.get('${state}')`) as Promise<{
        heat: number;
        text: string;
      }>;
    const all = await page.evaluate(`[...window.fleet.heat.value.postChain.values()].map(({ heat }) => heat)`);
    expect(Math.max(...(all as number[]))).toBe(1);
    expect(Math.min(...(all as number[]))).toBe(0);
    expect((await mark('routing')).heat).toBe(0);
    expect((await mark('experience')).heat).toBeGreaterThan(0);
    expect((await mark('postChain.cycling')).heat).toBe(0);
    expect((await mark('intention')).text).toMatch(/^\d[\d,]* tokens$/);
    expect(await page.evaluate(() => window.fleet.neverTaken.value)).toBeNull();
    await page.getByRole('button', { name: 'Proofs' }).click();
    await page.getByRole('checkbox', { name: /Mark never-taken transitions/ }).check();
    expect(await page.evaluate('window.fleet.neverTaken.value.postChain.size > 0')).toBe(true);
  });

  it('includes only what happened up to the cursor', async () => {
    const page = await open('this run up to the cursor', 1280, 'proofs');
    const whole = await takenIn(page);
    await page.evaluate('window.inspector.moveTo(40)');
    await expect.poll(() => takenIn(page)).toBeLessThan(whole);
    await page.getByRole('button', { name: 'Fleet' }).click();
    const synthesizing = page.getByRole('row', { name: /^synthesizing / }).getByRole('cell');
    expect(await synthesizing.allInnerTexts()).toEqual(['0 ms', '0', '0', '0', '0']);
    await page.evaluate('window.inspector.moveTo(Number.MAX_SAFE_INTEGER)');
    await expect.poll(async () => (await synthesizing.allInnerTexts())[1]).toBe('1');
  });

  it('sorts by any measure in descending order', async () => {
    const page = await open('this run up to the cursor');
    await page.getByRole('button', { name: 'Tokens' }).click();
    expect(await page.getByRole('columnheader', { name: 'Tokens' }).getAttribute('aria-sort')).toBe('descending');
    const cells = await page.locator('.measure-table tbody').first().locator('tr td:nth-of-type(3)').allInnerTexts();
    const numbers = cells.map((text) => Number(text.replaceAll(',', '')));
    expect(numbers).toEqual([...numbers].sort((left, right) => right - left));
    expect(numbers[0]).toBeGreaterThan(0);
  });

  it('reads all ended runs, keeps none of them, and covers more with them', async () => {
    const page = await open('this run up to the cursor', 1280, 'proofs');
    const one = await takenIn(page);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('many runs');
    await expect.poll(() => takenIn(page)).toBeGreaterThan(one);
    expect(await page.evaluate(() => window.inspector.loaded.value.map(({ runId }) => runId))).toEqual(['run-0']);
    await page.getByText(/^attempt: \d+ never taken/).click();
    expect(await page.getByRole('cell', { name: 'firstChunkDeadline' }).count()).toBe(1);
  });

  it('shows the share of runs that took a line, and opens a run that took a rare one', async () => {
    const page = await open('many runs');
    const share = (transition: string): Promise<readonly string[]> =>
      page.locator('.chart-picture .label.taken', { hasText: transition }).locator('text').allTextContents();
    expect(await share('else')).toContain('else all');
    expect(await page.locator('.label.taken title').allTextContents()).toContain('Taken by 100% of the runs');
    const synthesizing = page.getByRole('row', { name: /^synthesizing / }).getByRole('cell');
    expect((await synthesizing.allInnerTexts())[0]).toBe('100%');
    await page.getByRole('heading', { name: /^\d paths?$/ }).waitFor();
    const rare = page.getByRole('region', { name: 'Rare transitions' }).locator('li');
    expect(await rare.first().innerText()).toMatch(/^1 run \S+ → /u);
    await rare.first().getByRole('button').click();
    await expect.poll(() => page.url()).toMatch(/#\/run\/run-\d\/\d+\?panel=why$/u);
    expect(await page.locator('.chart-picture .label.taken', { hasText: / all\b/u }).count()).toBe(0);
  });

  it('compares two sets by their filters, with the largest difference first', async () => {
    const page = await open('many runs');
    await page.getByRole('button', { name: 'Compare with a second set' }).click();
    const [a, b] = ['A', 'B'].map((name) => page.getByRole('search', { name: `Filters of set ${name}` }));
    await a?.getByRole('searchbox').fill('run-0');
    await b?.getByRole('searchbox').fill('run-2');
    await b?.getByText('1 of 3 runs').waitFor();
    const shares = page.locator('.measure-table.pair tbody tr td:nth-of-type(1)');
    const differences = async () =>
      (await shares.allInnerTexts()).map((text) => {
        const [one = '', other = ''] = text.split('B');
        return Math.abs(number(one) - number(other));
      });
    await expect.poll(async () => (await differences())[0]).toBe(100);
    expect(await differences()).toEqual((await differences()).toSorted((one, other) => other - one));
    expect(await page.locator('.chart-picture .higher-in-a, .chart-picture .higher-in-b').count()).toBeGreaterThan(0);
    await page.getByRole('combobox', { name: 'Color by' }).selectOption('visits');
    await page
      .locator('.chart-picture .badge', { hasText: /^\d\.\d \| \d\.\d$/ })
      .first()
      .waitFor();
    await page.getByRole('combobox', { name: 'Color by' }).selectOption('tokens');
    await page
      .locator('.chart-picture .badge', { hasText: /^[\d,]+ \| [\d,]+$/ })
      .first()
      .waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show set A only' }).click();
    await page.getByText('1 run read').waitFor();
  });

  it('leaves forks out with a note, and includes them on request', async () => {
    const page = await openRecordedRuns(tests, runs, '?panel=fleet');
    await page.getByText('2 runs read').waitFor();
    await page.getByText('Forks are left out, because each repeats the start of another run.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByText('3 runs read').waitFor();
    expect(await page.getByText('Forks are left out').count()).toBe(0);
  });

  it('labels a line of several transitions as the chart of one run does, and lists the share of each', async () => {
    const page = await open('many runs');
    const label = page.locator('.chart-picture .label.taken', { hasText: /\+6 all/u });
    await label.first().waitFor();
    await label.first().locator('text').click();
    const note = page.locator('.selection-note');
    await note.getByText('cycleLimitReached').waitFor();
    const shares = (await note.getByRole('listitem').allInnerTexts()).map((text) => text.replace(/\s+/gu, ' '));
    expect(shares).toHaveLength(7);
    expect(shares).toContain('cycleLimitReached taken by 33% of the runs');
  });

  it('shows where the paths of the runs differ', async () => {
    const page = await open('many runs');
    const paths = page.getByRole('region', { name: /^\d paths$/u }).locator('li');
    await expect.poll(() => paths.count()).toBeGreaterThan(1);
    expect(await paths.nth(0).locator('mark').count()).toBe(0);
    const marked = await page.locator('.fleet-list mark').allInnerTexts();
    expect(marked.join()).toMatch(/synthesizing \((?:confidence|cycle limit) reached\)/u);
  });

  it('restores its sets, color and scope from the address', async () => {
    const page = await open('many runs');
    await page.getByRole('button', { name: 'Compare with a second set' }).click();
    const [a, b] = ['A', 'B'].map((name) => page.getByRole('search', { name: `Filters of set ${name}` }));
    await a?.getByRole('searchbox').fill('run-0 so');
    await b?.getByRole('combobox', { name: 'Forks' }).selectOption('Forks only');
    await page.getByRole('combobox', { name: 'Color by' }).selectOption('tokens');
    await expect.poll(() => page.url()).toMatch(/\?panel=fleet&color=tokens&a=q%3Drun-0%2Bso&b=forks%3Donly$/u);
    const again = await openRecordedRuns(tests, runs, page.url().replace(/^[^#]*#/u, ''));
    await again.getByText('2 runs read').waitFor();
    const first = again.getByRole('search', { name: 'Filters of set A' });
    expect(await first.getByRole('searchbox').inputValue()).toBe('run-0 so');
    expect(await again.getByRole('search', { name: 'Filters of set B' }).getByText('1 of 3 runs').count()).toBe(1);
    expect(await again.getByRole('combobox', { name: 'Color by' }).inputValue()).toBe('tokens');
  });

  it('passes the accessibility checks in both themes, and fits its panel', async () => {
    for (const [width, panel] of [
      [1280, 'fleet'],
      [700, 'fleet'],
      [1280, 'proofs'],
      [700, 'proofs'],
    ] as const) {
      const page = await open('many runs', width, panel);
      if (panel === 'fleet') await page.getByRole('combobox', { name: 'Color by' }).selectOption('ms');
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
