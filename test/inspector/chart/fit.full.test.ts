import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { callPage, marksInIntention, openChart, skipReason, stateItem } from '../../support/inspector/chart-page.ts';
import { flatChart, groupsOf, threeRegions, trafficLight } from '../../support/inspector/example-charts.ts';
import { ownCharts } from '../../support/inspector/inspected-runs.ts';

/** What is wrong with the picture as it is on the screen, one sentence each. */
function flawsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const isDrawn = (element: Element): boolean => element.getClientRects().length > 0;
    const flaws: string[] = [];
    const texts = [...document.querySelectorAll<SVGTextElement>('.chart-picture > svg text')].filter(
      (text) => isDrawn(text) && text.textContent !== '',
    );
    for (const text of texts) {
      const size = Number.parseFloat(getComputedStyle(text).fontSize) * (text.getScreenCTM()?.a ?? 0);
      if (size < 10.99) flaws.push(`"${text.textContent}" has ${size.toFixed(1)} px`);
    }
    const labels = [...document.querySelectorAll('[data-label]')].flatMap((label) => {
      const text = label.querySelector('text');
      return text !== null && isDrawn(text) && text.textContent !== '' ? [{ label, text }] : [];
    });
    const labeled = new Set(labels.map(({ label }) => label.getAttribute('data-label')));
    for (const line of document.querySelectorAll('[data-line]'))
      if (isDrawn(line) && !labeled.has(line.getAttribute('data-line')))
        flaws.push(`line ${line.getAttribute('data-line')} has no label`);
    const overlap = (one: DOMRect, other: DOMRect): boolean =>
      one.right > other.left && other.right > one.left && one.bottom > other.top && other.bottom > one.top;
    const boxes = [...document.querySelectorAll('.state > .box')]
      .filter(isDrawn)
      .map((box) => box.getBoundingClientRect());
    const sides = boxes.flatMap(({ left, top, right, bottom }) => [
      new DOMRect(left, top, right - left, 0),
      new DOMRect(left, bottom, right - left, 0),
      new DOMRect(left, top, 0, bottom - top),
      new DOMRect(right, top, 0, bottom - top),
    ]);
    const places = texts.map((text) => {
      const { left, top, width, height } = text.getBoundingClientRect();
      // The line box is higher than the letters.
      return { text: text.textContent, box: new DOMRect(left, top + height * 0.15, width, height * 0.7) };
    });
    for (const [index, { text, box }] of places.entries()) {
      if (sides.some((side) => overlap(side, box))) flaws.push(`"${text}" is on a border`);
      for (const other of places.slice(index + 1))
        if (overlap(other.box, box)) flaws.push(`"${text}" is over "${other.text}"`);
    }
    return flaws;
  });
}

const labelsOf = async (page: Page): Promise<readonly string[]> =>
  (await page.locator('.label:visible text').allTextContents()).filter((text) => text !== '');

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 720 },
  { width: 700, height: 560 },
  { width: 560, height: 400 },
] as const;

const EXAMPLES: readonly { readonly name: string; readonly charts: RunCharts; readonly root: string }[] = [
  { name: 'our chart', charts: ownCharts, root: 'postChain' },
  { name: 'a traffic light', charts: trafficLight, root: 'light' },
  { name: 'a machine with 60 states', charts: groupsOf(10, 5), root: 'groups' },
];

describe.skipIf(skipReason !== null)('the chart at fit', () => {
  it.each(EXAMPLES)('has a readable label on every line: $name', async ({ charts, root }) => {
    for (const size of SIZES) {
      const page = await openChart({ charts, root, size });
      await page.getByRole('treeitem').first().waitFor();
      expect(await flawsOf(page), `${size.width} × ${size.height}`).toEqual([]);
      if (root === 'postChain') {
        await callPage(page, 'mark', marksInIntention);
        expect(await flawsOf(page), `${size.width} × ${size.height}, marked`).toEqual([]);
        // Lines that are otherwise hidden are drawn over others; their labels find a free place.
        // At small sizes, the small map may cover the state.
        await stateItem(page, 'recovering').dispatchEvent('click');
        const covered = (await flawsOf(page)).filter((flaw) => / is over /u.test(flaw));
        expect(covered, `${size.width} × ${size.height}, selected`).toEqual([]);
      }
      if (process.env['SHOTS'])
        await page.screenshot({ path: `${process.env['SHOTS']}/fit-${root}-${size.width}.png` });
    }
  });

  it('shows the six phases, the way to the answer, and the cycle, but not the insides of states', async () => {
    const page = await openChart();
    for (const name of [
      'action',
      'experience',
      'intention',
      'observation',
      'understanding',
      'yield',
      'synthesizing',
      'answered',
    ])
      expect(await stateItem(page, name).isVisible(), name).toBe(true);
    for (const name of ['deciding', 'streaming', 'validating', 'classifying'])
      expect(await page.getByRole('treeitem', { name: new RegExp(`^${name},`) }).count(), name).toBe(0);
    expect((await labelsOf(page)).filter((label) => label.startsWith('nextPhaseIs')).length).toBeGreaterThan(4);
  });

  it('shows all events of a traffic light', async () => {
    const page = await openChart({ charts: trafficLight, root: 'light' });
    await page.getByRole('treeitem').first().waitFor();
    const shown = (await page.locator('.chart-picture > svg text:visible').allTextContents()).join(' ');
    for (const event of [
      'EMERGENCY',
      'RESET',
      'PEDESTRIAN',
      'after 3000',
      'after 1000',
      'TIMER',
      'COUNTDOWN',
      'REFRESH',
    ])
      expect(shown).toContain(event);
  });

  it('separates parallel regions with dashed borders', async () => {
    const page = await openChart({ charts: threeRegions, root: 'regions' });
    await page.getByRole('treeitem').first().waitFor();
    const dashes = await page
      .locator('.region > .box')
      .evaluateAll((all) => all.map((box) => getComputedStyle(box).strokeDasharray));
    expect(dashes).toHaveLength(3);
    expect(dashes).not.toContain('none');
  });

  it.each([
    { name: '121 states and 480 transitions', charts: flatChart(120, 4), root: 'flat' },
    { name: '400 states', charts: flatChart(399, 3), root: 'flat' },
    { name: '400 states in groups', charts: groupsOf(20, 19), root: 'groups' },
  ])('draws a chart of $name legibly, with a minimap, and finds a state', async ({ charts, root }) => {
    const page = await openChart({ charts, root });
    await page.getByRole('treeitem').first().waitFor();
    expect(await flawsOf(page)).toEqual([]);
    expect(await page.locator('.minimap').isVisible()).toBe(true);
    const wanted = root === 'flat' ? 'step99' : 'step17';
    await page.getByRole('combobox', { name: 'Find a state' }).fill(wanted);
    await page.keyboard.press('Enter');
    const found = page.locator('.state.selected').first();
    await found.waitFor();
    expect(await found.getAttribute('aria-label')).toMatch(new RegExp(`^${wanted},`));
    expect(await found.locator('> .name').isVisible()).toBe(true);
    const { x = -1, y = -1 } = (await found.boundingBox()) ?? {};
    expect(x).toBeGreaterThan(0);
    expect(y).toBeGreaterThan(0);
    // The lines of a selected state are drawn over the other states.
    expect((await flawsOf(page)).filter((flaw) => / px$| has no label$/u.test(flaw))).toEqual([]);
  });
});
