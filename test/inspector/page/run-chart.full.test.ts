import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { failingRun } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, nextFrames } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';

const tests = await inspectorTests('the chart of a run');
const run = await failingRun();
tests.server.watch(run);

async function open(size: { readonly width: number; readonly height: number }): Promise<Page> {
  const { page } = await tests.open(`/run/${run.id}`, size);
  await page.locator('.trace-row').first().waitFor();
  return page;
}

const titleOf = (page: Page) => page.locator('.step-head h2').textContent();

const smallestText = (page: Page) =>
  page.locator('.chart-picture').evaluate((picture) => 12 * ((picture as SVGSVGElement).getScreenCTM()?.a ?? 0));

describe.skipIf(tests.areSkipped)('the chart of a run', () => {
  it('opens the whole chart with labels of at least 11 px at 1280 × 800, and a part of it on a narrow page', async () => {
    const page = await open({ width: 1280, height: 800 });
    const area = page.locator('.chart-scroll');
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.locator('.chart-picture').waitFor();
    expect(await area.evaluate((one) => one.scrollHeight <= one.clientHeight)).toBe(true);
    const opened = await smallestText(page);
    expect(opened).toBeGreaterThanOrEqual(11);
    await page.locator('.chart-picture [data-state=synthesizing]').click();
    await page.locator('.selection-note').waitFor();
    await nextFrames(page);
    expect(await smallestText(page)).toBe(opened);
    await page.locator('.selection-note').getByRole('button', { name: 'Close' }).click();
    await page.setViewportSize({ width: 700, height: 600 });
    await page.getByRole('button', { name: 'Whole chart' }).click();
    expect(await area.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  });

  it('has the button of the trace beside it, not over it', async () => {
    const page = await open({ width: 1280, height: 800 });
    await page.keyboard.press('c');
    const button = await page.getByRole('button', { name: 'Trace', exact: true }).boundingBox();
    const chart = await page.locator('.chart-scroll').boundingBox();
    expect(button?.x).toBeGreaterThanOrEqual((chart?.x ?? 0) + (chart?.width ?? 9_999));
  });

  it('is a list of states on a phone, each with the ways that were taken out of it and its step', async () => {
    const page = await open({ width: 390, height: 844 });
    await page.keyboard.press('c');
    const stateOf = (name: string) => page.locator('.chart-list button[aria-pressed]', { hasText: name });
    await stateOf('experience').waitFor();
    const taken = run.entries.filter(
      (entry) => entry.type === 'transition' && entry.machine === 'postChain' && entry.target.includes('intention'),
    ).length;
    const item = stateOf('experience').locator('..');
    expect(await item.locator('.way').allInnerTexts()).toContainEqual(
      expect.stringMatching(new RegExp(`^succeeded ×${taken}\\s+intention$`, 'u')),
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
    expect(await titleOf(page)).toMatch(/^Experience/u);
    // The title and the status stay at the top.
    expect(await page.locator('.page-header .where').innerText()).toMatch(/\n.*(?:degraded|completed)/u);
    expect((await page.locator('.page-header').boundingBox())?.y).toBe(0);
    await page.getByRole('button', { name: 'Back to the chart' }).click();
    await page.waitForFunction(() => document.activeElement?.closest('.chart-list') !== null);
  });

  it('opens the chart with c, which shows the same step and fits the width of its area', async () => {
    const page = await open({ width: 1280, height: 720 });
    await page
      .locator('.trace-row', { hasText: /^Intention/u })
      .first()
      .click();
    await page.keyboard.press('c');
    await page.locator('.chart-picture').waitFor();
    expect(await page.locator('.trace-area').count()).toBe(0);
    expect(await page.locator('.chart-picture .leaf > .name').allTextContents()).toEqual(['intention']);
    const isWhole = await page.locator('.chart-scroll').evaluate((area) => area.scrollWidth <= area.clientWidth);
    expect(isWhole).toBe(true);
    await page.locator('.chart-picture [data-state=action]').click();
    await nextFrames(page);
    expect(await titleOf(page)).toMatch(/^Action/u);
    expect(await page.locator('.chart-picture .leaf > .name').allTextContents()).toEqual(['action']);
    expect(await axeViolations(page, '.chart-area, .view-switch')).toEqual([]);
    await page.keyboard.press('c');
    await page.locator('.trace-area').waitFor();
  });
});
