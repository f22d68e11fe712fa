import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { storedEntry } from '../../../../src/chain/journal/stored-entries.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { inspectorTests, openRun } from '../../../support/inspector/inspector-page.ts';
import { axeViolations } from '../../../support/inspector/page-checks.ts';
import { writeJournal } from '../../../support/journal-files.ts';
import { scriptedChain } from '../../../support/run-chain.ts';

const journals = memoryJournals();
let made = 0;
const { chain } = scriptedChain({}, { journals, newId: () => (made++ === 0 ? 'whole' : `new-${made}`) });
const run = chain.run({ request: 'Is it so?' });
await run.answer;
const interrupted = scriptedChain({}, { newId: () => 'half' }).chain.run({ request: 'Is it so?' });
await interrupted.answer;
const end = interrupted.entries.findIndex(({ type }) => type === 'phase-end') + 1;
await writeJournal(journals, 'half', interrupted.entries.slice(0, end).map(storedEntry));
const other = scriptedChain({}, { newId: () => 'other' }).chain.run({ request: 'Is it so?' });
await other.answer;
await writeJournal(journals, 'other', other.entries.slice(0, end).map(storedEntry));

const refused = () => {
  throw new Error('connection refused');
};
await scriptedChain({ yield: refused }, { journals, newId: () => 'refused' }).chain.run({ request: 'Is it so?' })
  .answer;

const CODE = 'await createPostChain({ model, journals: fileJournals("journals") }).resume("other")';
const doubt = { doubt: 'it was started by another installation', actions: ['start mcp "npx some-server"'] };
const tests = await inspectorTests('acting on recorded runs', {
  journals,
  actions: {
    blocked: ({ runId }) => (runId === 'other' ? `Resume it in its program:\n${CODE}` : null),
    resume: async (runId, { confirmed }) => (confirmed === null ? doubt : chain.resume(runId)),
    fork: (runId, change) => chain.fork(runId, change),
  },
});
const { open } = tests;

describe.skipIf(tests.areSkipped)('the head of a recorded run', () => {
  it('forks at a step with a change and opens the new run beside the old one', async () => {
    const at = run.entries.find(({ type }) => type === 'decision')?.seq ?? 0;
    const { page } = await open(`/run/whole/${at}`);
    await page.getByRole('button', { name: 'Fork here' }).click();
    const form = page.getByRole('form', { name: 'Fork' });
    const fork = form.getByRole('button', { name: 'Start the fork' });
    expect(await fork.isDisabled()).toBe(true);
    await form.getByText('Change at least one value.').waitFor();
    await form.getByText('All values that can be changed').click();
    await form.getByLabel('loopRepeats').fill('-1');
    await fork.click();
    await form.getByText(/thresholds\.loopRepeats/u).waitFor();
    expect(await axeViolations(page, '.step-head')).toEqual([]);
    await form.getByLabel('loopRepeats').fill('');
    const thresholds = form.getByRole('group', { name: 'thresholds' });
    await thresholds.getByLabel('confidence', { exact: true }).fill('0.99');
    await fork.click();
    await page.waitForFunction(() => /^#\/compare\/whole\/new-/u.test(location.hash));
    const forkId = new URL(page.url()).hash.split('/').at(-1);
    expect((await journals.list()).map(({ id }) => id)).toContain(forkId);
    await page
      .getByText(/own, \d+ reused/u)
      .first()
      .waitFor();
    await openRun(page, forkId ?? '');
    await page
      .locator('.run-head')
      .getByText(/confidence to finish 0\.9\s+0\.99/u)
      .waitFor();
  });

  it('retries the failed call of a degraded run in a new run, as a call of its own', async () => {
    const { page } = await open('/run/refused');
    await page
      .locator('.figures')
      .getByText(/model calls, 1 failed/u)
      .waitFor();
    const button = page.getByRole('button', { name: /^Retry call \d+…/u });
    const name = (await button.innerText()).replace('…', '');
    await button.click();
    await page.getByRole('dialog', { name }).getByRole('button', { name }).click();
    await page.waitForFunction(() => /^#\/compare\/refused\/new-/u.test(location.hash));
    await openRun(page, new URL(page.url()).hash.split('/').at(-1) ?? '');
    await page.locator('.verdict').getByText('Completed').waitFor();
    await page.locator('.trace-row', { hasText: 'Yield' }).first().waitFor();
    expect(await page.locator('.trace-row', { hasText: 'Yield' }).first().innerText()).not.toContain('reused');
  });

  it('resumes an interrupted run after a confirmation, and follows it to its end', async () => {
    const { page } = await open('/run/half');
    await page.getByRole('heading', { name: 'Its process ended without an answer' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('start mcp "npx some-server"').waitFor();
    // The question is about this run only.
    await openRun(page, 'whole');
    await page.locator('.verdict').getByText('Completed').waitFor();
    expect(await page.getByText('start mcp').count()).toBe(0);
    await openRun(page, 'half');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Trust and continue' }).click();
    await page.locator('.verdict').getByText('Completed').waitFor();
    expect((await journals.list()).find(({ id: runId }) => runId === 'half')?.status).toBe('done');
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
  });

  it('does not offer to resume a run that this inspector cannot continue, and says what to do', async () => {
    const { page } = await open('/run/other');
    await page.getByText('Resume it in its program:').waitFor();
    await page.locator('pre').getByText(CODE, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy code' }).waitFor();
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    const [code, banner] = await Promise.all(['pre', '.banner'].map((name) => page.locator(name).boundingBox()));
    expect((code?.x ?? 0) + (code?.width ?? 0)).toBeLessThan((banner?.x ?? 0) + (banner?.width ?? 0));
  });

  it('says which patterns match nothing, and downloads a redacted file with two clicks', async () => {
    const { page } = await open('/run/whole');
    await page.getByRole('button', { name: 'Download…' }).click();
    const form = page.getByRole('form', { name: 'Download' });
    await form.getByRole('textbox').fill('is IT so\n/qwer+ty/');
    await form.getByText('"/qwer+ty/" matches nothing').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      form.getByRole('button', { name: 'Download' }).click(),
    ]);
    const html = await readFile(await file.path(), 'utf8');
    expect(html).toContain('[redacted]?');
    expect(html).not.toContain('Is it so');
    await form.getByText(/^Redacted in \d+ texts\.$/u).waitFor();
    expect(await form.getByText('"is IT so" matches nothing').count()).toBe(0);
    await form.getByRole('textbox').fill('/(/');
    await form.getByText('is not a valid regular expression').waitFor();
  });

  it('compares a run with the closest one in one click', async () => {
    const { page } = await open('/run/whole');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('main', { name: 'Comparison' }).waitFor();
    expect(await page.evaluate(() => location.hash)).toMatch(/^#\/compare\/\S*whole/u);
  });

  it('says that a link names a place that the run does not have', async () => {
    const { page } = await open('/run/whole/999999');
    await page.getByText('The link names a place that this run does not have.').waitFor();
  });

  it('says what to do if the run does not exist', async () => {
    const { page } = await open('/run/nope');
    await page.getByRole('heading', { name: 'There is no run "nope".' }).waitFor();
    expect(await axeViolations(page, 'html')).toEqual([]);
    await page.getByRole('link', { name: 'Show all runs' }).click();
    await page.getByText('Is it so?').first().waitFor();
  });
});
