import type { Page } from 'playwright-core';
import { build } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { contextOf, undo } from '../../../../machines/policies/context.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import { stateAt } from '../../../../src/chain/journal/state-at.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { exportRun } from '../../../../src/inspection/export-run.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { contextRun, filePage, HOSTILE_REPLY, LONG_MESSAGE } from '../../../support/inspector/inspected-runs.ts';
import { pageTests } from '../../../support/inspector/test-page.ts';
import { listOperations } from '../../../support/run-chain.ts';

const { areSkipped, folder, newPage } = await pageTests('the context panel');
const entries = await contextRun();
/** A run whose states are unknown, because another version of the chart recorded it. */
const stateless = entries.map((entry) =>
  entry.type === 'run-start' ? { ...entry, chart: { ...entry.chart, digest: '00000000' } } : entry,
);
const asked = entries.find(({ type }) => type === 'consent-asked')?.seq ?? 0;
const last = entries.length - 1;

/** The start of a run with ten thousand messages of two thousand characters. */
const manyMessages = entries.slice(0, 2).map((entry) => {
  if (entry.type !== 'run-start') return entry;
  const [message] = entry.messages;
  if (message === undefined) throw new Error('it has no messages');
  const messages = Array.from({ length: 10_000 }, (_, at) => ({
    ...message,
    id: `h${at}`,
    content: `${at} ${LONG_MESSAGE}`,
  }));
  return { ...entry, messages };
});

beforeAll(async () => {
  if (!areSkipped) await build({ configFile: 'inspector/vite.config.ts', mode: 'file', logLevel: 'error' });
});

async function open(at: number, run: readonly JournalEntry[] = entries): Promise<Page> {
  const page = await newPage();
  await page.goto(`${filePage(run, folder)}#/run/run-1/${at}?panel=context`);
  await page.getByRole('button', { name: /^Messages/ }).click();
  return page;
}

const pruneOf = (id: string) => {
  const found = listOperations(entries).find(
    ({ operation }) => operation.operation === 'PRUNE' && operation.target === id,
  );
  if (found === undefined) throw new Error(`${id} was not pruned`);
  return found;
};
const messagesOf = (page: Page) => page.getByRole('list', { name: 'Messages' }).locator('> li');

