import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
import { type InspectionServer, inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { browserFor, openInspector } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';
import { scriptedChain } from '../../support/run-chain.ts';

const browser = await browserFor('the table of runs');

const journals = memoryJournals();
async function record(runId: string, request: string): Promise<void> {
  await scriptedChain({}, { journals, newId: () => runId }).chain.run({ request }).answer;
}

let server: InspectionServer;
beforeAll(async () => {
  server = await inspectionServer({ journals });
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

const open = (hash: string, look: Parameters<typeof openInspector>[2] = {}) =>
  openInspector(browser as NonNullable<typeof browser>, server.url, { hash, ...look });

describe.skipIf(browser === null)('the table of runs', () => {
  it('says how to start a run while there is none, and shows new runs by itself', async () => {
    const { page, close } = await open('/');
    await page.getByText('No runs yet').waitFor();
    await record('first', 'Where is the bridge?');
    await page.getByRole('link', { name: 'Where is the bridge?' }).waitFor();
    await record('second', 'Who built the tower?');
    await record('third', 'When was the tower built?');
    await page.getByText('3 runs').waitFor();
    const cells = await page.locator('tbody tr', { hasText: 'bridge' }).locator('td').allTextContents();
    expect(cells.slice(1, 5)).toEqual(['completed', 'Where is the bridge?', 'confidence reached', '1']);
    await close();
  });

  it('is searched and sorted, and the address keeps both, also over a reload', async () => {
    const { page, close } = await open('/');
    await page.getByRole('searchbox').fill('tower');
    await page.getByText('2 of 3 runs').waitFor();
    await page.getByRole('button', { name: 'Question' }).click();
    await page.waitForFunction(() => location.hash === '#/?q=tower&sort=question');
    const questions = () => page.locator('tbody a').allTextContents();
    expect(await questions()).toEqual(['When was the tower built?', 'Who built the tower?']);
    await page.reload();
    await page.getByText('2 of 3 runs').waitFor();
    expect(await questions()).toEqual(['When was the tower built?', 'Who built the tower?']);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByText('3 runs', { exact: true }).waitFor();
    await close();
  });

  it('moves between the runs with the arrow keys at once, but not from a field', async () => {
    const { page, close } = await open('/?sort=question');
    await page.locator('tbody a').first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    const questions = await page.locator('tbody a').allTextContents();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(questions[0]);
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(questions[1]);
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
    await close();
  });

  it('lists only the keys that work in the table', async () => {
    const { page, close } = await open('/');
    await page.locator('tbody a').first().waitFor();
    await page.keyboard.press('?');
    const sections = page.locator('dialog section');
    await sections.first().waitFor();
    expect(await sections.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
      'Runs',
      'Page',
    ]);
    expect(await page.locator('dialog section[aria-label=Page] kbd').allTextContents()).toEqual(['?']);
    await close();
  });

  it('works from the keyboard: choose, check, compare, open, and go back', async () => {
    const { page, close } = await open('/?sort=question');
    await page.locator('tbody a').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.getByText('2 runs selected').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.locator('.compare-panel').waitFor();
    await page.goBack();
    await page.locator('tbody a').last().focus();
    await page.keyboard.press('Enter');
    await page.locator('main[data-run]').waitFor();
    await page.getByRole('button', { name: 'Runs', exact: true }).click();
    await page.getByRole('table', { name: 'Runs' }).waitFor();
    await close();
  });

  it('marks a fork with a link to the entry where it left its run, and shows and copies the id of a run', async () => {
    const { chain } = scriptedChain({}, { journals, newId: () => 'forked-run-of-the-first' });
    await (await chain.fork('first', { at: 30, set: { 'thresholds.confidence': 0.2 } })).answer;
    const { page, close } = await open('/');
    const row = page.locator('tbody tr', { hasText: 'fork of first' });
    expect(await row.locator('td').nth(-2).innerText()).toBe('forked-r');
    expect(await row.locator('td').nth(-2).getAttribute('title')).toBe('forked-run-of-the-first');
    await page.getByRole('combobox', { name: 'Forks' }).selectOption('Without forks');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Forks' }).selectOption('Forks only');
    await page.waitForFunction(() => location.hash === '#/?forks=only');
    await row.getByText('fork of first').click();
    await page.locator('main[data-run="first"]').waitFor();
    await page.locator('.position[data-at="30"]').waitFor({ state: 'attached' });
    await page.goBack();
    await row.getByRole('link').last().click();
    await page.getByText('Run forked-r').click();
    const details = page.locator('.run-details');
    await details.getByRole('link', { name: 'fork of first' }).waitFor();
    await page.evaluate(() => {
      const clipboard = { writeText: async (text: string) => void Object.assign(window, { written: text }) };
      Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
    });
    await details.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate(() => (window as unknown as { written: string }).written)).toBe(
      'forked-run-of-the-first',
    );
    expect(await axeViolations(page, 'html')).toEqual([]);
    await close();
    await journals.delete?.('forked-run-of-the-first');
  });

  it.each([
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 700 },
  ] as const)('passes the accessibility checks and fits: $theme, $width px', async (look) => {
    const { page, close } = await open('/', look);
    await page.locator('tbody a').first().waitFor();
    expect(await axeViolations(page, 'html')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
    await close();
  });

  it('downloads a run as one page, and deletes it after a confirmation', async () => {
    const { page, close } = await open('/');
    const row = page.locator('tbody tr', { hasText: 'bridge' });
    await row.hover();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      row.getByText('Export').click({ force: true }),
    ]);
    expect(download.suggestedFilename()).toBe('run-first.html');
    expect(await readFile(await download.path(), 'utf8')).toContain('Where is the bridge?');
    await row.hover();
    await row.getByText('Delete').click({ force: true });
    await page.getByRole('heading', { name: 'Delete 1 run?' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await journals.list()).toHaveLength(3);
    await row.getByRole('link').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted 1 run.').waitFor();
    await row.waitFor({ state: 'detached' });
    expect((await journals.list()).map(({ runId }) => runId).toSorted()).toEqual(['second', 'third']);
    await close();
  });
});
