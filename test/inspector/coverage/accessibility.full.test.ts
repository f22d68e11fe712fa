import { afterAll, describe, expect, it } from 'vitest';
import {
  coverageFiles,
  foreignCoverage,
  machineButton,
  missingButtons,
  ownCoverage,
} from '../../support/inspector/coverage-page.ts';
import { browserFor, nextFrames } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';

const browser = await browserFor('whether the page of coverage can be used by everybody');
const files = await coverageFiles(browser);
const own = await ownCoverage();
const machines = foreignCoverage();

afterAll(async () => {
  await browser?.close();
  await files.close();
});

describe.skipIf(browser === null)('the coverage page', () => {
  it.each([
    { theme: 'light', width: 1280 },
    { theme: 'light', width: 700 },
    { theme: 'dark', width: 1280 },
    { theme: 'dark', width: 700 },
  ] as const)('passes the accessibility checks and fits: $theme, $width px', async (look) => {
    const faults: string[] = [];
    for (const [whose, all] of Object.entries({ own, xstatePatterns: machines })) {
      const watched = await files.open(all, look);
      const { page } = watched;
      await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: look.theme });
      const check = async (where: string, part = 'html'): Promise<void> => {
        await nextFrames(page);
        for (const fault of await axeViolations(page, part)) faults.push(`${whose}, ${where}: ${fault}`);
        for (const fault of await page.evaluate(tooWideElements)) faults.push(`${whose}, ${where}: ${fault}`);
      };
      await check('at first', whose === 'own' ? '.coverage-header, .coverage-table, .missing' : 'html');
      await missingButtons(page).last().click();
      await check('with something chosen', '.missing, .selection-note');
      await machineButton(page, all[1]?.machine ?? '').click();
      await check('another machine');
      await watched.close();
    }
    expect(faults).toEqual([]);
  });
});
