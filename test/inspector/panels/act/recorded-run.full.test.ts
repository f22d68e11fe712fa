import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { type InspectionServer, inspectionServer } from '../../../../src/inspection/inspection-server.ts';
import { browserFor, openInspector, openRun } from '../../../support/inspector/inspector-page.ts';
import { axeViolations } from '../../../support/inspector/page-checks.ts';
import { scriptedChain } from '../../../support/run-chain.ts';

const browser = await browserFor('acting on recorded runs');

const journals = memoryJournals();
let made = 0;
const { chain, model } = scriptedChain({}, { journals, newId: () => (made++ === 0 ? 'whole' : `new-${made}`) });
const run = chain.run({ request: 'Is it so?' });
await run.answer;
const interrupted = scriptedChain({}, { newId: () => 'half' }).chain.run({ request: 'Is it so?' });
await interrupted.answer;
const writer = journals.create('half');
writer.write(interrupted.journal.slice(0, interrupted.journal.findIndex(({ type }) => type === 'phase-end') + 1));
writer.close();

let server: InspectionServer;
beforeAll(async () => {
  const doubt = { doubt: 'it was started by another installation', actions: ['start mcp "npx some-server"'] };
  server = await inspectionServer({
    journals,
    actions: {
      resume: async (runId, { confirmed }) => (confirmed === null ? doubt : chain.resume(runId)),
      fork: (runId, change) => chain.fork(runId, change),
    },
  });
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

const open = (hash: string) => openInspector(browser as NonNullable<typeof browser>, server.url, { hash });

describe.skipIf(browser === null)('Act on a recorded run', () => {
  it('forks at the cursor with a change and opens the new run beside the old one', async () => {
    const at = run.journal.find(({ type }) => type === 'decision')?.seq ?? 0;
    const { page, close } = await open(`/run/whole/${at}?panel=act`);
    await page.getByText('This run has ended').waitFor();
    const form = page.getByRole('form', { name: 'Fork' });
    const fork = form.getByRole('button', { name: `Fork at entry ${at}` });
    expect(await fork.isDisabled()).toBe(true);
    await form.getByText('Without a change, the fork would repeat this run.').waitFor();
    await form.getByLabel('Change 1').fill('thresholds.nothing');
    expect(await fork.isDisabled()).toBe(true);
    await form.getByLabel('Value 1').fill('0.99');
    await fork.click();
    await page.getByText('"thresholds.nothing" does not exist').waitFor();
    expect(await axeViolations(page, '.step-area')).toEqual([]);
    await form.getByLabel('Change 1').fill('thresholds.confidence');
    await fork.click();
    await page.locator('main[data-run^="new-"] .compare-panel').waitFor();
    await page.getByRole('heading', { name: 'Steps' }).waitFor();
    expect((await journals.list()).map(({ runId }) => runId)).toContain('new-2');
    await close();
  });

  it('resumes an interrupted run after a confirmation, and follows it to its end', async () => {
    const { page, close } = await open('/run/half?panel=act');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('start mcp "npx some-server"').waitFor();
    // The question is about this run only.
    await openRun(page, 'whole');
    await page.getByText('This run has ended').waitFor();
    expect(await page.getByText('start mcp').count()).toBe(0);
    await openRun(page, 'half');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Trust and continue' }).click();
    await page
      .locator('.page-header .pill')
      .getByText(/completed/u)
      .waitFor();
    expect((await journals.list()).find(({ runId }) => runId === 'half')?.status).toBe('completed');
    await page.getByText('This run has ended').waitFor();
    await close();
  });

  it('edits the prompt of the call at the cursor and runs that step again', async () => {
    const at = run.journal.findLast(({ type }) => type === 'prompt')?.seq ?? 0;
    const { page, close } = await open(`/run/whole/${at}?panel=act`);
    await page.getByRole('button', { name: 'Edit the prompt…' }).click();
    const prompt = page.getByRole('form', { name: 'Prompt' });
    const user = prompt.getByLabel('user');
    expect(await user.inputValue()).toContain('Is it so?');
    await user.fill('Is it really so?');
    const before = model.calls.length;
    await prompt.getByRole('button', { name: 'Run this step again' }).click();
    await page.locator('main[data-run^="new-"] .compare-panel').waitFor();
    expect(model.calls[before]?.turns.at(-1)).toEqual({ role: 'user', content: 'Is it really so?' });
    await close();
  });

  it('replays a run', async () => {
    const { page, close } = await open('/run/whole?panel=act');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page
      .getByText(`Identical: the charts of this version produce the same ${run.journal.length} entries.`)
      .waitFor();
    await close();
  });
});
