import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { threeRecordedRuns } from '../../support/inspector/inspected-runs.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';
import { buildTestPage, openRecordedRuns, pageTests } from '../../support/inspector/test-page.ts';

const tests = await pageTests('comparing runs in a page');
const runs = await threeRecordedRuns();

beforeAll(() => buildTestPage(tests));

const open = (width = 1280, held = runs): Promise<Page> => openRecordedRuns(tests, held, '?panel=compare', width);

async function compareWith(page: Page, runId: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Second run' }).selectOption(runId);
  await page.getByRole('heading', { name: 'First difference' }).waitFor();
}

const cursorOf = (page: Page): Promise<number | null> => page.evaluate(() => window.inspector.cursor.value);

const chosenIn = (page: Page) => page.evaluate(() => window.inspector.selectedRunId.value);

describe.skipIf(tests.areSkipped)('comparing runs in the page', () => {
  it('marks the guard at which a run and its fork diverge, and shows what the fork changed', async () => {
    const page = await open();
    await compareWith(page, 'run-1');
    const panel = page.locator('#panel');
    expect(await panel.getByText('B is a fork of A at entry').innerText()).toContain('thresholds.confidence');
    const parted = panel.locator('.candidates .diverges');
    expect(await parted.count()).toBe(1);
    expect(await parted.innerText()).toContain('confidence reached');
    expect(await parted.locator('mark').allInnerTexts()).toContain('0.1');
    expect(await panel.locator('.steps tr.first').count()).toBe(1);
  });

  it('folds equal steps, and unfolds them on request', async () => {
    const page = await open();
    await compareWith(page, 'run-1');
    const fold = page.getByRole('button', { name: /equal steps/ }).first();
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
    const before = await page.locator('.steps .step').count();
    await fold.focus();
    await page.keyboard.press('Enter');
    expect(await fold.getAttribute('aria-expanded')).toBe('true');
    const folded = Number.parseInt(await fold.innerText(), 10);
    await expect.poll(() => page.locator('.steps .step').count()).toBe(before + 2 * folded);
    expect(await page.getByRole('rowheader', { name: /^Cycle 1 · action/ }).count()).toBeGreaterThan(0);
  });

  it('moves between steps with the arrow keys, and moves the cursor to a step', async () => {
    const page = await open();
    await compareWith(page, 'run-1');
    await page
      .getByRole('button', { name: /equal steps/ })
      .first()
      .click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const title = await page.evaluate(() => document.activeElement?.getAttribute('title') ?? '');
    const seq = Number(/Entry (\d+) of A/u.exec(title)?.[1]);
    await page.keyboard.press('Enter');
    expect(await cursorOf(page)).toBe(seq);
    await expect.poll(() => page.locator('.steps [aria-current="step"]').getAttribute('title')).toBe(title);
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('title') ?? '')).toMatch(/of B/);
    await page.keyboard.press('Enter');
    expect(await chosenIn(page)).toBe('run-1');
  });

  it('explains that there is no other run', async () => {
    const page = await open(1280, runs.slice(0, 1));
    await page.getByText('There is only one run so far. Comparing takes two.').waitFor();
    expect(await page.getByRole('combobox', { name: 'Second run' }).count()).toBe(0);
  });

  it('does not offer actor systems of other programs for a run', async () => {
    const [run, fork, other] = runs;
    if (run === undefined || fork === undefined || other === undefined) throw new Error('there are three');
    const page = await open(1280, [run, fork, { ...other, run: { ...other.run, kind: 'system' } }]);
    const offered = page.getByRole('combobox', { name: 'Second run' }).getByRole('option');
    expect(await offered.evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))).toEqual([
      '',
      'run-1',
    ]);
  });

  it('passes the accessibility checks in both themes, and fits its panel', async () => {
    const title = 'What is asked may be long, and be so in every run. '.repeat(3);
    const long = runs.map((held) => ({ ...held, run: { ...held.run, title } }));
    for (const width of [1280, 700]) {
      const page = await open(width, long);
      await compareWith(page, 'run-2');
      await page
        .getByRole('button', { name: /equal step/ })
        .first()
        .click();
      for (const theme of ['light', 'dark']) {
        await page.getByRole('combobox', { name: 'Theme' }).selectOption(theme);
        expect(await axeViolations(page)).toEqual([]);
        if (process.env['SHOTS'])
          await page.screenshot({ path: `${process.env['SHOTS']}/compare-${width}-${theme}.png` });
      }
      const [inner, outer] = await page
        .locator('#panel')
        .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
      expect(inner).toBe(outer);
    }
  });
});

describe.skipIf(tests.areSkipped)('a test of a run, copied', () => {
  it('selects its text if there is no clipboard, and shows where the recording must be', async () => {
    const page = await open();
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
    });
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog', { name: 'Replay test of this run' });
    await dialog.waitFor();
    expect(await dialog.getByRole('textbox', { name: 'The test' }).inputValue()).toBe('// a test of run-0');
    expect(await page.evaluate(() => getSelection()?.toString())).toBe('// a test of run-0');
    expect(await dialog.innerText()).toMatch(/run\.jsonl[\s\S]*postchain replay run-0 --vitest run\.test\.ts/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Copy replay test');
  });

  it('is copied to the clipboard', async () => {
    const page = await open();
    await page.evaluate(() => {
      const written: string[] = [];
      Object.assign(window, { written });
      const clipboard = { writeText: async (text: string) => void written.push(text) };
      Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
    });
    await page.getByRole('button', { name: 'Copy replay test' }).click();
    await page.getByRole('dialog').getByText('Copied.').waitFor();
    expect(await page.evaluate(() => (window as unknown as { written: string[] }).written)).toEqual([
      '// a test of run-0',
    ]);
  });

  it('shows why there is no test', async () => {
    const page = await open();
    await page.evaluate(() => window.inspector.selectRun('run-2'));
    await page.getByRole('button', { name: 'Copy replay test' }).click();
    expect(await page.getByRole('dialog').getByRole('alert').innerText()).toBe('It cannot be replayed.');
  });
});
