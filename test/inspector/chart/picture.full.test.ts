import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import {
  callPage,
  focusedName,
  marksAfterFailing,
  marksInIntention,
  openChart,
  skipReason,
  stateItem,
} from '../../support/inspector/chart-page.ts';
import { flatChart, groupsOf, threeRegions, trafficLight } from '../../support/inspector/example-charts.ts';
import { ownCharts } from '../../support/inspector/inspected-runs.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';

/** What is wrong with the texts as they are on the screen, one sentence each. */
function flawsOf(page: Page, leastPx: number): Promise<readonly string[]> {
  return page.evaluate((least) => {
    const flaws: string[] = [];
    const overlap = (one: DOMRect, other: DOMRect): boolean =>
      one.right > other.left && other.right > one.left && one.bottom > other.top && other.bottom > one.top;
    const texts = [...document.querySelectorAll<SVGTextElement>('.chart-picture text')].filter(
      ({ textContent }) => textContent !== '',
    );
    const places = texts.map((text) => {
      const size = Number.parseFloat(getComputedStyle(text).fontSize) * (text.getScreenCTM()?.a ?? 0);
      if (size < least - 0.01) flaws.push(`"${text.textContent}" has ${size.toFixed(1)} px`);
      const { left, top, width, height } = text.getBoundingClientRect();
      // The line box is higher than the letters.
      return { text: text.textContent, box: new DOMRect(left, top + height * 0.15, width, height * 0.7) };
    });
    const sides = [...document.querySelectorAll('.state > .box')].flatMap((box) => {
      const { left, top, right, bottom } = box.getBoundingClientRect();
      return [new DOMRect(left, top, right - left, 0), new DOMRect(left, bottom, right - left, 0)].concat(
        [left, right].map((x) => new DOMRect(x, top, 0, bottom - top)),
      );
    });
    for (const [index, { text, box }] of places.entries()) {
      if (sides.some((side) => overlap(side, box))) flaws.push(`"${text}" is on a border`);
      for (const other of places.slice(index + 1))
        if (overlap(other.box, box)) flaws.push(`"${text}" is over "${other.text}"`);
    }
    return flaws;
  }, leastPx);
}

const textsOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(`.chart-picture ${selector}`).allTextContents()).join(' ');

const noMarks = { active: {}, where: {}, taken: {}, last: null };
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

