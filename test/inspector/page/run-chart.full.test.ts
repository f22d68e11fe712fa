import { expect, it } from 'vitest';
import { failingRun } from '../../support/inspector/inspected-runs.ts';
import { browserFor, nextFrames, pageForRuns } from '../../support/inspector/inspector-page.ts';

const browser = await browserFor('the views of the chart of a run');
const run = await failingRun();
const thePage = pageForRuns(browser, [run]);

/** Whether all of an element is inside another. */
const isInside = (inner: string, outer: string): Promise<boolean> =>
  thePage().evaluate(
    ([one = '', other = '']) => {
      const [a, b] = [one, other].map((selector) => document.querySelector(selector)?.getBoundingClientRect());
      if (a === undefined || b === undefined) return false;
      return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
    },
    [inner, outer],
  );

it.skipIf(browser === null)('fits the whole chart at 1280 × 720, with nothing over it', async () => {
  const page = thePage();
  expect(await page.locator('.minimap').isVisible()).toBe(false);
  const covered = await page.evaluate(() => {
    const view = document.querySelector('.chart-view')?.getBoundingClientRect() ?? new DOMRect();
    const tools = [...document.querySelectorAll('.chart-tools, .state-search')].map((one) =>
      one.getBoundingClientRect(),
    );
    return [...document.querySelectorAll('.chart-picture .state > .box')]
      .filter((box) => box.getClientRects().length > 0)
      .map((box) => box.getBoundingClientRect())
      .filter(
        ({ left, right, top, bottom }) =>
          left < view.left ||
          right > view.right ||
          top < view.top ||
          bottom > view.bottom ||
          tools.some((tool) => tool.left < right && left < tool.right && tool.top < bottom && top < tool.bottom),
      ).length;
  });
  expect(covered).toBe(0);
});

it.skipIf(browser === null)('marks the state of a selected phase, not the one after it', async () => {
  const page = thePage();
  for (const phase of ['intention', 'observation']) {
    await page.locator('.trace-row.phase', { hasText: phase }).first().click();
    await nextFrames(page);
    expect(await page.locator('.chart-picture :is(.leaf, .holds-leaf) > .name:visible').allTextContents()).toEqual([
      phase,
    ]);
  }
});

it.skipIf(browser === null)('opens a state so that all of it is visible, with small arrowheads', async () => {
  const page = thePage();
  await page
    .getByRole('treeitem', { name: /^yield,/u })
    .locator('> .box')
    .click();
  await page.keyboard.press('Enter');
  const opened = '.state[data-unfolded][aria-label^="yield"] > .box';
  await page.locator(opened).waitFor();
  await expect.poll(() => isInside(opened, '.chart-picture')).toBe(true);
  const heads = await page
    .locator('.chart-picture .head:visible')
    .evaluateAll((all) => all.map((head) => 9 * ((head as SVGGraphicsElement).getScreenCTM()?.a ?? 0)));
  expect(heads.length).toBeGreaterThan(3);
  expect(Math.max(...heads)).toBeLessThan(10.5);
  await page.keyboard.press('0');
});
