import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';

const order = setup({
  actors: { charge: fromPromise(() => Promise.reject(new Error('Card declined'))) },
}).createMachine({
  id: 'order',
  initial: 'open',
  on: { CANCEL: '.cancelled' },
  states: {
    open: { on: { ORDER: 'charging', HOLD: 'held' } },
    held: { on: { RESUME: 'open' } },
    charging: { invoke: { src: 'charge', onDone: 'paid', onError: 'declined' } },
    declined: {},
    paid: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

const step = (on: Record<string, string>) => ({ on });
const group = {
  initial: 's0',
  states: { s0: step({ NEXT: 's1' }), s1: step({ NEXT: 's2' }), s2: step({ END: '#groups.g1.s1' }), s3: {}, s4: {} },
};
const groups = setup({}).createMachine({
  id: 'groups',
  initial: 'g0',
  states: { g0: group, g1: group, g2: group, g3: group },
});

const journals = memoryJournals();
const host = createDurableMachine(order, { journals, logger: () => {} });
for (const id of ['order', 'new-order', 'stopped-order']) await (await host.open(id)).park();
for (const type of ['HOLD', 'RESUME', 'ORDER']) await host.send('order', { type } as never);

await host.stop('stopped-order');
const groupsHost = createDurableMachine(groups, { journals, logger: () => {} });
await (await groupsHost.open('groups')).park();
for (const type of ['NEXT', 'NEXT']) await groupsHost.send('groups', { type } as never);

const tests = await inspectorTests('the chart of an actor', { journals, hosts: [host, groupsHost] });

const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('data-state'));
const state = (page: Page, name: string) => page.locator(`.chart-picture [data-state="order.${name}"]`);

describe.skipIf(tests.areSkipped)('the chart of an actor', () => {
  it('has the focus in full size, and Escape returns it to the trace without losing the selected state, after it has closed the legend', async () => {
    const { page } = await tests.open('/run/order', { width: 1440, height: 900 });
    await state(page, 'held').click();
    await page.locator('.trace-list').focus();
    await page.keyboard.press('c');
    await page.locator('.trace-area').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('order.held');
    await page.getByRole('button', { name: 'Legend' }).click();
    await page.keyboard.press('Escape');
    await page.locator('.chart-legend').waitFor({ state: 'hidden' });
    expect(await page.locator('.trace-area').count()).toBe(0);
    await state(page, 'held').focus();
    await page.keyboard.press('Escape');
    await page.locator('.trace-list:focus').waitFor();
    expect(await state(page, 'held').getAttribute('aria-pressed')).toBe('true');
    await state(page, 'held').focus();
    await page.keyboard.press('Escape');
    await page.locator('.trace-list:focus').waitFor();
  });

  it('marks the steps that entered or left a selected state, and the state that a selected step entered', async () => {
    const { page } = await tests.open('/run/order', { width: 1440, height: 900 });
    await state(page, 'held').click();
    await page.locator('.trace-row.marked').first().waitFor();
    expect(await page.locator('.trace-row.marked .name').allTextContents()).toEqual(['HOLD', 'RESUME']);
    await page.locator('.trace-row.step', { hasText: 'RESUME' }).click();
    await page.locator('.trace-row.marked').first().waitFor({ state: 'detached' });
    const ringed = await page.locator('.chart-picture .ringed').evaluateAll((all) => all.map((one) => one.ariaLabel));
    expect(ringed).toEqual([expect.stringMatching(/^open/u)]);
  });

  it('lists transitions beside the chart, not over it, and keeps its size', async () => {
    const { page } = await tests.open('/run/order', { width: 1440, height: 900 });
    const scale = () => page.locator('.chart-picture').getAttribute('width');
    await state(page, 'open').waitFor();
    const before = await scale();
    await state(page, 'open').click();
    const note = await page.locator('.selection-note').boundingBox();
    const view = await page.locator('.chart-view').boundingBox();
    expect(note?.x).toBeGreaterThanOrEqual((view?.x ?? 0) + (view?.width ?? 9_999));
    expect(note?.height).toBe(view?.height);
    expect(await scale()).toBe(before);
  });

  it('lists transitions that are possible in any state, at the state that they lead to', async () => {
    const { page } = await tests.open('/run/order', { width: 1440, height: 900 });
    await state(page, 'cancelled').click();
    await page.locator('.selection-note', { hasText: /CANCEL any state\s+cancelled/u }).waitFor();
  });

  it('shows a failed state as failed when it is selected', async () => {
    const { page } = await tests.open('/run/order', { width: 1440, height: 900 });
    const stroke = () =>
      state(page, 'charging')
        .locator('.box')
        .evaluate((box) => getComputedStyle(box).stroke);
    await state(page, 'charging').waitFor();
    const before = await stroke();
    await state(page, 'charging').click();
    await page.locator('.chart-picture .selected').waitFor();
    await page.mouse.move(0, 0);
    expect(await stroke()).toBe(before);
    expect(before).toMatch(/rgb\(176, 35, 27\)/u);
  });

  it('takes the room that the rows of the trace and the head do not need', async () => {
    const { page } = await tests.open('/run/new-order', { width: 1440, height: 900 });
    await state(page, 'open').waitFor();
    const chart = await page.locator('.chart-area').boundingBox();
    const trace = await page.locator('.trace-area').boundingBox();
    expect(chart?.height).toBeGreaterThan(trace?.height ?? 999);
    const spare = await page.locator('.trace-area').evaluate((area) => {
      const rows = [...area.querySelectorAll('.trace-row')].map((row) => row.getBoundingClientRect().bottom);
      return area.getBoundingClientRect().bottom - Math.max(...rows);
    });
    expect(spare).toBeLessThan(40);
    const topOf = async (name: string) => (await page.locator(name).boundingBox())?.y ?? 0;
    expect(Math.abs((await topOf('.toolbar')) - (await topOf('.waits')))).toBeLessThan(8);
    expect(Math.abs((await topOf('.trace-head h2')) - (await topOf('.trace-columns')))).toBeLessThan(24);
  });

  it('has the same picture for all actors of a machine, however high its space is', async () => {
    const pictures: string[][] = [];
    for (const [id, height] of [
      ['order', 600],
      ['new-order', 1600],
    ] as const) {
      const { page } = await tests.open(`/run/${id}`, { width: 1440, height });
      await state(page, 'held').waitFor();
      const boxes = page.locator('.chart-picture .state > .box');
      pictures.push(
        await boxes.evaluateAll((all) => all.map((box) => ['x', 'y'].map((at) => box.getAttribute(at)).join())),
      );
    }
    expect(pictures[1]).toEqual(pictures[0]);
  });

  it('shows the group of the active state and the lines taken there when the actor moves on', async () => {
    const { page } = await tests.open('/run/groups', { width: 1440, height: 600 });
    const places = () =>
      page
        .locator('.chart-picture .state > .box')
        .evaluateAll((all) => all.map((box) => `${box.getAttribute('x')} ${box.getAttribute('y')}`));
    await page.locator('[data-state="groups.g0.s2"].leaf').waitFor();
    expect(await places()).toHaveLength(6);
    await groupsHost.send('groups', { type: 'END' });
    await page.locator('[data-state="groups.g1.s1"].leaf').waitFor();
    expect(await places()).toHaveLength(6);
    expect(await page.locator('.chart-picture .edge.taken').count()).toBe(1);
    await page.getByRole('button', { name: 'g0' }).click();
    const taken = page.locator('.chart-picture .edge.taken > text');
    expect(await taken.allTextContents()).toEqual(['NEXT ×1', 'NEXT ×1', 'END ×1']);
    await page.getByRole('button', { name: 'g1' }).click();
    await page.waitForFunction(() => {
      const [view, leaf] = ['.chart-scroll', '.chart-picture .leaf'].map((one) =>
        document.querySelector(one)?.getBoundingClientRect(),
      );
      return view && leaf && leaf.top >= view.top && leaf.bottom <= view.bottom && leaf.right <= view.right;
    });
  });

  it('shows the last state of a stopped actor as stopped, not as active', async () => {
    const fills: string[] = [];
    for (const id of ['new-order', 'stopped-order']) {
      const { page } = await tests.open(`/run/${id}`, { width: 1440, height: 900 });
      const box = page.locator('.chart-picture .leaf > .box');
      await box.waitFor();
      fills.push(await box.evaluate((one) => getComputedStyle(one).fill));
      const label = await page.locator('.chart-picture .leaf').getAttribute('aria-label');
      expect(label).toMatch(id === 'new-order' ? /, active/u : /, stopped here/u);
      await page
        .locator('.waits')
        .getByText(id === 'new-order' ? 'In open' : 'Stopped in open')
        .waitFor();
    }
    expect(new Set(fills).size).toBe(2);
  });

  it('shows no list while the picture is laid out', async () => {
    const { page } = await tests.open('/run/order', { width: 1440, height: 900 });
    await page.route('**/layout.js', () => {});
    await page.reload();
    await page.getByText('Drawing the chart…').waitFor();
    expect(await page.locator('.chart-list').count()).toBe(0);
  });

  it('opens as a picture in place of the trace on a phone, with the active state in view', async () => {
    const { page } = await tests.open('/run/order', { width: 390, height: 844 });
    await page.locator('.trace-row').first().waitFor();
    expect(await page.locator('.chart-area').count()).toBe(0);
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    expect(await page.locator('.trace-area').count()).toBe(0);
    const active = page.locator('.chart-picture .leaf');
    await active.waitFor();
    const [view, box] = [await page.locator('.chart-scroll').boundingBox(), await active.boundingBox()];
    expect(box?.x).toBeGreaterThanOrEqual(view?.x ?? 999);
    expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThanOrEqual((view?.x ?? 0) + (view?.width ?? 0));
    expect((box?.y ?? 999) + (box?.height ?? 0)).toBeLessThanOrEqual((view?.y ?? 0) + (view?.height ?? 0));
  });

  it('moves between steps with buttons below a chart in full size, on a phone and on a wide page', async () => {
    const { page } = await tests.open('/run/order', { width: 390, height: 844 });
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.locator('.chart-steps', { hasText: 'step 5 of 5' }).waitFor();
    expect(await page.getByRole('button', { name: 'Next step' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Previous step' }).click();
    await page.locator('.chart-steps', { hasText: 'step 4 of 5' }).waitFor();
    await page.locator('[data-state="order.charging"].leaf').waitFor();
    expect(await page.getByRole('button', { name: 'Back to the chart' }).count()).toBe(0);
    expect((await page.getByRole('button', { name: 'Zoom in' }).boundingBox())?.width).toBe(44);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Next step' }).click();
    await page.locator('.chart-steps', { hasText: 'step 5 of 5' }).waitFor();
  });
});
