import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { axeViolations } from '../../../support/inspector/page-checks.ts';
import { buildTestPage, type LivePage, openLivePage, pageTests } from '../../../support/inspector/test-page.ts';
import { type Plan, settle, startScripted } from '../../../support/run-chain.ts';

const tests = await pageTests('the act panel');

beforeAll(() => buildTestPage(tests));

const LONG = 'A long story. '.repeat(100);
const unsure: Plan = { yield: () => ({ ...replies.yield, confidence: 0.3 }) };

/** Starts a run in manual mode, waits until it needs its user, and opens a page on it. */
async function open(history: readonly string[] = [], hash = ''): Promise<LivePage & { play(): Promise<void> }> {
  const { run } = startScripted(
    unsure,
    { journals: memoryJournals() },
    {
      mode: 'manual',
      history: history.map((content) => ({ role: 'user', content })),
    },
  );
  const live = await openLivePage(tests, run, `${hash}?panel=act`);
  const play = async (): Promise<void> => {
    // A waiting run adds no more entries.
    for (let count = -1; count < run.journal.length; await settle(50)) count = run.journal.length;
    await live.update();
  };
  await play();
  onTestFinished(() => run.cancel());
  return { ...live, play };
}

const sentOf = ({ page }: LivePage) => page.getByRole('region', { name: 'Sent events' });