describe.skipIf(skipReason !== null)('the picture of a chart', () => {
  it('shows the chain at once, without a worker, in words instead of guard names', async () => {
    const page = await openChart();
    expect(page.workers()).toEqual([]);
    const labels = await textsOf(page, '.edge > text');
    for (const words of ['succeeded', 'another cycle', 'otherwise', 'cycle limit reached'])
      expect(labels).toContain(words);
    expect(labels).not.toMatch(/phaseSucceeded|nextPhaseIs|else|…/u);
    expect(await textsOf(page, '.edge > title')).toContain('confidenceReached');
    expect(await stateItem(page, 'action').getAttribute('aria-description')).toContain(
      'succeeded (done [phaseSucceeded]) › experience',
    );
  });

  it.each([
    { name: 'the chain', charts: undefined, root: undefined },
    { name: 'a traffic light', charts: trafficLight, root: 'light' },
    { name: 'three regions', charts: threeRegions, root: 'regions' },
    { name: '60 states in groups', charts: groupsOf(10, 5), root: 'groups' },
    { name: '121 states and 480 transitions', charts: flatChart(120, 4), root: 'flat' },
  ])('has whole, legible texts that nothing covers: $name', async ({ charts, root }) => {
    for (const size of [
      { width: 780, height: 560 },
      { width: 390, height: 400 },
    ]) {
      const page = await openChart({ size, ...(charts !== undefined && { charts, root }) });
      await page.locator('.state').first().waitFor();
      expect(await flawsOf(page, charts === undefined ? 11 : 9), `${size.width} px`).toEqual([]);
      const [chart] = (charts ?? ownCharts).charts;
      const everything = chart?.transitions.map((_, index) => [index, 3]);
      await callPage(page, 'mark', { active: {}, where: {}, taken: { [chart?.id ?? '']: everything }, last: null });
      expect(await flawsOf(page, charts === undefined ? 11 : 9), `${size.width} px, with counts`).toEqual([]);
    }
  });

  it('puts the label of a loop beside it, and the others over their lines', async () => {
    const transitions = [['a'], ['b']].map((target) => ({
      ...{ source: 'a', target, event: `to ${target}`, guard: null, otherwise: false, actions: [] },
    }));
    const [chart] = strange.charts;
    const charts = [{ ...(chart as RunCharts['charts'][number]), transitions }];
    const page = await openChart({ charts: { charts, invoked: {} }, root: 'strange' });
    await page.locator('.edge').first().waitFor();
    const gaps = await page.locator('.edge').evaluateAll((edges) =>
      edges.map((edge) => {
        const [line, text] = ['.line', 'text'].map((one) =>
          (edge.querySelector(one) as Element).getBoundingClientRect(),
        );
        return (text?.left ?? 0) - (line?.right ?? 0);
      }),
    );
    expect(gaps[0]).toBeGreaterThan(0);
    expect(gaps[0]).toBeLessThan(14);
    expect(gaps[1]).toBeLessThan(0);
    expect(await page.locator('.edge > .behind').count()).toBe(2);
  });

  it('lists two transitions of a line, says how many there are besides, and names those that were taken', async () => {
    const page = await openChart();
    expect(await textsOf(page, '.edge > text')).toContain('cycle limit reached, budget used up +5');
    await callPage(page, 'mark', marksInIntention);
    expect(await textsOf(page, '.edge.last > text')).toBe('succeeded ×2');
  });

  it('keeps all transitions of a line of another program, with delays in seconds, and counts and marks those taken', async () => {
    const page = await openChart({ charts: trafficLight, root: 'light' });
    await page.locator('.state').first().waitFor();
    const { transitions } = trafficLight.charts[0] as RunCharts['charts'][number];
    const timer = transitions.findIndex(({ event }) => event === 'after 3000');
    expect(await textsOf(page, '.edge > text')).toContain('PEDESTRIAN after 3 s');
    await callPage(page, 'mark', { active: {}, where: {}, taken: { light: [[timer, 2]] }, last: null });
    expect(await textsOf(page, '.edge.taken > text')).toContain('after 3 s ×2 PEDESTRIAN');
    expect(await page.locator('.edge.taken > .bordered').count()).toBe(2);
    expect(await textsOf(page, '.edge > .done')).toBe('after 3 s ×2');
  });

  it('dashes the borders of regions, and no line', async () => {
    const page = await openChart({ charts: threeRegions, root: 'regions' });
    await page.locator('.edge').first().waitFor();
    const dashes = (selector: string) =>
      page
        .locator(selector)
        .evaluateAll((shapes) => [...new Set(shapes.map((one) => getComputedStyle(one).strokeDasharray))]);
    expect(await dashes('.edge > .line')).toEqual(['none']);
    expect(await dashes('.region > .box')).toEqual(['6px, 4px']);
  });

  it('marks the active state, mutes what the run never visited, and names what failed', async () => {
    const page = await openChart();
    const lines = await page.locator('.edge').count();
    await callPage(page, 'mark', marksInIntention);
    expect(await page.locator('[aria-current=step]').getAttribute('aria-label')).toMatch(/^intention, .*active/u);
    expect(await page.locator('.state.never > .name').allTextContents()).toEqual(
      expect.arrayContaining(['observation', 'recovering', 'answered']),
    );
    expect(await page.locator('.state.never > .name').allTextContents()).not.toContain('action');
    await callPage(page, 'mark', marksAfterFailing);
    expect(await stateItem(page, 'intention').getAttribute('aria-label')).toContain('failed');
    // It has no line, also when it is taken.
    expect(await stateItem(page, 'intention').locator('.badge').textContent()).toBe('failed ×1 › recovering');
    expect(await page.locator('.edge').count()).toBe(lines);
    // At a moment before it was entered, it has not failed yet.
    await callPage(page, 'mark', { ...marksAfterFailing, active: {}, taken: {}, last: null });
    expect(await stateItem(page, 'intention').getAttribute('aria-label')).toContain('not visited');
  });

  it('moves between states with the arrow keys, opens a state with Enter, and leaves it with Escape', async () => {
    const page = await openChart();
    await page.locator('.state').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    expect(await focusedName(page)).toBe('recalling');
    await stateItem(page, 'intention').focus();
    await page.keyboard.press('Enter');
    expect(await stateItem(page, 'intention').getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Enter');
    await stateItem(page, 'calling').locator('.fold').click();
    await stateItem(page, 'backingOff').waitFor();
    expect(await page.getByRole('navigation').textContent()).toBe('postChain › intention › calling');
    await stateItem(page, 'backingOff').focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await stateItem(page, 'action').waitFor();
  });

  it('opens a level with its active state in the middle, its labels in frames, and its buttons beside it', async () => {
    const charts = groupsOf(10, 5);
    const page = await openChart({ charts, root: 'groups', size: { width: 680, height: 300 } });
    const active = ['groups', 'group4', 'groups.group4.step2'];
    await page.locator('.edge').first().waitFor();
    await page.locator('.state').first().press('-');
    await callPage(page, 'mark', { ...noMarks, active: { groups: active } });
    const boxOf = async (selector: string) =>
      await page
        .locator(selector)
        .first()
        .evaluate((one) => one.getBoundingClientRect());
    const [view, tools] = [await boxOf('.chart-scroll'), await boxOf('.chart-tools')];
    expect(tools.left).toBeGreaterThanOrEqual(view.right);
    const leaf = await boxOf('.leaf');
    expect(leaf.top).toBeGreaterThanOrEqual(view.top);
    expect(leaf.bottom).toBeLessThanOrEqual(view.bottom);
    const frames = await page.locator('.edge .behind').evaluateAll((all) =>
      all.map((frame) => {
        const room: number[] = [];
        for (let text = frame.nextElementSibling; text?.tagName === 'text'; text = text.nextElementSibling)
          room.push(frame.getBoundingClientRect().width - text.getBoundingClientRect().width);
        return room;
      }),
    );
    expect(Math.min(...frames.flat())).toBeGreaterThan(0);
    expect(Math.max(...frames.map((room) => Math.min(...room)))).toBeLessThan(14);
  });

  it('names the active state inside a folded one in a chart of 120 states', async () => {
    const page = await openChart({ charts: groupsOf(20, 5), root: 'groups' });
    await page.locator('.edge').first().waitFor();
    await callPage(page, 'mark', { ...noMarks, active: { groups: ['groups', 'group4', 'groups.group4.step2'] } });
    expect(await page.locator('.leaf > .inside').textContent()).toBe('step2 ');
  });

  it('shows the group of the active state of a large chart, names all others, and shows them with the lines between them on request', async () => {
    const { charts: all, invoked } = groupsOf(10, 5);
    const [chart] = all as [RunCharts['charts'][number]];
    const abort = { event: 'ABORT', source: 'groups', target: ['group4'], guard: null, otherwise: false, actions: [] };
    const transitions = [...chart.transitions, abort];
    const charts = { charts: [{ ...chart, transitions }], invoked };
    const page = await openChart({ charts, root: 'groups', size: { width: 1100, height: 400 } });
    await page.locator('.edge').first().waitFor();
    const takenTo = (...ids: readonly string[]) =>
      ids.map((id) => [transitions.findIndex(({ target }) => target.includes(id)), 2]);
    const taken = { groups: [...takenTo('group4', 'groups.group4.step1'), [transitions.indexOf(abort), 1]] };
    const active = ['groups', 'group4', 'groups.group4.step1'];
    const left = { groups: [[transitions.indexOf(abort), 'groups.group9.step4']] };
    await callPage(page, 'mark', { ...noMarks, active: { groups: active }, taken, left });
    expect(await textsOf(page, '.elsewhere.done')).toBe('any state here group9 › step4');
    const groups = page.getByRole('group', { name: 'Groups of states' });
    expect(await groups.locator('.active').innerText()).toBe('group4\nstep1');
    expect(await groups.getByRole('button').count()).toBe(11);
    expect(await page.locator('.state.open > .name').allTextContents()).toEqual(['group4']);
    await groups.getByRole('button', { name: 'group5' }).click();
    expect(await page.locator('.state.open > .name').allTextContents()).toEqual(['group5']);
    expect(await axeViolations(page, '.chart-view')).toEqual([]);
    await page.getByRole('button', { name: 'Whole chart' }).click();
    await page.locator('[data-state="groups.group4.step1"]').waitFor({ state: 'detached' });
    expect(await flawsOf(page, 12)).toEqual([]);
    expect(await textsOf(page, '.name')).toBe(Array.from({ length: 10 }, (_, at) => `group${at}`).join(' '));
    expect(await textsOf(page, '.leaf > text')).toMatch(/^group4 ×2 step1 · ABORT from group9 › step4 ×1/u);
    expect(await page.locator('.edge.taken').count()).toBe(2);
    expect(await page.locator('.edge').count()).toBe(19);
    await page.locator('[data-state=group4]').click();
    await page.locator('[data-state="groups.group4.step1"]').waitFor();
  });

  it('opens the legend of what the chart has beside it, which Escape closes', async () => {
    const page = await openChart();
    await page.getByRole('button', { name: 'Legend' }).click();
    await page.getByText('not visited').waitFor();
    expect(await page.getByText('the latest transition').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByText('not visited').waitFor({ state: 'hidden' });
  });

  it('shows the whole chart on request, and zoomed, everything can be scrolled to', async () => {
    const page = await openChart({ size: { width: 390, height: 400 } });
    await callPage(page, 'mark', marksAfterFailing);
    const inside = () =>
      page.evaluate(() => {
        const [view, chart] = ['.chart-scroll', '.chart-picture'].map((selector) =>
          (document.querySelector(selector) as Element).getBoundingClientRect(),
        ) as [DOMRect, DOMRect];
        return [chart.left - view.left, chart.top - view.top, view.right - chart.right, view.bottom - chart.bottom].map(
          (room) => room >= 0,
        );
      });
    await page.getByRole('button', { name: 'Whole chart' }).click();
    expect(await inside()).toEqual([true, true, true, true]);
    await page.getByRole('button', { name: 'Zoom in' }).click({ clickCount: 3 });
    await page.locator('.chart-scroll').evaluate((element) => element.scrollTo(0, 0));
    expect((await inside()).slice(0, 2)).toEqual([true, true]);
  });

  it('reports a clicked line with its transitions, and draws no line over the selected state', async () => {
    const page = await openChart();
    await stateItem(page, 'recovering').click();
    await page.locator('.edge').first().locator('.reach').dispatchEvent('click');
    const chosen = () => (window as unknown as { chartPage: { selections: unknown[] } }).chartPage.selections;
    expect(await page.evaluate(chosen)).toMatchObject([
      { kind: 'state', chartId: 'postChain', stateId: 'recovering' },
      { kind: 'transitions', chartId: 'postChain' },
    ]);
    expect(await page.locator('.edge.selected').count()).toBe(1);
  });

  it('lays out any other chart in a worker and shows its texts as text', async () => {
    const page = await openChart({ charts: strange, root: 'strange' });
    await page.locator('.state').first().waitFor();
    expect(await page.locator('.chart-picture b, .chart-picture img').count()).toBe(0);
    expect(await page.locator('.name').first().textContent()).toBe('<b>bold</b> ‹U+202E›');
    expect(await textsOf(page, '.edge > text')).toBe('<img src=x>');
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
    await callPage(page, 'show', threeRegions, 'regions');
    await page.getByText('The chart could not be laid out: the layout worker did not start.').waitFor();
    const active = ['regions', 'regions.a', 'regions.a.off', 'regions.b', 'regions.b.on'];
    await callPage(page, 'mark', { active: { regions: active }, where: {}, taken: {}, last: null });
    expect(await page.locator('.chart-list [aria-current=step] .name').allTextContents()).toEqual(['off', 'on']);
    // In a long list, the active states come first, and the others are folded.
    await callPage(page, 'show', groupsOf(10, 2), 'groups');
    const step = ['groups', 'group4', 'groups.group4.step1'];
    await callPage(page, 'mark', { active: { groups: step }, where: {}, taken: {}, last: null });
    await page.locator('.chart-list').waitFor();
    const names = async () => (await page.locator('.chart-list .name').allTextContents()).slice(0, 5);
    expect(await names()).toEqual(['group4', 'step1', 'step0', 'group0', 'group1']);
    const ways = page.locator('.leaf > .way').allTextContents();
    expect(await ways).toEqual([expect.stringMatching(/^DONE\s+group5$/u)]);
    await page.getByRole('button', { name: 'group0', expanded: false }).click();
    expect(await names()).toEqual(['group4', 'step1', 'step0', 'group0', 'step0']);
  });

  it('explains that a chart is too large to draw', async () => {
    const states = Array.from({ length: 2_000 }, (_, number) => ({ ...leaf, id: `s${number}`, name: `s${number}` }));
    const page = await openChart({
      charts: { charts: [{ id: 'large', states, transitions: [] }], invoked: {} },
      root: 'large',
    });
    await page.getByText('The chart has 2000 states; up to 500 are drawn as a picture.').waitFor();
  });

  it.each(['light', 'dark'] as const)('has no accessibility violations: %s', async (scheme) => {
    const page = await openChart({ scheme });
    await callPage(page, 'mark', marksAfterFailing);
    expect(await axeViolations(page, '.chart-view')).toEqual([]);
  });
});
