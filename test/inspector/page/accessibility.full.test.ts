import { afterAll, describe, expect, it } from 'vitest';
import { failingRun, readmeRun, waitingRun } from '../../support/inspector/inspected-runs.ts';
import { inspectorTests, openRun, PANEL_NAMES, showPanel } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';

const tests = await inspectorTests('whether the page can be used by everybody');

const waiting = waitingRun();
const stumbled = await failingRun();
const { run: readme } = readmeRun();
await readme.answer;

for (const run of [readme, stumbled, waiting]) tests.server.watch(run);
afterAll(() => waiting.cancel());

describe.skipIf(tests.areSkipped)('the whole inspector page', () => {
  it.each([
    { theme: 'light', width: 1280 },
    { theme: 'light', width: 390 },
    { theme: 'dark', width: 1280 },
    { theme: 'dark', width: 700 },
  ] as const)(
    'passes the accessibility checks and fits in every panel: $theme, $width px',
    async ({ theme, width }) => {
      const { page } = await tests.open('', { theme, width });
      await page.locator('.trace-row').first().waitFor();
      const faults: string[] = [];
      const look = async (where: string): Promise<void> => {
        for (const fault of await axeViolations(page, 'html')) faults.push(`${where}: ${fault}`);
        for (const fault of await page.evaluate(tooWideElements)) faults.push(`${where}: ${fault}`);
      };
      for (const name of PANEL_NAMES) {
        await showPanel(page, name);
        await look(name);
      }
      await page.keyboard.press('c');
      await page.locator('.chart-picture, .chart-list').waitFor();
      await look('the chart');
      await page.keyboard.press('c');
      await openRun(page, stumbled.id);
      for (const name of PANEL_NAMES) {
        await showPanel(page, name);
        await look(`${name} of another run`);
      }
      await page.getByRole('button', { name: '?', exact: true }).click();
      await look('the help sheet');
      expect(faults).toEqual([]);
    },
  );
});