describe.skipIf(tests.areSkipped)('the act panel', () => {
  it('asks for consent with an override for one message, and shows that it was delivered', async () => {
    const live = await open([LONG, `Another ${LONG}`]);
    const { page, sent, play } = live;
    const form = page.getByRole('form', { name: 'Consent' });
    expect(await form.getByRole('listitem').count()).toBe(2);
    expect(await form.textContent()).toContain('1,400 characters');
    await form.getByRole('combobox').first().selectOption('remove');
    await form.getByRole('button', { name: 'Keep the rest' }).click();
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    expect(sent).toEqual([
      { type: 'consent.given', questionId: 's5.consent', choice: 'keep', items: { 'earlier.h1': 'remove' } },
    ]);
    await play();
    expect(await sentOf(live).textContent()).toContain('delivered');
    expect(await form.count()).toBe(0);
  });

  it('is linked from the top of the page while the run waits for an answer', async () => {
    const { page, play } = await open([LONG], '');
    await page.getByRole('button', { name: 'Back to the step' }).click();
    await page.getByRole('button', { name: 'waiting for consent' }).click();
    await page.getByRole('button', { name: 'Keep all' }).click();
    await page.getByText('sent', { exact: true }).waitFor();
    await play();
    expect(await page.getByRole('button', { name: 'waiting for consent' }).count()).toBe(0);
    await page.getByRole('button', { name: 'waiting for a direction' }).waitFor();
  });

  it('asks for approval of each call, approves an edited one, and denies with a reason', async () => {
    const pay = { name: 'pay', description: 'Pays.', arguments: z.object({ to: z.string() }), execute: () => 'paid' };
    const calls = ['Ada\u202e', 'Bob'].map((to) => ({ capability: 'pay', arguments: JSON.stringify({ to }) }));
    const { run } = startScripted(
      { action: { ...replies.action, calls } },
      { journals: memoryJournals(), capabilities: [pay], approval: 'always' },
    );
    const live = await openLivePage(tests, run, '?panel=act');
    onTestFinished(() => run.cancel());
    const { page, sent } = live;
    const play = async (): Promise<void> => {
      for (let count = -1; count < run.journal.length; await settle(50)) count = run.journal.length;
      await live.update();
    };
    await play();
    await page.getByRole('button', { name: 'waiting for approval' }).waitFor();
    const forms = page.getByRole('form', { name: 'Approval of pay' });
    expect(await forms.count()).toBe(2);
    const first = forms.first();
    expect(await first.getByRole('textbox', { name: 'Arguments' }).inputValue()).toContain('"Ada\\u202e"');
    await first.getByRole('textbox', { name: 'Arguments' }).fill('{"to"');
    await first.getByRole('button', { name: 'Approve the edited call' }).click();
    expect(await first.getByRole('alert').textContent()).toContain('Not valid JSON');
    await first.getByRole('textbox', { name: 'Arguments' }).fill('{"to":"Ada"}');
    await first.getByRole('button', { name: 'Approve the edited call' }).click();
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    await forms.last().getByRole('textbox', { name: 'Reason' }).fill('no');
    await forms.last().getByRole('button', { name: 'Deny' }).click();
    await sentOf(live).getByText('sent', { exact: true }).last().waitFor();
    expect(sent).toMatchObject([
      { type: 'approval.given', questionId: 's1.action.approval1', decision: 'approve', arguments: { to: 'Ada' } },
      { type: 'approval.given', questionId: 's1.action.approval2', decision: 'deny', reason: 'no' },
    ]);
    await play();
    expect(await forms.count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
  });

  it('continues with a phase and an instruction; the proposal is preselected', async () => {
    const live = await open();
    const { page, sent, play } = live;
    const waiting = page.getByRole('region', { name: 'The run is waiting for a direction' });
    expect(await waiting.textContent()).toContain('confidence 0.3');
    expect(await waiting.getByRole('radio', { checked: true }).getAttribute('value')).toBe('action');
    await waiting.getByRole('radio', { name: 'intention' }).check();
    await waiting.getByRole('textbox').fill('what is wanted');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    expect(sent).toEqual([
      { type: 'run.directed', phase: 'intention', prompt: 'what is wanted', questionId: 's6.direction' },
    ]);
    await play();
    expect(await sentOf(live).textContent()).toContain('delivered');
  });

  it('shows that the chart rejected an event sent as JSON', async () => {
    const live = await open();
    await live.page.getByText('Send another event').click();
    const form = live.page.getByRole('form', { name: 'Event as JSON' });
    const text = form.getByRole('textbox');
    for (const [wrong, problem] of [
      ['{"type"', 'Not valid JSON: '],
      ['["run.directed"]', 'An event is a JSON object with a string "type".'],
    ] as const) {
      await text.fill(wrong);
      await form.getByRole('button').click();
      expect(await form.getByRole('alert').textContent()).toContain(problem);
      expect(await text.getAttribute('aria-invalid')).toBe('true');
    }
    expect(live.sent).toEqual([]);
    for (const [event, problem] of [
      [
        { type: 'run.directed', phase: 'action' },
        'rejected: the answer names no question; the pending question is s6.direction',
      ],
      [{ type: 'run.directed', phase: 'nowhere', questionId: 's6.direction' }, 'rejected: not a phase'],
    ] as const) {
      await text.fill(JSON.stringify(event));
      await form.getByRole('button').click();
      await sentOf(live).getByText('sent', { exact: true }).waitFor();
      await live.play();
      await sentOf(live).getByText(problem).waitFor();
    }
    expect(await live.page.getByRole('alert').textContent()).toContain('“nowhere” was rejected');
  });

  it('adjusts limits: shows the current numbers, and reports a wrong one before it sends', async () => {
    const live = await open();
    const { page, sent } = live;
    await page.getByText('Adjust limits and thresholds', { exact: true }).click();
    const form = page.getByRole('form', { name: 'Adjust limits and thresholds' });
    const cycles = form.getByRole('textbox', { name: 'maxCycles' });
    expect(await cycles.getAttribute('placeholder')).toBe('now 5');
    await cycles.fill('many');
    await form.getByRole('button', { name: 'Adjust' }).click();
    expect(await form.getByRole('alert').textContent()).toBe('"maxCycles" must be a number; received "many".');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true');
    expect(sent).toEqual([]);
    await cycles.fill('7');
    await cycles.press('Enter');
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    expect(sent).toEqual([{ type: 'run.adjusted', limits: { maxCycles: 7 } }]);
    await live.play();
    expect(await cycles.getAttribute('placeholder')).toBe('now 7');
    expect(await cycles.inputValue()).toBe('');
  });

  it('sends once, however often the button is clicked', async () => {
    const live = await open();
    const { page, sent, pauseSending } = live;
    const finish = page.getByRole('button', { name: 'Finish now' });
    const release = pauseSending();
    await finish.dblclick();
    await finish.click({ force: true });
    await finish.press('Enter', { noWaitAfter: true });
    expect(sent).toHaveLength(1);
    expect(await sentOf(live).textContent()).toContain('sending');
    release('the run is busy');
    await sentOf(live).getByText('not sent: the run is busy').waitFor();
    await finish.dblclick();
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    expect(sent).toHaveLength(2);
  });

  it('cancels after a confirmation, and then shows that the run is over', async () => {
    const live = await open();
    const { page, sent, play } = live;
    await page.getByRole('button', { name: 'Cancel…' }).click();
    expect(sent).toEqual([]);
    await page.keyboard.type('enough');
    await page.keyboard.press('Enter');
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    expect(sent).toEqual([{ type: 'run.cancelled', reason: 'enough' }]);
    await play();
    await page.getByText('This run has ended').waitFor();
    expect(await page.getByRole('button', { name: 'Finish now' }).count()).toBe(0);
  });

  it('focuses the reason once, and leaves the focus elsewhere while entries arrive', async () => {
    const { page, update } = await open();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByLabel('Reason').and(page.locator(':focus')).waitFor();
    const elsewhere = page.getByRole('textbox', { name: 'Instruction' });
    await elsewhere.focus();
    await page.evaluate(() => window.inspector.moveTo(2));
    await page.getByText('You are viewing entry 2.').waitFor();
    await update();
    expect(await elsewhere.evaluate((box) => box === document.activeElement)).toBe(true);
  });

  it('states that events reach the current run while the cursor is in the past', async () => {
    const live = await open([], '/run/run-1/3');
    const note = live.page.getByRole('note');
    expect(await note.textContent()).toMatch(/^You are viewing entry 3\. .* live run, which is at entry \d+\./);
    await live.page.getByRole('button', { name: 'Continue with action' }).click();
    await sentOf(live).getByText('sent', { exact: true }).waitFor();
    expect(live.sent).toEqual([{ type: 'run.directed', phase: 'action', questionId: 's6.direction' }]);
    await note.getByRole('button', { name: 'Go to the latest entry' }).click();
    expect(await note.textContent()).toBe('Events are sent to the live run immediately.');
  });

  it('passes the accessibility checks in both themes', async () => {
    const { page } = await open([LONG]);
    await page.locator('.act details').evaluateAll((all) => {
      for (const details of all) (details as HTMLDetailsElement).open = true;
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page, '.step-area')).toEqual([]);
    }
  });
});
