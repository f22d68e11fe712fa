import { describe, expect, it } from 'vitest';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { callPage, marksInIntention, openChart, skipReason, stateItem } from '../../support/inspector/chart-page.ts';

describe.skipIf(skipReason !== null)('a chart as a picture or as rows', () => {
  it('shows the built-in charts without layout and starts no worker', async () => {
    const page = await openChart();
    await stateItem(page, 'intention').waitFor();
    expect(page.workers()).toEqual([]);
  });

  it('lays out any other chart in a worker and shows its texts as text', async () => {
    const page = await openChart({ charts: strange, root: 'strange' });
    await page.getByRole('treeitem').first().waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(2);
    expect(await page.locator('.chart-picture b').count()).toBe(0);
    expect(await page.locator('.name').first().textContent()).toBe('<b>bold</b> ‹U+202E›');
  });

  it.each(['cannot be loaded', 'is forbidden'])('explains the missing picture when a worker %s', async (why) => {
    const page = await openChart();
    if (why === 'cannot be loaded') await page.route(/layout\.js/u, (route) => route.abort());
    else
      await page.evaluate(() => {
        window.Worker = function refuse(): never {
          throw new DOMException("Failed to construct 'Worker'", 'SecurityError');
        } as unknown as typeof Worker;
      });
    await callPage(page, 'show', strange, 'strange');
    await page.getByText('The chart could not be laid out: the layout worker did not start.').waitFor();
    expect(await page.locator('.chart-rows li').count()).toBe(2);
  });

  it('describes each state with its transitions in words', async () => {
    const page = await openChart();
    await callPage(page, 'mark', marksInIntention);
    await page
      .getByRole('treeitem', { name: /^intention/u })
      .first()
      .waitFor();
    const words = await page
      .locator('[data-state][aria-description]')
      .evaluateAll((all) =>
        all.map((state) => `${state.getAttribute('aria-label')}: ${state.getAttribute('aria-description')}`),
      );
    expect(words.filter((text) => / › intention ×2, latest/u.test(text)).length).toBeGreaterThan(0);
  });

  it('shows a chart that is too large to draw as rows, with the same marks', async () => {
    const page = await openChart();
    const states = Array.from({ length: 2_000 }, (_, number) => ({ ...leaf, id: `s${number}`, name: `s${number}` }));
    const large: RunCharts = { charts: [{ id: 'large', states, transitions: [] }], invoked: {} };
    await callPage(page, 'show', large, 'large');
    await page.getByText('The chart has 2000 states').waitFor();
    expect(await page.locator('.chart-rows li').count()).toBe(2_000);
    await callPage(page, 'mark', { active: { large: ['large', 's7'] }, where: {}, taken: {}, last: null });
    expect(await page.locator('.chart-rows [aria-current]').first().textContent()).toBe('s7, active');
  });

  it('shows a number only on the state of its chart when two charts share a state name', async () => {
    const page = await openChart({ charts: namesakes, root: 'one' });
    await page.getByRole('treeitem').first().waitFor();
    const overlay = { one: { same: { heat: 0, text: '' } }, other: { same: { heat: 1, text: '3 visits' } } };
    await callPage(page, 'overlay', overlay, []);
    const heat = async (selector: string): Promise<readonly string[]> =>
      (await page.locator(selector).allTextContents()).filter((text) => text !== '');
    expect(await heat('.state > .badge')).toEqual([]);
    await callPage(page, 'show', namesakes, 'other');
    await callPage(page, 'overlay', overlay, []);
    expect(await heat('.state > .badge')).toEqual(['3 visits']);
    expect(await page.locator('.state.heated[style*="--heat: 1"]').count()).toBe(1);
  });
});

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
const namesakes: RunCharts = {
  charts: ['one', 'other'].map((id) => ({
    id,
    states: [{ ...leaf, id: 'same', name: 'same', parent: id }],
    transitions: [],
  })),
  invoked: {},
};
