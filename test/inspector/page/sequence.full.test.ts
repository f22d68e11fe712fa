import { expect, it } from 'vitest';
import { failingRun, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { browserFor, displayedState, nextFrames, pageForRuns } from '../../support/inspector/inspector-page.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';

const browser = await browserFor('the views of the chart of a run');
const run = await failingRun();
const entries = recordedEntries(run);
const thePage = pageForRuns(browser, [run]);

const show = async (kind: 'Picture' | 'Rows' | 'Sequence'): Promise<void> => {
  await thePage().getByRole('button', { name: kind, exact: true }).click();
  await nextFrames(thePage());
};
const cursorNow = async (): Promise<number> => Number(/\d+/u.exec((await displayedState(thePage())).position)?.[0]);
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
    await page.locator('.story-row', { hasText: phase }).first().click();
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

it.skipIf(browser === null)(
  'keeps the buttons in place between the picture, the rows and the sequence, and the note below both',
  async () => {
    const page = thePage();
    await page.getByRole('treeitem', { name: /^recovering,/u }).click();
    const kinds = page.locator('.chart-kind');
    const place = await kinds.boundingBox();
    for (const [kind, content] of [
      ['Rows', '.chart-rows'],
      ['Sequence', '.sequence'],
    ] as const) {
      await show(kind);
      expect(await kinds.boundingBox()).toEqual(place);
      const [toolbar, list, note] = await Promise.all(
        ['.chart-kind', content, '.selection-note'].map((part) => page.locator(part).boundingBox()),
      );
      const bottomOf = (box: typeof list = null): number => (box === null ? Number.NaN : box.y + box.height);
      expect(list?.y).toBeGreaterThanOrEqual(bottomOf(toolbar));
      expect(note?.y).toBeGreaterThanOrEqual(bottomOf(list));
    }
    await page.getByRole('button', { name: 'Close' }).click();
  },
);

it.skipIf(browser === null)('scrolls the rows to the active state', async () => {
  await show('Rows');
  await thePage().locator('.story-row', { hasText: 'yield' }).first().click();
  await nextFrames(thePage());
  expect(await thePage().locator('.chart-rows .leaf').count()).toBeGreaterThan(0);
  expect(await isInside('.chart-rows .leaf', '.chart-rows')).toBe(true);
});

it.skipIf(browser === null)(
  'shows the messages of the run, and moves through them by pointer and keyboard',
  async () => {
    const page = thePage();
    await show('Sequence');
    expect(await page.locator('.lifelines li').allTextContents()).toEqual(expect.arrayContaining(['User', 'Chain']));
    await page.keyboard.press('Home');
    await nextFrames(page);
    await page.getByRole('option', { name: 'Action loop to Model: action' }).first().click();
    await nextFrames(page);
    const call = entries.find(({ type }) => type === 'call-start')?.seq ?? -1;
    expect(await cursorNow()).toBe(call + 1);
    expect(await page.locator('.step-title, .step-area').first().textContent()).toContain('Model call');
    const current = page.locator('.message.at');
    expect(await current.getAttribute('aria-selected')).toBe('true');
    const rowNow = async (): Promise<number> => Number((await current.getAttribute('id'))?.replace('message-', ''));
    await page.getByRole('listbox', { name: 'Messages between the actors' }).focus();
    const visited = [await rowNow()];
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press('ArrowDown');
      await nextFrames(page);
      visited.push(await rowNow());
    }
    expect(new Set(visited).size).toBe(31);
    expect(await isInside('.message.at', '.messages')).toBe(true);
    for (const row of visited.reverse().slice(1)) {
      await page.keyboard.press('ArrowUp');
      await nextFrames(page);
      expect(await rowNow()).toBe(row);
    }
    expect(await axeViolations(page, '.chart-area')).toEqual([]);
  },
);