describe.skipIf(areSkipped)('the context panel', () => {
  it('lists the messages of the state at the cursor, and no later one', async () => {
    const page = await open(asked);
    const state = stateAt(entries, asked);
    const ids = await messagesOf(page).evaluateAll((all) => all.map((item) => item.getAttribute('data-message')));
    expect(ids).toEqual(state?.messages.map(({ id }) => id));
    expect(await page.locator('.context-head').textContent()).toContain('from the state of the chart');
  });

  it('names the files of a message, whose bytes are not in the page', async () => {
    const model = scriptedModel({}, { otherwise: replies, accepts: ['image/*'] });
    const request = [{ type: 'image', image: 'iVBORw0KGgo=', filename: 'photo.png' }] as const;
    const run = createPostChain({ model, newId: () => 'run-1' }).run({ request });
    await run.answer;
    const page = await open(run.journal.length - 1, run.journal);
    expect(await page.locator('[data-message="request"] .ties').textContent()).toContain('photo.png (image/png, 8 B)');
    expect((await exportRun(run.journal)).html).not.toContain('iVBORw0KGgo=');
  });

  it('keeps pruned messages in place, struck through, with the reason', async () => {
    const page = await open(last);
    const gone = page.locator('[data-message="s1.m1"]');
    expect(await gone.locator('s').textContent()).toContain('It may be so');
    const { operation, step } = pruneOf('s1.m1');
    expect(operation.reason).toMatch(/^relevance 0\.\d+ is below 0\.45$/);
    expect(await gone.locator('.trail').innerText()).toContain(
      `pruned by understanding in step ${step}: ${operation.reason}`,
    );
    await page.getByRole('combobox', { name: 'Show' }).selectOption('current');
    expect(await messagesOf(page).count()).toBe(stateAt(entries, last)?.messages.length);
  });

  it('shows a summary with the original and the consent of the user', async () => {
    const page = await open(last);
    const item = page.locator('[data-message="earlier.h1"]');
    expect(await item.textContent()).toContain('consent: summarize');
    await item.locator('.trail > summary').click();
    await item.getByText(/^text before:/).click();
    await item.getByRole('button', { name: 'show all 1,904 characters' }).click();
    expect(await item.locator('.trail').textContent()).toContain(LONG_MESSAGE);
  });

  it('shows model text literally, with invisible characters made visible', async () => {
    const page = await open(last);
    const text = await page.locator('[data-message="s1.m1"] s').textContent();
    expect(text).toContain(HOSTILE_REPLY.replace('\u202E', '‹U+202E›').slice(0, 60));
    expect(await page.locator('.panel img').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  it('previews an undo that matches the fold of the journal', async () => {
    const page = await open(last);
    await page.getByRole('button', { name: /^Operations/ }).click();
    const history = contextHistory(entries);
    const operation = history.operations.find(({ operation: kind, target }) => kind === 'PRUNE' && target === 's1.m1');
    await page.locator('.operations > li', { hasText: 'pruned s1.m1' }).getByRole('checkbox').check();
    const preview = page.getByRole('region', { name: 'Undo preview' });
    const without = contextOf(undo(history, operation?.id ?? ''));
    const chars = without.reduce((sum, { content }) => sum + content.length, 0);
    expect(await preview.getByRole('status').textContent()).toContain(
      `without: ${without.length} messages, ${chars} characters`,
    );
    expect(await preview.getByRole('listitem').textContent()).toMatch(/^restored s1\.m1/);
    await preview.getByRole('button', { name: 'Clear the selection' }).click();
    expect(await preview.count()).toBe(0);
  });

  it('names who gave consent, and lists nothing after the cursor', async () => {
    const page = await open(asked);
    await page.getByRole('button', { name: /^Operations/ }).click();
    expect(await page.getByRole('list', { name: 'Consent' }).textContent()).toContain('not resolved yet');
    expect(await page.locator('#panel').getByText('summarized').count()).toBe(0);
  });

  it('folds the operations to the same messages if no states are recorded', async () => {
    const page = await open(stateless.length - 1, stateless);
    expect(await page.locator('.context-head').textContent()).toContain('derived from the operations so far');
    const ids = await messagesOf(page).evaluateAll((all) => all.map((item) => item.getAttribute('data-message')));
    expect(ids).toEqual(expect.arrayContaining(contextOf(contextHistory(stateless)).map(({ id }) => id)));
  });

  it('shows the size of the context and run relative to their limits, up to the cursor', async () => {
    const page = await open(asked);
    await page.getByRole('button', { name: 'Budget' }).click();
    const state = stateAt(entries, asked + 1);
    const run = page.getByRole('region', { name: 'The run' });
    expect(await run.textContent()).toContain(`${state?.usage.modelCalls} of 100 calls`);
    expect(await page.getByRole('region', { name: 'The context' }).textContent()).toContain('of 89,600 tokens');
    expect(await page.locator('.panel').textContent()).toContain('Understanding has not measured the context yet.');
  });

  it('compares with a pinned entry: messages by id, texts by word, the rest by path', async () => {
    const page = await open(last);
    await page.keyboard.press('m');
    await page.getByRole('button', { name: `Difference from entry ${last}` }).click();
    const messages = page.getByRole('region', { name: 'Changed messages' });
    expect(await messages.getByRole('status').textContent()).toBe('0 added, 0 removed, 0 changed');
    await page.getByRole('button', { name: /^Operations/ }).click();
    await page.getByRole('list', { name: 'Consent' }).getByRole('button').click();
    await page.getByRole('button', { name: /^Difference from/ }).click();
    const [before, after] = [stateAt(entries, last), stateAt(entries, asked)];
    const [old, now] = [before, after].map((state) => new Set(state?.messages.map(({ id }) => id)));
    const added = [...(now ?? [])].filter((id) => !old?.has(id)).length;
    const removed = [...(old ?? [])].filter((id) => !now?.has(id)).length;
    expect(await messages.getByRole('status').textContent()).toBe(`${added} added, ${removed} removed, 1 changed`);
    expect(await messages.locator('.changed ins').first().textContent()).toContain('The boat was late again.');
    expect(await page.locator('.fields').textContent()).toContain('recursion.cycle: 3 1');
  });

  it('offers no actions on a run in an exported file', async () => {
    const page = await open(asked);
    const act = page.getByRole('button', { name: 'Act', exact: true });
    expect(await act.isDisabled()).toBe(true);
    expect(await act.getAttribute('title')).toContain('Not available in an exported file.');
  });

  it('renders fifty of ten thousand messages per page', async () => {
    const page = await open(manyMessages.length - 1, manyMessages);
    expect(await messagesOf(page).last().getAttribute('data-message')).toBe('request');
    await page.getByRole('button', { name: 'First page' }).click();
    expect(await messagesOf(page).count()).toBe(50);
    expect(await page.getByRole('navigation', { name: 'Pages of messages' }).textContent()).toContain('of 10,001');
  });
});
