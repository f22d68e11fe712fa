import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { startBrowser } from '../../support/browser.ts';
import { buildChartPage, ownCharts, servePage } from './chart-rig.ts';

const browser = await startBrowser();
if (typeof browser === 'string') process.stderr.write(`skipped: the chart's page. ${browser}\n`);

let site: { readonly url: string; readonly stop: () => Promise<void> };
let remove: () => Promise<void> = async () => {};

beforeAll(async () => {
  if (typeof browser === 'string') return;
  const built = await buildChartPage();
  remove = built.remove;
  site = await servePage(built.folder);
}, 60_000);

afterAll(async () => {
  if (typeof browser === 'string') return;
  await browser.close();
  await site.stop();
  await remove();
});

async function open(scheme: 'light' | 'dark' = 'light', charts = ownCharts, root = 'postChain'): Promise<Page> {
  if (typeof browser === 'string') throw new Error(browser);
  const page = await browser.newPage({
    viewport: { width: 780, height: 480 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  onTestFinished(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(site.url);
  await tell(page, 'show', charts, root);
  return page;
}

/** Calls a function of the page's stage. */
function tell(page: Page, name: string, ...given: readonly unknown[]): Promise<unknown> {
  return page.evaluate(
    ([method, args]) =>
      (window as unknown as { stage: Record<string, (...all: unknown[]) => unknown> }).stage[method]?.(...args),
    [name, given] as [string, unknown[]],
  );
}

const [chain] = ownCharts.charts;
const place = (source: string, target: string): number =>
  chain?.transitions.findIndex((one) => one.source === source && one.target.includes(target)) ?? -1;
const READING = 'postChain.cycling.experience.reading';
const DECIDING = 'postChain.cycling.yield.deciding';

/** The run thinks in `intention`, and came there just now. */
const thinking = {
  active: {
    postChain: ['postChain', 'postChain.cycling', 'intention'],
    attempt: ['attempt', 'attempt.calling', 'attempt.calling.streaming'],
  },
  where: { attempt: { chartId: 'postChain', stateId: 'intention' } },
  taken: {
    postChain: [
      [place('action', 'experience'), 1],
      [place(READING, 'intention'), 2],
    ],
  },
  last: { chartId: 'postChain', transition: place(READING, 'intention'), source: READING, target: 'intention' },
};
const deciding = {
  active: { postChain: ['postChain', 'postChain.cycling', 'experience', 'postChain.cycling.experience.retrieving'] },
  where: {},
  taken: { postChain: [[place(DECIDING, 'experience'), 1]] },
  last: { chartId: 'postChain', transition: place(DECIDING, 'experience'), source: DECIDING, target: 'experience' },
};

const state = (page: Page, name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name},`) });
const worldOf = (page: Page): Promise<string> =>
  page.evaluate(() => document.querySelector('.chart-picture > svg > g')?.getAttribute('transform') ?? '');
const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label')?.split(',')[0] ?? '');

describe.skipIf(typeof browser === 'string')('the picture of a chart', () => {
  it('shows our charts without laying them out: no worker is started', async () => {
    const page = await open();
    await state(page, 'intention').waitFor();
    expect(page.workers()).toEqual([]);
  });

  it('lights the active states, and of the charts inside states only the one that runs', async () => {
    const page = await open();
    await tell(page, 'mark', thinking);
    expect(await page.locator('.state.leaf').count()).toBe(2);
    expect(await page.locator('.state.active').count()).toBe(4);
    expect(await state(page, 'intention').getAttribute('aria-label')).toBe(
      'intention, active: The desired future: the goal behind the request.',
    );
    const current = page.locator('[aria-current]');
    expect(await current.count()).toBe(1);
    expect(await current.getAttribute('aria-label')).toMatch(/^streaming, active/);
    await tell(page, 'mark', deciding);
    expect(await page.locator('.state.leaf').count()).toBe(1);
  });

  it('tells the transition just made, and those taken, by weight as well as colour', async () => {
    const page = await open();
    await tell(page, 'mark', thinking);
    const widths = (selector: string): Promise<number[]> =>
      page
        .locator(`${selector} > .line`)
        .evaluateAll((all) => all.map((one) => Number.parseFloat(getComputedStyle(one).strokeWidth)));
    const [last = 0] = await widths('.edge.last');
    const [taken = 0] = await widths('.edge.taken:not(.last)');
    const [other = 0] = await widths('.edge:not(.taken, .last)');
    expect(await page.locator('.edge.last').count()).toBe(1);
    expect(last).toBeGreaterThan(taken);
    expect(taken).toBeGreaterThan(other);
  });

  it('draws where a chip leads that was taken just now', async () => {
    const page = await open();
    await tell(page, 'mark', deciding);
    expect(await page.locator('.chip.last').count()).toBe(1);
    expect(await page.locator('.jump').getAttribute('d')).toMatch(/^M/);
    await tell(page, 'mark', thinking);
    expect(await page.locator('.jump').getAttribute('d')).toBe('');
  });

  it('changes with the cursor in a few milliseconds', async () => {
    const page = await open();
    const times = ((await tell(page, 'flip', thinking, deciding, 100)) as number[]).sort((one, other) => one - other);
    expect(times[50]).toBeLessThan(8);
  });

  it('goes through the states by arrow keys, closes one by space and shows one by Enter', async () => {
    const page = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focusedName(page)).toBe('cycling');
    const names: string[] = [];
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowLeft']) {
      await page.keyboard.press(key);
      names.push(await focusedName(page));
    }
    expect(names).toEqual(['beginning', 'recalling', 'routing', 'action', 'beginning', 'action', 'cycling']);
    await page.keyboard.press(' ');
    expect(await state(page, 'cycling').getAttribute('aria-expanded')).toBe('false');
    expect(await state(page, 'intention').isVisible()).toBe(false);
    await page.keyboard.press('ArrowRight');
    expect(await focusedName(page)).toBe('cycling');
    await page.keyboard.press(' ');
    expect(await state(page, 'intention').isVisible()).toBe(true);
    const before = await worldOf(page);
    await page.keyboard.press('Enter');
    expect(await worldOf(page)).not.toBe(before);
    await page.keyboard.press('0');
    expect(await worldOf(page)).toBe(before);
  });

  it('closes a state in its place: nothing else moves, and it is lit for what it hides', async () => {
    const page = await open();
    await tell(page, 'mark', thinking);
    const boxes = (): Promise<string> =>
      page.evaluate(() =>
        JSON.stringify(
          [...document.querySelectorAll('.state > .box')].map((box) => [
            box.getAttribute('x'),
            box.getAttribute('width'),
          ]),
        ),
      );
    const before = await boxes();
    await state(page, 'intention').focus();
    await page.keyboard.press(' ');
    expect(await page.locator('.cover.collapsed.active:visible').count()).toBe(1);
    expect(await boxes()).toBe(before);
  });

  it('zooms with the wheel at the pointer, drags, and fits again', async () => {
    const page = await open();
    const fitted = await worldOf(page);
    const at = await state(page, 'yield').locator('> .box').boundingBox();
    if (at === null) throw new Error('no box');
    await page.mouse.move(at.x, at.y);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction(
      (before) => document.querySelector('.chart-picture > svg > g')?.getAttribute('transform') !== before,
      fitted,
    );
    const near = await state(page, 'yield').locator('> .box').boundingBox();
    expect(Math.abs((near?.x ?? 0) - at.x)).toBeLessThan(2);
    expect(Math.abs((near?.y ?? 0) - at.y)).toBeLessThan(2);
    await page.mouse.down();
    await page.mouse.move(at.x + 50, at.y + 20, { steps: 5 });
    await page.mouse.up();
    const dragged = await state(page, 'yield').locator('> .box').boundingBox();
    expect(Math.abs((dragged?.x ?? 0) - at.x - 50)).toBeLessThan(6);
    await page.getByRole('button', { name: 'Fit the chart' }).click();
    expect(await worldOf(page)).toBe(fitted);
  });

  it('tells what was chosen: a state, or the transitions of a line', async () => {
    const page = await open();
    await state(page, 'recovering').locator('> .box').click();
    await page.locator('.edge').first().locator('.reach').dispatchEvent('click');
    expect(
      await page.evaluate(() => (window as unknown as { stage: { choices: unknown[] } }).stage.choices),
    ).toMatchObject([
      { kind: 'state', chartId: 'postChain', stateId: 'recovering' },
      { kind: 'transitions', chartId: 'postChain' },
    ]);
    expect(await page.locator('.state.chosen').count()).toBe(0);
    expect(await page.locator('.edge.chosen').count()).toBe(1);
  });

  it('lays numbers over the states, and pales what was never taken', async () => {
    const page = await open();
    await tell(page, 'overlay', { intention: { heat: 0.7, text: '1.2 s' } }, [
      `postChain ${place('action', 'experience')}`,
    ]);
    expect(await state(page, 'intention').locator('.heat').textContent()).toBe('1.2 s');
    expect(await page.locator('.state.heat-7').count()).toBe(1);
    expect(await page.locator('.edge.never').count()).toBe(1);
    await tell(page, 'overlay', null, []);
    expect(await page.locator('.heat-7, .never').count()).toBe(0);
  });

  it('lays out any other chart in a worker, and shows its texts as text', async () => {
    const page = await open('light', strange, 'strange');
    await page.getByRole('treeitem').first().waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(2);
    expect(await page.locator('.chart-picture b').count()).toBe(0);
    expect(await page.locator('.name').first().textContent()).toBe('<b>bold</b> ‹U+202E›');
  });

  it('shows rows with the same marks where there is no picture, or when they are wanted', async () => {
    const page = await open();
    await tell(page, 'mark', thinking);
    await page.getByRole('button', { name: 'Rows' }).click();
    expect(await page.locator('.chart-rows .leaf').allTextContents()).toHaveLength(2);
    expect(await page.locator('.chart-rows [aria-current]').first().textContent()).toBe('intention, active');
    const states = Array.from({ length: 2_000 }, (_, number) => ({ ...leaf, id: `s${number}`, name: `s${number}` }));
    const large: RunCharts = { charts: [{ id: 'large', states, transitions: [] }], invoked: {} };
    await tell(page, 'show', large, 'large');
    await page.getByText('The chart has 2000 states').waitFor();
    expect(await page.locator('.chart-rows li').count()).toBe(2_000);
  });

  it.each(['light', 'dark'] as const)(
    'has names that can be read, and lines that can be seen, in the %s theme',
    async (scheme) => {
      const page = await open(scheme);
      await tell(page, 'mark', thinking);
      for (const [what, property, least] of [
        ['.state:not(.active) > .name', 'fill', 4.5],
        ['.state.leaf > .name', 'fill', 4.5],
        ['.chip:not(.last) > text', 'fill', 4.5],
        ['.edge > .line', 'stroke', 3],
        ['.state.leaf > .box', 'stroke', 3],
      ] as const)
        expect(await leastContrast(page, what, property), what).toBeGreaterThanOrEqual(least);
      expect(await seriousOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Rows' }).click();
      expect(await seriousOf(page)).toEqual([]);
    },
  );
});

/** What axe-core finds serious or critical. */
async function seriousOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run();
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
  });
}

const leaf = { parent: 'large', type: 'atomic', description: '', initial: null, invokes: [] } as const;
const strange: RunCharts = {
  charts: [
    {
      id: 'strange',
      states: [
        { ...leaf, id: 'a', name: '<b>bold</b> \u202e', parent: 'strange' },
        { ...leaf, id: 'b', name: 'b', parent: 'strange' },
      ],
      transitions: [{ source: 'a', target: ['b'], event: '<img src=x>', guard: null, otherwise: false, actions: [] }],
    },
  ],
  invoked: {},
};

/** The least contrast (WCAG 2.2) of a colour of elements to any surface that they may stand on. */
function leastContrast(page: Page, selector: string, property: 'fill' | 'stroke'): Promise<number> {
  return page.evaluate(
    ([wanted, name]) => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const luminance = (color: string): number => {
        if (canvas === null) return 0;
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((channel) => {
          const share = channel / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const probe = document.body.appendChild(document.createElement('i'));
      const surfaces = ['--ground', '--surface', '--sunken', '--accent-soft'].map((surface) => {
        probe.style.color = `var(${surface})`;
        return getComputedStyle(probe).color;
      });
      const boxes = [...document.querySelectorAll('.state > .box')].map((box) => getComputedStyle(box).fill);
      const grounds = [...surfaces, ...boxes].map(luminance);
      probe.remove();
      const colors = [...document.querySelectorAll(wanted)].map((one) => luminance(getComputedStyle(one)[name]));
      const pairs = colors.flatMap((color) => grounds.map((ground) => [color, ground]));
      return Math.min(...pairs.map((pair) => (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)));
    },
    [selector, property] as const,
  );
}
