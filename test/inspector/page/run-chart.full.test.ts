import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InspectionServer, inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { failingRun } from '../../support/inspector/inspected-runs.ts';
import { browserFor, type InspectorPage, nextFrames, openInspector } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';

const browser = await browserFor('the chart of a run');
const run = await failingRun();

let server: InspectionServer;
let inspector: InspectorPage;
beforeAll(async () => {
  if (browser === null) return;
  server = await inspectionServer();
  server.watch(run);
  inspector = await openInspector(browser, server.url, { hash: `/run/${run.id}` });
  await inspector.page.locator('.trace-row').first().waitFor();
});
afterAll(async () => {
  if (browser === null) return;
  await inspector.close();
  await browser.close();
  await server.close();
});

const current = () => inspector.page.locator('.step-head h2').textContent();
const select = (row: string) =>
  inspector.page
    .locator('.trace-row', { hasText: new RegExp(`^${row}`, 'u') })
    .first()
    .click();

describe.skipIf(browser === null)('the chart of a run', () => {
  it('opens the whole chart with labels of at least 11 px at 1280 × 800, and a part of it on a narrow page', async () => {
    const { page } = inspector;
    const area = page.locator('.chart-scroll');
    const smallest = () =>
      page.locator('.chart-picture').evaluate((picture) => 12 * ((picture as SVGSVGElement).getScreenCTM()?.a ?? 0));
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.locator('.chart-picture').waitFor();
    expect(await area.evaluate((one) => one.scrollHeight <= one.clientHeight)).toBe(true);
    const opened = await smallest();
    expect(opened).toBeGreaterThanOrEqual(11);
    await page.locator('.chart-picture [data-state=synthesizing]').click();
    await page.locator('.selection-note').waitFor();
    await nextFrames(page);
    expect(await smallest()).toBe(opened);
    await page.locator('.selection-note').getByRole('button', { name: 'Close' }).click();
    await page.setViewportSize({ width: 700, height: 600 });
    await page.getByRole('button', { name: 'Whole chart' }).click();
    expect(await area.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    await page.getByRole('button', { name: 'Readable size' }).click();
    expect(await smallest()).toBeGreaterThanOrEqual(10.99);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.keyboard.press('c');
  });

  it('is a list of states on a phone, each with the ways that were taken out of it and its step', async () => {
    const { page } = inspector;
    await select('Action');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.keyboard.press('c');
    const stateOf = (name: string) => page.locator('.chart-list button[aria-pressed]', { hasText: name });
    await stateOf('experience').waitFor();
    const taken = run.entries.filter(
      (entry) => entry.type === 'transition' && entry.machine === 'postChain' && entry.target.includes('intention'),
    ).length;
    const item = stateOf('experience').locator('..');
    expect(await item.locator('.way').allInnerTexts()).toContainEqual(
      expect.stringMatching(new RegExp(`intention: succeeded ×${taken}$`, 'u')),
    );
    await stateOf('experience').click();
    expect(await stateOf('experience').getAttribute('aria-pressed')).toBe('true');
    expect(await axeViolations(page, '.chart-area')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
    // Nothing but the page itself scrolls.
    const scrolling = await page
      .locator('main, main *')
      .evaluateAll((all) =>
        all
          .filter((one) => one.scrollHeight > one.clientHeight && /auto|scroll/u.test(getComputedStyle(one).overflowY))
          .map(({ className }) => className),
      );
    expect(scrolling).toEqual([expect.stringMatching(/^page run/u)]);
    await page.getByRole('button', { name: 'Show the step' }).click();
    await page.waitForFunction(() => document.activeElement?.closest('.step-head') !== null);
    expect(await current()).toMatch(/^Experience/u);
    // The title and the status stay at the top.
    expect(await page.locator('.page-header .where').innerText()).toMatch(/\n.*(?:degraded|completed)/u);
    expect((await page.locator('.page-header').boundingBox())?.y).toBe(0);
    await page.getByRole('button', { name: 'Back to the chart' }).click();
    await page.waitForFunction(() => document.activeElement?.closest('.chart-list') !== null);
    await page.keyboard.press('c');
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('opens the chart with c, which shows the same step and fits the width of its area', async () => {
    const { page } = inspector;
    await select('Intention');
    await page.keyboard.press('c');
    await page.locator('.chart-picture').waitFor();
    expect(await page.locator('.trace-area').count()).toBe(0);
    expect(await page.locator('.chart-picture .leaf > .name').allTextContents()).toEqual(['intention']);
    const isWhole = await page.locator('.chart-scroll').evaluate((area) => area.scrollWidth <= area.clientWidth);
    expect(isWhole).toBe(true);
    await page.locator('.chart-picture [data-state=action]').click();
    await nextFrames(page);
    expect(await current()).toMatch(/^Action/u);
    expect(await page.locator('.chart-picture .leaf > .name').allTextContents()).toEqual(['action']);
    expect(await axeViolations(page, '.chart-area, .view-switch')).toEqual([]);
    await page.keyboard.press('c');
    await page.locator('.trace-area').waitFor();
  });
});
