import { afterAll, describe, expect, it } from 'vitest';
import { coveragePage } from '../../../src/testing/coverage/coverage-page.ts';
import { NAUGHTY_STRINGS } from '../../support/hostile-input.ts';
import {
  coverageFiles,
  cyclicCoverage,
  foreignCoverage,
  machineButton,
  missingButtons,
  missingItems,
  ownCoverage,
} from '../../support/inspector/coverage-page.ts';
import { browserFor } from '../../support/inspector/inspector-page.ts';
import { tooWideElements } from '../../support/inspector/page-checks.ts';

const browser = await browserFor('the page of coverage with hostile data');
const files = await coverageFiles(browser);
const own = await coveragePage({ title: 'One run', machines: await ownCoverage() });
const xstatePatterns = await coveragePage({ title: 'One run', machines: foreignCoverage() });

afterAll(async () => {
  await browser?.close();
  await files.close();
});

const data = /(?<=<script type="application\/json" id="coverage">)[^<]*/u;
type Parts = Record<string, unknown>;

/** Opens the page with other data. */
function changed(html: string, change: (parts: Parts) => unknown): string {
  const parts = JSON.parse(data.exec(html)?.[0] ?? '') as Parts;
  return html.replace(data, () => JSON.stringify(change(parts)).replaceAll('<', '\\u003c'));
}

describe.skipIf(browser === null)('the coverage page with hostile input', () => {
  it.each(Object.entries(NAUGHTY_STRINGS))(
    'shows names of machines, states and guards as text: %s',
    async (_, texts) => {
      const machines = texts.slice(0, 4).map((text) => cyclicCoverage(text, texts));
      const watched = await files.open(machines, { width: 700 }, texts.join(' '));
      const { page, requests, url } = watched;
      await page.locator('.chart-picture, .chart-rows').first().waitFor();
      for (const button of await missingButtons(page).all()) if (await button.isEnabled()) await button.click();
      expect(await page.locator('.selection-note').count()).toBe(1);
      for (const button of await page.locator('.coverage-table button').all()) {
        await button.focus();
        await page.keyboard.press('Enter');
        await page.locator('.chart-picture').waitFor();
      }
      expect(await page.evaluate(() => window.pwned)).toBeUndefined();
      expect(await page.evaluate(tooWideElements)).toEqual([]);
      expect(await page.locator('main a, main img, main iframe, main link, main meta, header style').count()).toBe(0);
      expect(await page.locator('body').innerText()).not.toMatch(/[\p{Bidi_Control}]/u);
      expect(requests).toEqual([url]);
      await watched.close();
    },
  );

  it('explains in one sentence why it shows nothing', async () => {
    const wrong: readonly (readonly [html: string, part: RegExp])[] = [
      [own.slice(0, own.indexOf('id="coverage"') + 20_000), /cannot be read/u],
      [own.slice(0, own.indexOf('<div id="page">')), /cannot be read/u],
      [own.replace(data, ''), /cannot be read/u],
      [own.replace(data, 'null'), /cannot be read/u],
      [own.replace(data, '[1, 2]'), /expected 1; received none\./u],
      [changed(own, (parts) => ({ ...parts, version: '2\u202e1' })), /expected 1; received "2‹U\+202E›1"\./u],
      [changed(own, ({ title: _, ...parts }) => parts), /is incomplete/u],
      [changed(own, (parts) => ({ ...parts, machines: { length: 3 } })), /is incomplete/u],
      [changed(own, (parts) => ({ ...parts, machines: [{ machine: 7 }] })), /^The coverage could not be rendered/u],
    ];
    for (const [html, sentence] of wrong) {
      const { page, close } = await files.openHtml(html);
      expect(await page.getByRole('alert').textContent()).toMatch(sentence);
      await close();
    }
  });

  it('shows what is valid when machines, charts, and drawings do not match', async () => {
    const odd: readonly ((parts: Parts) => unknown)[] = [
      (parts) => ({ ...parts, machines: [] }),
      (parts) => ({ ...parts, charts: [] }),
      (parts) => ({ ...parts, machines: (parts['machines'] as object[]).flatMap((one) => [one, one]) }),
      (parts) => ({
        ...parts,
        machines: (parts['machines'] as { items: object[] }[]).map((one) => ({
          ...one,
          items: one.items.map((item, index) => ({ ...item, key: `transition 9${index}`, times: index % 2 })),
        })),
      }),
    ];
    for (const change of odd) {
      const { page, close } = await files.openHtml(changed(xstatePatterns, change));
      await page.getByRole('heading', { name: 'Chart coverage' }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(((await page.locator('main').textContent()) ?? '').length).toBeGreaterThan(10);
      await close();
    }
  });

  it('shows rows if the file has no drawings, and the rest of the page if they were changed', async () => {
    const without = await files.openHtml(changed(xstatePatterns, (parts) => ({ ...parts, layout: null })));
    await without.page.getByText('This file has no drawing of this chart.').waitFor();
    expect(await without.page.locator('.chart-rows li').count()).toBe(6);
    await without.close();
    const layout = { drawings: { checkout: { chartId: 'checkout', levels: { checkout: {} } } }, problem: null };
    const { page, close } = await files.openHtml(changed(xstatePatterns, (parts) => ({ ...parts, layout })));
    expect(await page.getByRole('alert').textContent()).toMatch(/^The chart could not be rendered/u);
    expect(await missingButtons(page).count()).toBeGreaterThan(0);
    await close();
  });

  it('shows rows with an explanation for a chart that is too large, and finds items in them', async () => {
    const large = cyclicCoverage(
      'large',
      Array.from({ length: 600 }, (_, number) => `state${number}`),
    );
    const watched = await files.open([large, cyclicCoverage('small', ['one', 'two'])]);
    const { page } = watched;
    await page.getByText('The chart has 601 states; up to 500 are drawn as a picture.').waitFor();
    expect(await page.locator('.chart-rows li').count()).toBe(600);
    expect(await missingButtons(page).count()).toBeLessThan(missingItems(large).length);
    await page.getByRole('button', { name: 'Show all 599' }).click();
    await missingButtons(page).getByText('state580', { exact: true }).click();
    const row = page.locator('.chart-rows li.selected');
    expect(await row.textContent()).toContain('state580');
    expect(await row.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await machineButton(page, 'small').click();
    await page.getByRole('group', { name: 'Statechart small.' }).waitFor();
    await watched.close();
  });

  it('keeps the chart visible beside a table of many machines', async () => {
    const machines = Array.from({ length: 40 }, (_, number) => cyclicCoverage(`machine${number}`, ['one', 'two']));
    const watched = await files.open(machines);
    const { page } = watched;
    await machineButton(page, 'machine39').click();
    await page.getByRole('group', { name: 'Statechart machine39.' }).waitFor();
    const { height } = (await page.locator('.coverage-chart').boundingBox()) ?? { height: 0 };
    expect(height).toBeGreaterThan(350);
    await watched.close();
  });
});
