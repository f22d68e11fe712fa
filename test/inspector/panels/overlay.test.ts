import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { complaintsOf } from '../../examples/react/page-rig.ts';
import { startBrowser } from '../../support/browser.ts';
import { barriersIn } from '../rig/barriers.ts';
import { threeHeldRuns } from '../rig/held-runs.ts';
import type { Rig } from '../rig/runs-page/main.ts';
import { serveRuns } from '../rig/runs-page.ts';

const browser = await startBrowser();
if (typeof browser === 'string') process.stderr.write(`skipped: the overlay of a page. ${browser}\n`);

const folder = await mkdtemp(join(tmpdir(), 'postchain-overlay-'));
const site = typeof browser === 'string' ? null : await serveRuns(await threeHeldRuns(), folder);

afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await site?.stop();
  await rm(folder, { recursive: true });
});

async function open(width = 1280): Promise<Page> {
  if (typeof browser === 'string' || site === null) throw new Error(String(browser));
  const page = await browser.newPage({ viewport: { width, height: 720 } });
  page.setDefaultTimeout(10_000);
  const complaints = complaintsOf(page, site.url);
  await page.goto(`${site.url}/`);
  await page.getByRole('tab', { name: 'Overlay' }).click();
  await page.getByRole('table').first().waitFor();
  onTestFinished(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });
  return page;
}

const takenIn = async (page: Page): Promise<number> =>
  Number.parseInt(await page.getByText(/transitions taken/).innerText(), 10);

const inRig = <Value>(page: Page, ask: (rig: Rig) => Value): Promise<Value> =>
  page.evaluate(`(${ask.toString()})(window.rig)`) as Promise<Value>;

describe.skipIf(typeof browser === 'string')('the overlay in the page', () => {
  it('gives the picture nothing until a measure is chosen, and then a number for each state', async () => {
    const page = await open();
    expect(await inRig(page, ({ overlay }) => overlay.heat.value)).toBeNull();
    await page.getByRole('combobox', { name: 'Lay over the chart' }).selectOption('tokens');
    const mark = (state: string) =>
      page.evaluate(`window.rig.overlay.heat.value.postChain.get('${state}')`) as Promise<{
        heat: number;
        text: string;
      }>;
    const all = await page.evaluate(`[...window.rig.overlay.heat.value.postChain.values()].map(({ heat }) => heat)`);
    expect(Math.max(...(all as number[]))).toBe(1);
    expect(Math.min(...(all as number[]))).toBe(0);
    expect((await mark('routing')).heat).toBe(0);
    expect((await mark('intention')).text).toMatch(/^\d[\d,]* tokens$/);
    expect(await inRig(page, ({ overlay }) => overlay.neverTaken.value)).toBeNull();
    await page.getByRole('checkbox', { name: /Mark what was never taken/ }).check();
    expect(await page.evaluate('window.rig.overlay.neverTaken.value.postChain.has(0)')).toBe(true);
  });

  it('holds what had happened at the cursor, and no more', async () => {
    const page = await open();
    const whole = await takenIn(page);
    await page.evaluate('window.rig.inspector.moveTo(40)');
    await expect.poll(() => takenIn(page)).toBeLessThan(whole);
    expect(await page.getByRole('rowheader', { name: 'synthesizing', exact: true }).count()).toBe(0);
  });

  it('sorts by any measure, with the most on top', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Tokens' }).click();
    expect(await page.getByRole('columnheader', { name: 'Tokens' }).getAttribute('aria-sort')).toBe('descending');
    const cells = await page.locator('.measure-table tbody').first().locator('tr td:nth-of-type(3)').allInnerTexts();
    const numbers = cells.map((text) => Number(text.replaceAll(',', '')));
    expect(numbers).toEqual([...numbers].sort((left, right) => right - left));
    expect(numbers[0]).toBeGreaterThan(0);
  });

  it('loads all runs when asked, and covers more with them', async () => {
    const page = await open();
    const one = await takenIn(page);
    await page.getByRole('button', { name: 'Load all 3 runs' }).click();
    await page.getByRole('button', { name: 'All 3 runs are loaded' }).waitFor();
    await page.getByText('3 runs, as far as each goes.').waitFor();
    await expect.poll(() => takenIn(page)).toBeGreaterThan(one);
    await page.getByText(/^attempt: \d+ never taken/).click();
    expect(await page.getByRole('cell', { name: 'firstChunkDeadline' }).count()).toBe(1);
  });

  it('can be told by ear and read in either theme, and is as wide as its place', async () => {
    for (const width of [1280, 700]) {
      const page = await open(width);
      await page.getByRole('combobox', { name: 'Lay over the chart' }).selectOption('ms');
      if (width === 700) await page.getByText(/^postChain: \d+ never taken/).click();
      for (const theme of ['light', 'dark']) {
        await page.getByRole('combobox', { name: 'Theme' }).selectOption(theme);
        expect(await barriersIn(page)).toEqual([]);
        if (process.env['SHOTS'])
          await page.screenshot({ path: `${process.env['SHOTS']}/overlay-${width}-${theme}.png` });
      }
      const panel = page.getByRole('tabpanel');
      const [inner, outer] = await panel.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
      expect(inner).toBe(outer);
    }
  });
});
