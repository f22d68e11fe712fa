import { describe, expect, it } from 'vitest';
import {
  callPage,
  focusedName,
  marksInIntention,
  openChart,
  skipReason,
  stateItem,
  viewTransform,
} from '../../support/inspector/chart-page.ts';

describe.skipIf(skipReason !== null)('interacting with the chart picture', () => {
  it('moves through states with the arrow keys, opens and closes them with Space, and selects with Enter', async () => {
    const page = await openChart();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focusedName(page)).toBe('cycling');
    const names: string[] = [];
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowRight']) {
      await page.keyboard.press(key);
      names.push(await focusedName(page));
    }
    expect(names).toEqual(['beginning', 'recalling', 'routing', 'action', 'experience', 'cycling', 'beginning']);
    const before = await viewTransform(page);
    await stateItem(page, 'experience').focus();
    expect(await stateItem(page, 'experience').getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press(' ');
    expect(await stateItem(page, 'experience').getAttribute('aria-expanded')).toBe('true');
    expect(await stateItem(page, 'reading').isVisible()).toBe(true);
    await page.keyboard.press(' ');
    expect(await stateItem(page, 'experience').getAttribute('aria-expanded')).toBe('false');
    expect(await viewTransform(page)).toBe(before);
    await page.keyboard.press('ArrowRight');
    expect(await focusedName(page)).toBe('searching');
    expect(await stateItem(page, 'searching').isVisible()).toBe(true);
    await page.keyboard.press('0');
    expect(await viewTransform(page)).toBe(before);
    await stateItem(page, 'yield').focus();
    await page.keyboard.press('Enter');
    expect(await stateItem(page, 'deciding').isVisible()).toBe(true);
    expect(await stateItem(page, 'yield').getAttribute('aria-selected')).toBe('true');
  });

  it('shows the inside of a state when it is opened with a second click, or zoomed in', async () => {
    const page = await openChart();
    await callPage(page, 'mark', marksInIntention);
    const inside = page.locator('.state.leaf > .name', { hasText: 'calling' });
    expect(await inside.isVisible()).toBe(false);
    const intention = stateItem(page, 'intention');
    await intention.locator('> .box').click();
    expect(await inside.isVisible()).toBe(false);
    await page.waitForTimeout(0);
    await intention.locator('> .box').click();
    await inside.waitFor();
    await page.getByRole('button', { name: 'Fit the chart' }).click();
    await inside.waitFor({ state: 'hidden' });
    const { x = 0, y = 0, width = 0, height = 0 } = (await intention.locator('> .box').boundingBox()) ?? {};
    await page.mouse.move(x + width / 2, y + height / 2);
    for (let turn = 0; turn < 12; turn += 1) await page.mouse.wheel(0, -240);
    await inside.waitFor();
  });

  it('zooms with the wheel at the pointer, pans by dragging, and resets to fit', async () => {
    const page = await openChart();
    const fitted = await viewTransform(page);
    const at = await stateItem(page, 'yield').locator('> .box').boundingBox();
    if (at === null) throw new Error('no box');
    await page.mouse.move(at.x, at.y);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction(
      (before) => document.querySelector('.chart-picture > svg > g')?.getAttribute('transform') !== before,
      fitted,
    );
    const near = await stateItem(page, 'yield').locator('> .box').boundingBox();
    expect(Math.abs((near?.x ?? 0) - at.x)).toBeLessThan(2);
    expect(Math.abs((near?.y ?? 0) - at.y)).toBeLessThan(2);
    await page.mouse.down();
    await page.mouse.move(at.x + 50, at.y + 20, { steps: 5 });
    await page.mouse.up();
    const dragged = await stateItem(page, 'yield').locator('> .box').boundingBox();
    expect(Math.abs((dragged?.x ?? 0) - at.x - 50)).toBeLessThan(6);
    await page.getByRole('button', { name: 'Fit the chart' }).click();
    expect(await viewTransform(page)).toBe(fitted);
  });

  it('fits below the toolbar, which covers no state', async () => {
    const page = await openChart();
    const covered = (): Promise<readonly string[]> =>
      page.evaluate(() => {
        const tools = [...document.querySelectorAll('.chart-tools, .chart-kind, .state-search')].map((one) =>
          one.getBoundingClientRect(),
        );
        const states = [...document.querySelectorAll('.state')].filter((state) => {
          const box = (state.querySelector('.box') ?? state).getBoundingClientRect();
          return tools.some(
            ({ left, right, top, bottom }) =>
              box.right > left && box.left < right && box.top < bottom && box.bottom > top,
          );
        });
        return states.map((state) => state.querySelector('.name')?.textContent ?? '');
      });
    expect(await covered()).toEqual([]);
    await stateItem(page, 'intention').focus();
    await page.keyboard.press('Enter');
    expect(await covered()).not.toContain('intention');
  });

  it('stops dragging when the button is released outside', async () => {
    const page = await openChart();
    const wide = await viewTransform(page);
    await page.evaluate(() => {
      document.body.style.width = '600px';
    });
    await page.waitForFunction(
      (before) => document.querySelector('.chart-picture > svg > g')?.getAttribute('transform') !== before,
      wide,
    );
    const fitted = await viewTransform(page);
    await page.mouse.move(590, 240);
    await page.mouse.down();
    await page.mouse.move(700, 240);
    await page.mouse.up();
    await page.mouse.move(400, 240);
    await page.mouse.move(300, 200);
    expect(await viewTransform(page)).toBe(fitted);
    expect(await page.locator('svg.dragged').count()).toBe(0);
  });

  it('reports the selection: a state, or the transitions of a line', async () => {
    const page = await openChart();
    await stateItem(page, 'recovering').locator('> .box').click();
    await page.locator('.edge').first().locator('.reach').dispatchEvent('click');
    expect(
      await page.evaluate(() => (window as unknown as { chartPage: { selections: unknown[] } }).chartPage.selections),
    ).toMatchObject([
      { kind: 'state', chartId: 'postChain', stateId: 'recovering' },
      { kind: 'transitions', chartId: 'postChain' },
    ]);
    expect(await page.locator('.state.selected').count()).toBe(0);
    expect(await page.locator('.edge.selected').count()).toBe(1);
  });
});
