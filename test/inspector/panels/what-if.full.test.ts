import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InspectionServer, inspectionServer } from '../../../src/inspection/inspection-server.ts';
import { memoryJournals } from '../../../src/journal/memory-journals.ts';
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
  server = await inspectionServer({ journals });
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
    await page.getByRole('slider', { name: 'Confidence' }).fill('0.6');
    await page.getByText('The run would end in cycle 2 (confidence reached) and save').waitFor();
    await page.getByRole('button', { name: 'Check all runs' }).click();
    await page.getByText('Of 2 runs, 2 would end earlier').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('slider', { name: 'Confidence' }).fill('0.99');
    await page.getByText('beyond its recorded end').waitFor();
    await page.getByRole('button', { name: 'Reset to recorded numbers' }).click();
    await page.getByText('Move a slider.').waitFor();
    await close();
  });

  it('find the texts that words of the answer come from, and go to them', async () => {
    const { page, close } = await open();
    await page.getByRole('button', { name: 'Origins' }).click();
    await page.getByRole('searchbox', { name: 'Where does this come from?' }).fill('apple so');
    const request = page.locator('.origins li', { hasText: 'the user' });
    await request.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await request.getByRole('button', { name: 'Request' }).click();
    await page.waitForFunction(() => location.hash.startsWith('#/run/apple/0'));
    await close();
  });
});
