import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  callPage,
  marksAfterDeciding,
  marksAfterFailing,
  marksInIntention,
  openChart,
  skipReason,
  stateItem,
  transitionIndex,
} from '../../support/inspector/chart-page.ts';
import { minContrast } from '../../support/inspector/page-checks.ts';

describe.skipIf(skipReason !== null)('marks in the chart picture', () => {
  it('highlight the active states, and among nested charts only the running one', async () => {
    const page = await openChart();
    await callPage(page, 'mark', marksInIntention);
    expect(await page.locator('.state.leaf').count()).toBe(2);
    expect(await page.locator('.state.active').count()).toBe(5);
    expect(await stateItem(page, 'intention').getAttribute('aria-label')).toBe(
      'intention, active: States the goal of the request.',
    );
    const current = page.locator('[aria-current]');
    expect(await current.count()).toBe(1);
    expect(await current.getAttribute('aria-label')).toMatch(/^streaming, active/);
    await callPage(page, 'mark', marksAfterDeciding);
    expect(await page.locator('.state.leaf').count()).toBe(1);
  });

  it('distinguish the last transition and earlier ones by weight as well as color', async () => {
    const page = await openChart();
    await callPage(page, 'mark', marksInIntention);
    const widths = (selector: string): Promise<number[]> =>
      page
        .locator(`${selector} > .line`)
        .evaluateAll((all) => all.map((one) => Number.parseFloat(getComputedStyle(one).strokeWidth)));
    const [last = 0] = await widths('.edge.last:visible');
    const [taken = 0] = await widths('.edge.taken:not(.last):visible');
    const [other = 0] = await widths('.edge:not(.taken, .last):visible');
    expect(await page.locator('.edge.last:visible').count()).toBe(1);
    expect(last).toBeGreaterThan(taken);
    expect(taken).toBeGreaterThan(other);
  });

  it('draw the way back to a phase as a line, with how often it was taken', async () => {
    const page = await openChart();
    await callPage(page, 'mark', marksAfterDeciding);
    expect(await page.locator('.edge.last:visible').count()).toBe(1);
    expect(await page.locator('.label.last:visible > text').textContent()).toBe('nextPhaseIs ×1');
  });

  it('draw a line that is usually hidden while it is the latest', async () => {
    const page = await openChart();
    expect(await page.locator('.spoke:visible').count()).toBe(0);
    await callPage(page, 'mark', marksAfterFailing);
    expect(await page.locator('.edge.spoke:visible').count()).toBe(1);
    expect(await page.locator('.label.spoke:visible > text').textContent()).toBe('else ×1');
    expect(await stateItem(page, 'intention').getAttribute('aria-label')).toMatch(/^intention, not active, failed/);
  });

  it('update with the cursor by changing a few attributes, without rendering elements again', async () => {
    const page = await openChart();
    await callPage(page, 'mark', marksInIntention);
    await page.evaluate(() => {
      const changes = { attributes: 0, children: 0 };
      new MutationObserver((records) => {
        for (const { type } of records) changes[type === 'attributes' ? 'attributes' : 'children'] += 1;
      }).observe(document.querySelector('.chart-picture') as Element, {
        attributes: true,
        childList: true,
        subtree: true,
      });
      Object.assign(window, { changes });
    });
    for (let move = 0; move < 50; move += 1) {
      await callPage(page, 'mark', marksAfterDeciding);
      await callPage(page, 'mark', marksInIntention);
    }
    const changes = await page.evaluate(
      () => (window as unknown as { changes: { attributes: number; children: number } }).changes,
    );
    expect(changes.children).toBe(0);
    expect(changes.attributes / 100).toBeLessThan(60);
  });

  it('show numbers on the states and fade what was never taken', async () => {
    const page = await openChart();
    await callPage(page, 'overlay', { postChain: { intention: { heat: 0.7, text: '1.2 s' } } }, [
      ...['choosing', 'running'].map(
        (state) => `postChain ${transitionIndex(`postChain.cycling.action.${state}`, 'experience')}`,
      ),
    ]);
    expect(await stateItem(page, 'intention').locator('> .badge').textContent()).toBe('1.2 s');
    expect(await page.locator('.state.heated[style*="--heat: 0.7"]').count()).toBe(1);
    expect(await page.locator('.edge.never:visible').count()).toBe(1);
    await callPage(page, 'overlay', null, []);
    expect(await page.locator('.heated, .never').count()).toBe(0);
  });

  it('color a state by its value', async () => {
    const page = await openChart();
    await callPage(
      page,
      'overlay',
      {
        postChain: {
          intention: { heat: 0.1, text: '1' },
          observation: { heat: 0.5, text: '5' },
          action: { heat: 1, text: '10' },
        },
      },
      [],
    );
    const ground = (name: string): Promise<string> =>
      stateItem(page, name)
        .locator('> .box')
        .evaluate((box) => getComputedStyle(box).fill);
    const lightness = async (name: string): Promise<number> =>
      Number(/^oklab\((?<l>[\d.]+) /u.exec(await ground(name))?.groups?.['l']);
    const [little, half, most] = [
      await lightness('intention'),
      await lightness('observation'),
      await lightness('action'),
    ];
    expect(little).toBeGreaterThan(half as number);
    expect(half).toBeGreaterThan(most as number);
  });

  it.each(['light', 'dark'] as const)('use readable labels and visible lines in the %s theme', async (scheme) => {
    const page = await openChart({ scheme });
    await callPage(page, 'mark', marksInIntention);
    for (const [what, property, least] of [
      ['.state:not(.active) > .name', 'fill', 4.5],
      ['.state.leaf > .name', 'fill', 4.5],
      ['.label:not(.last) > text', 'fill', 4.5],
      ['.edge > .line', 'stroke', 3],
      ['.state.leaf > .box', 'stroke', 3],
    ] as const)
      expect(await minContrast(page, what, property), what).toBeGreaterThanOrEqual(least);
    expect(await seriousOf(page)).toEqual([]);
  });
});

/** Returns the serious and critical violations reported by axe-core. */
async function seriousOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run();
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
  });
}
