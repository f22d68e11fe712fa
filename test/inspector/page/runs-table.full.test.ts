import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../../src/chain/journal/run-journal.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';
import { scriptedChain } from '../../support/run-chain.ts';

const journals = memoryJournals();
const tests = await inspectorTests('the table of runs', { journals });
const { open } = tests;

async function record(runId: string, request: string): Promise<void> {
  await scriptedChain({}, { journals, newId: () => runId }).chain.run({ request }).answer;
}

const stored = (runId: string) => readRun(journals.read(runId));

describe.skipIf(tests.areSkipped)('the table of runs', () => {
  it('says how to start a run while there is none, and shows new runs by itself', async () => {
    const { page } = await open('/');
    await page.getByText('No runs or actors yet').waitFor();
    await record('first', 'Where is the bridge?');
    await page.getByRole('link', { name: 'Where is the bridge?' }).waitFor();
    await record('second', 'Who built the tower?');
    await record('third', 'When was the tower built?');
    await page.getByText('3 runs').waitFor();
    const row = page.locator('tbody tr', { hasText: 'bridge' });
    const entries = await stored('first');
    const answer = entries.find((entry) => entry.type === 'answer');
    const end = entries.at(-1);
    if (answer?.type !== 'answer' || end?.type !== 'end') throw new Error('the run has ended');
    const { answerText, confidence } = answer.answer;
    expect(await row.locator('.title').innerText()).toBe(`Where is the bridge?\n${answerText}`);
    expect(await row.locator('.status').innerText()).toBe(`completed\nconfidence ${confidence.toFixed(2)}`);
    const { inputTokens, outputTokens } = end.summary.usage;
    expect(await row.locator('.tokens').innerText()).toBe(`~${(inputTokens + outputTokens).toLocaleString('en-US')}`);
  });

  it('is searched and sorted, and the address keeps both, also over a reload', async () => {
    const { page } = await open('/');
    await page.getByRole('searchbox').fill('tower');
    await page.getByText('2 of 3 runs').waitFor();
    await page.getByRole('button', { name: 'Title' }).click();
    await page.waitForFunction(() => location.hash === '#/?q=tower&sort=title');
    const questions = () => page.locator('.run-link').allTextContents();
    expect(await questions()).toEqual(['When was the tower built?', 'Who built the tower?']);
    await page.reload();
    await page.getByText('2 of 3 runs').waitFor();
    expect(await questions()).toEqual(['When was the tower built?', 'Who built the tower?']);
    await page.getByRole('link', { name: 'When was the tower built?' }).click();
    await page.locator('main[data-run]').waitFor();
    await page.getByRole('link', { name: 'All runs and actors' }).click();
    await page.waitForFunction(() => location.hash === '#/?q=tower&sort=title');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByLabel('Sort by').selectOption('Reverse the order');
    await page.waitForFunction(() => location.hash === '#/?q=tower&sort=-title');
    await page.setViewportSize({ width: 1280, height: 800 });
    const columns = await page.locator('.runs thead').innerText();
    await page.getByRole('searchbox').fill('castle');
    await page.getByText('Nothing matches.').waitFor();
    expect(await page.locator('.runs thead').innerText()).toBe(columns);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByText('3 runs', { exact: true }).waitFor();
  });

  it('moves between the runs with the arrow keys at once, but not from a field', async () => {
    const { page } = await open('/?sort=title');
    await page.locator('.run-link').first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    const questions = await page.locator('.run-link').allTextContents();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(questions[0]);
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(questions[1]);
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
  });

  it('lists only the keys that work in the table', async () => {
    const { page } = await open('/');
    await page.locator('.run-link').first().waitFor();
    await page.keyboard.press('?');
    const sections = page.locator('dialog section');
    await sections.first().waitFor();
    expect(await sections.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
      'List',
      'Page',
    ]);
    expect(await page.locator('dialog section[aria-label=Page] kbd').allTextContents()).toEqual(['?']);
  });

  it('goes back to the list and to a comparison, also if the address began without a hash', async () => {
    const { page } = await open();
    const list = page.getByRole('table', { name: 'Runs' });
    await page.locator('.run-link').first().click();
    await page.locator('main[data-run]').waitFor();
    await page.goBack();
    await list.waitFor();
    await page.reload();
    for (const at of [0, 1]) await page.locator('tbody input[type=checkbox]').nth(at).check();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('link', { name: 'Open' }).first().click();
    await page.locator('main[data-run]').waitFor();
    await page.goBack();
    await page.locator('.compare-page .cause').waitFor();
    await page.goBack();
    await list.waitFor();
  });

  it('works from the keyboard: choose, check, compare, open, and go back', async () => {
    const { page } = await open('/?sort=title');
    await page.locator('.run-link').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.getByText('2 runs selected').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.locator('.compare-page .cause').waitFor();
    await page.goBack();
    await page.getByText('2 runs selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Compare' }).waitFor({ state: 'detached' });
    await page.locator('.run-link').last().focus();
    await page.keyboard.press('Enter');
    await page.locator('main[data-run]').waitFor();
    await page.goBack();
    await page.getByRole('table', { name: 'Runs' }).waitFor();
  });

  it('returns to the row that was opened, where it was scrolled to', async () => {
    for (const id of ['first', 'second', 'third'])
      if ((await stored(id).catch(() => [])).length === 0) await record(id, `Who built the ${id} tower?`);
    const { page } = await open('/?sort=title');
    await page.setViewportSize({ width: 1280, height: 260 });
    const last = page.locator('.run-link').last();
    const request = await last.innerText();
    await last.click();
    await page.getByRole('link', { name: 'All runs and actors' }).click();
    await page.waitForFunction(() => document.activeElement?.classList.contains('run-link'));
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(request);
    expect(await page.locator('.runs-grid').evaluate((grid) => grid.scrollTop)).toBeGreaterThan(0);
  });

  it('filters by the counts above it, which its address keeps', async () => {
    const { page } = await open('/?q=tower');
    const completed = page.getByRole('button', { name: '2 completed' });
    await completed.click();
    await page.waitForFunction(() => location.hash === '#/?q=tower&status=completed');
    expect(await completed.getAttribute('aria-pressed')).toBe('true');
    expect(await axeViolations(page, 'html')).toEqual([]);
    await page.reload();
    await page.getByText('2 of 3 runs').waitFor();
  });

  it('links a fork to the entry where it left its original', async () => {
    const { chain } = scriptedChain({}, { journals, newId: () => 'forked-run' });
    await (await chain.fork('first', { at: 30, set: { 'thresholds.confidence': 0.2 } })).answer;
    const { page } = await open('/');
    const rows = page.locator('tbody tr');
    expect((await page.getByRole('group', { name: 'Status' }).boundingBox())?.height).toBeLessThan(40);
    await rows.getByText('fork of first').click();
    await page.waitForFunction(() => location.hash.startsWith('#/run/first/30'));
    await journals.delete?.('forked-run');
  });

  it.each([
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 390 },
  ] as const)('passes the accessibility checks and fits: $theme, $width px', async (look) => {
    const { page } = await open('/', look);
    await page.locator('.run-link').first().waitFor();
    await page.locator('tbody input').first().check();
    expect(await axeViolations(page, 'html')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
  });

  it('downloads a run as one page, and deletes it after a confirmation', async () => {
    const { page } = await open('/');
    const row = page.locator('tbody tr', { hasText: 'bridge' });
    await row.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Download…' }).click();
    const form = page.getByRole('form', { name: 'Download' });
    await form.locator('button[aria-disabled=false]').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), form.getByRole('button').click()]);
    expect(download.suggestedFilename()).toBe('run-first.html');
    expect(await readFile(await download.path(), 'utf8')).toContain('Where is the bridge?');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('heading', { name: 'Delete 1 run?' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    // Its close event has also arrived.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await journals.list()).toHaveLength(3);
    await row.getByRole('link').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted 1 run.').waitFor();
    await row.waitFor({ state: 'detached' });
    expect((await journals.list()).map(({ id }) => id).toSorted()).toEqual(['second', 'third']);
  });
});
