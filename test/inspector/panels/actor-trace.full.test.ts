import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { exportRun } from '../../../src/inspection/export-run.ts';
import { inspectorTests, nextFrames } from '../../support/inspector/inspector-page.ts';

const counter = setup({
  types: { events: {} as { type: 'add' } },
  actors: { check: fromPromise(() => Promise.reject(new Error('no stock'))) },
}).createMachine({
  id: 'counter',
  version: '1',
  context: { count: 0 },
  initial: 'empty',
  states: {
    empty: { invoke: { src: 'check', onError: { actions: [] } }, on: { add: 'low' } },
    low: { on: { add: 'high' } },
    high: {
      on: {
        add: { target: 'low', actions: assign({ count: ({ context }) => (context as { count: number }).count + 1 }) },
      },
    },
  },
});

const journals = memoryJournals();
const host = createDurableMachine(counter, { journals, logger: () => {} });
await (await host.open('steps')).park();
await (await host.open('ended')).park();
for (let times = 0; times < 30; times += 1) for (const id of ['steps', 'ended']) await host.send(id, { type: 'add' });
await host.stop('ended');

const tests = await inspectorTests('the trace of an actor', { journals, hosts: [host] });

const isSelectedInSight = (page: Page) =>
  page.locator('.trace-area').evaluate((element) => {
    const { top = 0, bottom = 9_999 } = element.querySelector('[aria-selected=true]')?.getBoundingClientRect() ?? {};
    const box = element.getBoundingClientRect();
    return top >= box.top && bottom <= box.bottom;
  });

describe.skipIf(tests.areSkipped)('the trace of an actor', () => {
  it('keeps the selected step in sight when its area becomes smaller, until the user scrolls', async () => {
    const { page } = await tests.open('/run/steps/30', { height: 1000 });
    const area = page.locator('.trace-area');
    await page.locator('.chart-picture').waitFor();
    await expect.poll(() => isSelectedInSight(page)).toBe(true);
    await page.setViewportSize({ width: 1280, height: 760 });
    await expect.poll(() => isSelectedInSight(page)).toBe(true);
    await area.hover();
    await page.mouse.wheel(0, -5_000);
    await expect.poll(() => area.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 740 });
    await nextFrames(page);
    expect(await area.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
  });

  it('opens at the last step, also of an actor that has ended', async () => {
    const { page } = await tests.open('/run/ended', { height: 700 });
    await page.locator('.chart-picture').waitFor();
    await expect.poll(() => isSelectedInSight(page)).toBe(true);
    expect(await page.locator('.trace-row.selected').innerText()).toMatch(/^Stopped/u);
  });

  it('names the times of its steps, which a narrow trace does not show', async () => {
    const { page } = await tests.open('/run/steps');
    const title = page.locator('.trace-columns .time');
    await expect.poll(() => title.innerText()).toBe('Lasted');
    await page.setViewportSize({ width: 390, height: 844 });
    await title.waitFor({ state: 'hidden' });
  });

  it('zooms with the buttons around the selected step', async () => {
    const { page } = await tests.open('/run/steps');
    const selected = page.locator('.trace-row.selected');
    await selected.waitFor();
    for (let times = 0; times < 8; times += 1) await page.getByRole('button', { name: 'Zoom in' }).last().click();
    await expect.poll(() => page.locator('.trace-row .outside').count()).toBeGreaterThan(0);
    expect(await selected.locator('.outside').count()).toBe(0);
  });

  it('has the gap of the axis over the whole height of a row with two lines, and the time of a later day in full', async () => {
    const entries = await entriesOf(journals.read('steps'));
    const dayLater = (time: string) => new Date(Date.parse(time) + 90_000_000).toISOString();
    const later = entries.map((entry, seq) => {
      if (seq <= 20) return entry;
      const resumed = 'resumedAt' in entry ? { resumedAt: dayLater(entry.resumedAt) } : {};
      return { ...entry, ...resumed, atMs: entry.atMs + 90_000_000 };
    });
    const { html } = await exportRun(later, { hosts: [host] });
    const { page } = await tests.openFile('later.html', html, { width: 390 });
    const when = page.locator('.trace-row .when');
    await when.first().waitFor();
    const cut = await when.evaluateAll((all) =>
      all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent),
    );
    expect(cut).toEqual([]);
    expect(await when.first().innerText()).toMatch(/^\d\d:\d\d:\d\d\s?\.\d{3}$/u);
    expect(await when.last().innerText()).toMatch(/^\w+ \d+,\s\d\d:\d\d:\d\d$/u);
    await page.setViewportSize({ width: 1440, height: 900 });
    const row = page.locator('.trace-row:has(.result)').first();
    const boxOf = (part: string) => row.locator(part).first().boundingBox();
    const [whole, cutBox, line] = [await row.boundingBox(), await boxOf('.cut'), await boxOf('.result')];
    expect(cutBox?.height).toBe(whole?.height);
    expect((line?.y ?? 0) + (line?.height ?? 99)).toBeLessThanOrEqual((whole?.y ?? 0) + (whole?.height ?? 0));
  });
});
