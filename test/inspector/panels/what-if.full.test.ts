import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
import { type InspectionServer, inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { browserFor, openInspector } from '../../support/inspector/inspector-page.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';
import { scriptedChain, unsureAnswer } from '../../support/run-chain.ts';

const browser = await browserFor('what if');

const journals = memoryJournals();
const CONFIDENCES = [0.5, 0.7, 0.95];
let server: InspectionServer;
beforeAll(async () => {
  const plan = {
    yield: (call: number) => unsureAnswer(call, { confidence: CONFIDENCES[(call - 1) % 3], taskComplete: false }),
  };
  for (const runId of ['apple', 'banana'])
    await scriptedChain(plan, { journals, newId: () => runId }).chain.run({ request: `Is ${runId} so?` }).answer;
  const { chain } = scriptedChain(plan, { journals, newId: () => 'cherry' });
  server = await inspectionServer({
    journals,
    actions: { resume: (runId) => chain.resume(runId), fork: (runId, change) => chain.fork(runId, change) },
  });
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

const open = () => openInspector(browser as NonNullable<typeof browser>, server.url, { hash: '/run/apple' });

describe.skipIf(browser === null)('the views of a whole run', () => {
  it('say where this run and all runs would have ended with other numbers', async () => {
    const { page, close } = await open();
    await page.getByRole('button', { name: 'What if' }).click();
    await page.getByRole('slider', { name: 'Confidence above' }).fill('0.6');
    await page.getByText('The run would end in cycle 2 (confidence reached) and save').waitFor();
    await page.getByRole('button', { name: 'Check all runs' }).click();
    await page.getByText('Of 2 runs, 2 would end earlier').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('slider', { name: 'Confidence above' }).fill('0.99');
    await page.getByText('beyond its recorded end').waitFor();
    await page.getByRole('button', { name: 'Reset to recorded numbers' }).click();
    await page.getByText('Move a slider').waitFor();
    await close();
  });

  it('show the values that decisions compared, and fork where the outcome first differs', async () => {
    const { page, close } = await open();
    await page.getByRole('button', { name: 'What if' }).click();
    const confidence = page.locator('.what-if-number', { hasText: 'Confidence above' });
    await confidence.getByText('0.5 · 0.7 · 0.95').waitFor();
    expect(await confidence.locator('b').allInnerTexts()).toEqual(['0.95']);
    await page.getByRole('slider', { name: 'Confidence above' }).fill('0.6');
    await expect.poll(() => confidence.locator('b').allInnerTexts()).toEqual(['0.7', '0.95']);
    expect(
      await page.locator('.what-if-number', { hasText: 'Maximum cycles' }).locator('.what-if-values').innerText(),
    ).toBe('1 · 2 · 3');
    const fork = page.getByRole('button', { name: /^Fork from entry [\d,]+ with these numbers$/ });
    const at = Number((await fork.innerText()).replace(/\D/gu, ''));
    await fork.click();
    await page.locator('main[data-run=cherry]').waitFor();
    await page.locator('.compare-panel .step-table, .compare-panel table').first().waitFor();
    const entries = [];
    for await (const entry of journals.read('cherry')) entries.push(entry);
    expect(entries[0]).toMatchObject({
      forkedFrom: { runId: 'apple', seq: at, changes: ['thresholds.confidence=0.6'] },
    });
    expect(entries.filter(({ type }) => type === 'decision')).toHaveLength(2);
    await close();
  });

  it('show their results at 1280 × 720 without scrolling', async () => {
    const { page, close } = await open();
    const isInView = (selector: string): Promise<boolean> =>
      page.locator(selector).evaluate((element) => {
        const [own, panel] = [element, document.querySelector('#panel')].map((one) => one?.getBoundingClientRect());
        return own !== undefined && panel !== undefined && own.top >= panel.top && own.bottom <= panel.bottom;
      });
    await page.getByRole('button', { name: 'What if' }).click();
    await page.getByRole('slider', { name: 'Confidence above' }).fill('0.6');
    await page.getByText('The run would end in cycle 2').waitFor();
    expect(await isInView('[aria-label="This run"]')).toBe(true);
    await page.getByRole('button', { name: 'Act', exact: true }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText(/^Identical/u).waitFor();
    expect(await isInView('[aria-label=Replay] [role=status]')).toBe(true);
    await close();
  });

  it('take the words that are selected in the panel that Origins replaces', async () => {
    const { page, close } = await open();
    await page.getByRole('tab', { name: 'Reply' }).click();
    const words = await page.getByRole('region', { name: 'Answer' }).evaluate((card) => {
      document.getSelection()?.selectAllChildren(card.querySelector('p') ?? card);
      return document.getSelection()?.toString().trim() ?? '';
    });
    await page.getByRole('button', { name: 'Origins' }).click();
    const search = page.getByRole('searchbox', { name: 'Where does this come from?' });
    await search.waitFor();
    expect(words.slice(0, 20)).not.toBe('');
    expect((await search.inputValue()).slice(0, 20)).toBe(words.slice(0, 20));
    await close();
  });

  it('find the texts that words of the answer come from, and go to them', async () => {
    const { page, close } = await open();
    await page.getByRole('button', { name: 'Origins' }).click();
    await page.getByRole('searchbox', { name: 'Where does this come from?' }).fill('apple so');
    const request = page.locator('.origins li', { hasText: 'the user' });
    await request.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(await request.locator('mark').allTextContents()).toEqual(['apple so']);
    await request.getByRole('button', { name: 'Request' }).click();
    expect(await request.locator('p').textContent()).toBe('Is apple so?');
    expect(await request.locator('mark').allTextContents()).toEqual(['apple so']);
    await page.waitForFunction(() => location.hash.startsWith('#/run/apple/0'));
    await close();
  });
});
