import { beforeAll, expect, it } from 'vitest';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { scriptedModel } from '../../../src/entries/testing.ts';
import { replies } from '../../../src/testing/replies.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';
import { scriptedChain } from '../../support/run-chain.ts';

const journals = memoryJournals();
const tests = await inspectorTests('the narrow page', { journals });
beforeAll(async () => {
  await scriptedChain({}, { journals, newId: () => 'one' }).chain.run({ request: 'Is it so?' }).answer;
  const written = { ...replies.yield, answer: `${'宇宙'.repeat(90)} ${'כן '.repeat(60)}` };
  const asked = `${'なぜ'.repeat(60)} ${'למה '.repeat(30)}`;
  await scriptedChain({ yield: written }, { journals, newId: () => 'many-scripts' }).chain.run({ request: asked })
    .answer;
  const offline = scriptedModel(() => {
    throw new Error(`the model is offline: ${'connection refused, '.repeat(4)}`);
  });
  await createPostChain({ model: offline, journals, newId: () => 'none' }).run({ request: 'Is it so?' }).answer;
  await scriptedChain({}, { journals, newId: () => 'rtl' }).chain.run({ request: 'למה זה כך?' }).answer;
});

it.skipIf(tests.areSkipped)(
  'a chosen step comes into view on a narrow page, and the trace again on request',
  async () => {
    const { page } = await tests.open('/run/one', { width: 390 });
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    const isInView = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return bottom > 0 && top < innerHeight;
        });
    const back = page.getByRole('button', { name: 'Back to the trace' });
    await page.locator('.trace-row').first().waitFor();
    expect(await back.count()).toBe(0);
    const cutPx = await page.locator('.ending .long-text').evaluate((reason) => {
      reason.textContent = 'The cycle limit is reached. '.repeat(20);
      return reason.scrollHeight - reason.clientHeight;
    });
    expect(cutPx).toBe(0);
    await page.locator('.trace-row').getByText('Observation').first().click();
    await page.waitForFunction(() => document.activeElement?.closest('.step-head') !== null);
    expect(await focused()).toBe('Observation, cycle 1');
    expect(await isInView('.step-head h2')).toBe(true);
    await back.click();
    expect(await isInView('.trace-row[aria-selected=true]')).toBe(true);
    // A link to a step opens there; the arrow keys in the trace stay in the trace.
    await page.keyboard.press('ArrowDown');
    expect(await isInView('.trace-list')).toBe(true);
    await page.reload();
    await page.waitForFunction(() => document.activeElement?.closest('.step-head') !== null);
    expect(await isInView('.step-head h2')).toBe(true);
    // This server continues no runs.
    expect(await page.getByRole('button', { name: 'Fork' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Details…' }).click();
    await page.getByText('This inspector cannot continue or fork runs.').waitFor();
    // A long title wraps beside the button.
    await page.locator('dialog h2').evaluate((title) => {
      title.textContent = 'unbroken'.repeat(20);
    });
    const dialog = await page.locator('dialog').boundingBox();
    const close = await page.getByRole('button', { name: 'Close' }).boundingBox();
    expect((close?.y ?? 0) - (dialog?.y ?? 0)).toBeLessThan(40);
    expect((close?.x ?? 0) + (close?.width ?? 0)).toBeLessThan((dialog?.x ?? 0) + (dialog?.width ?? 0));
  },
);

it.skipIf(tests.areSkipped)('a step on a narrow page has buttons for the ones before and after it', async () => {
  const { page } = await tests.open('/run/one', { width: 390 });
  await page.locator('.trace-row').getByText('Observation').first().click();
  const count = page.locator('.step-area .chart-steps');
  const before = await count.innerText();
  await page.getByRole('button', { name: 'Next step' }).click();
  await page.waitForFunction((text) => document.querySelector<HTMLElement>('.chart-steps')?.innerText !== text, before);
  await page.getByRole('button', { name: 'Previous step' }).click();
  await count.getByText(before).waitFor();
});

it.skipIf(tests.areSkipped)('without an answer, the reason needs no button', async () => {
  const { page } = await tests.open('/run/none', { width: 390 });
  const text = page.locator('.answer .text');
  await text.waitFor();
  expect(await page.locator('.answer').getByRole('button', { name: 'Show all' }).count()).toBe(0);
  expect(await text.innerText()).toMatch(/^Yield failed: .*could not write the final answer/u);
});

it.skipIf(tests.areSkipped)('texts without spaces wrap, and those from right to left start at the right', async () => {
  const { page } = await tests.open('/run/many-scripts', { width: 390 });
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await page.locator('main[data-run="many-scripts"]').waitFor();
  expect(await overflow()).toBeLessThanOrEqual(0);
  const startsAt = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const range = document.createRange();
        const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode() as Text;
        range.setStart(text, 0);
        range.setEnd(text, 1);
        return range.getBoundingClientRect().left / innerWidth;
      });
  expect(await startsAt('.run-head h1')).toBeLessThan(0.1);
  await page.evaluate(() => location.assign('#/run/rtl'));
  await page.locator('main[data-run="rtl"]').waitFor();
  expect(await startsAt('.run-head h1')).toBeGreaterThan(0.9);
  await page.evaluate(() => location.assign('#/'));
  await page.locator('.runs-grid').waitFor();
  expect(await overflow()).toBeLessThanOrEqual(0);
});

it.skipIf(tests.areSkipped)('a low page scrolls as a whole, so that no part is cut off', async () => {
  const { page } = await tests.open('/run/one', { width: 1_100, height: 450 });
  await page.locator('.trace-row').first().waitFor();
  await page.getByText('Observation').first().click();
  await page.waitForFunction(() => document.activeElement?.closest('.step-head') !== null);
  await page.getByRole('button', { name: 'Back to the trace' }).click();
  const { y = 0, height = 0 } = (await page.locator('.trace-row[aria-selected=true]').boundingBox()) ?? {};
  expect([y > 0, y + height < 450]).toEqual([true, true]);
});
