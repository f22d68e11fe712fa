import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { recommendedDirection } from '../../../../machines/policies/questions.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { axeViolations } from '../../../support/inspector/page-checks.ts';
import { type LivePage, openLivePage, pageTests } from '../../../support/inspector/test-page.ts';
import { type Plan, settle, startScripted } from '../../../support/run-chain.ts';

const tests = await pageTests('acting on a live run');

const LONG = 'A long story. '.repeat(100);
const unsure: Plan = { yield: () => ({ ...replies.yield, confidence: 0.3 }) };

/** Opens a page on a run in manual mode. */
function open(history: readonly string[] = []): Promise<LivePage> {
  const messages = history.map((content) => ({ role: 'user', content }) as const);
  const { run } = startScripted(unsure, { journals: memoryJournals() }, { mode: 'manual', history: messages });
  return openLivePage(tests, run, '');
}

/** What became of the last event, at the form that sent it. */
const outcomeOf = ({ page }: LivePage) => page.locator('.sent').last();
const isSent = (live: LivePage) => outcomeOf(live).getByText('Sent; the run has not read it yet.').waitFor();

describe.skipIf(tests.areSkipped)('the head of a live run', () => {
  it('asks for consent with an override for one message, and shows that it was delivered', async () => {
    const live = await open([LONG, `Another ${LONG}`]);
    const { page, sent, update } = live;
    const form = page.getByRole('form', { name: 'Consent' });
    expect(await form.getByRole('listitem').count()).toBe(2);
    expect(await form.textContent()).toContain('1,400 characters');
    await form.getByRole('combobox').first().selectOption('remove');
    await form.getByRole('button', { name: 'Keep the rest' }).click();
    await isSent(live);
    expect(sent).toEqual([
      { type: 'consent.given', questionId: 's5.consent', choice: 'keep', items: { 'earlier.h1': 'remove' } },
    ]);
    await update();
    expect(await outcomeOf(live).textContent()).toContain('Accepted by the run.');
    expect(await form.count()).toBe(0);
  });

  it('asks for approval of each call, approves an edited one, and denies with a reason', async () => {
    const pay = { name: 'pay', description: 'Pays.', arguments: z.object({ to: z.string() }), execute: () => 'paid' };
    const calls = ['Ada\u202e', 'Bob'].map((to) => ({ capability: 'pay', arguments: JSON.stringify({ to }) }));
    const { run } = startScripted(
      { action: { ...replies.action, calls } },
      { journals: memoryJournals(), capabilities: [pay], approval: 'always' },
    );
    const live = await openLivePage(tests, run, '');
    const { page, sent, update } = live;
    await page.getByRole('heading', { name: 'May the run make these 2 tool calls?' }).waitFor();
    const forms = page.getByRole('form', { name: 'Approval of pay' });
    expect(await forms.count()).toBe(2);
    const setLive = (isLive: boolean) =>
      page.evaluate((live) => {
        window.listener.hello([], true);
        window.listener.runs(
          window.inspector.runs.value.map((one) => ({ ...one, live })),
          null,
          0,
        );
      }, isLive);
    await setLive(false);
    const banner = page.getByRole('region', { name: 'Waiting for approval' });
    await banner.getByRole('button', { name: 'Take over' }).waitFor();
    expect(await banner.innerText()).toMatch(/pay Ada‹U\+202E›\s+pay Bob/u);
    expect(await page.locator('.verdict').innerText()).toContain('Waiting for approval');
    await banner.getByRole('button', { name: 'Take over' }).click();
    await setLive(true);
    const first = forms.first();
    expect(await first.textContent()).toContain('Allow pay?');
    expect(await first.textContent()).toContain('to: "Ada‹U+202E›"');
    await first.getByRole('button', { name: 'Edit arguments' }).click();
    expect(await first.getByRole('textbox', { name: 'Arguments' }).inputValue()).toContain('"Ada\\u202e"');
    await first.getByRole('textbox', { name: 'Arguments' }).fill('{"to"');
    await first.getByRole('button', { name: 'Approve as edited' }).click();
    expect(await first.getByRole('alert').textContent()).toContain('Not valid JSON');
    await first.getByRole('textbox', { name: 'Arguments' }).fill('{"to":"Ada"}');
    await first.getByRole('button', { name: 'Approve as edited' }).click();
    await isSent(live);
    await forms.last().getByRole('textbox', { name: 'Reason' }).fill('no');
    await page.keyboard.press('Enter');
    await isSent(live);
    expect(sent).toMatchObject([
      { type: 'resume', force: true },
      { type: 'approval.given', questionId: 's1.action.approval1', decision: 'approve', arguments: { to: 'Ada' } },
      { type: 'approval.given', questionId: 's1.action.approval2', decision: 'deny', reason: 'no' },
    ]);
    await update();
    expect(await forms.count()).toBe(0);
    expect(await outcomeOf(live).textContent()).toContain('Accepted by the run. Denied: no (pay · Bob).');
    expect(await axeViolations(page, '.head-area')).toEqual([]);
  });

  it('continues with a phase and an instruction; the proposal is preselected', async () => {
    const live = await open();
    const { page, sent, update } = live;
    const waiting = page.getByRole('region', { name: 'Waiting for direction' });
    expect(await waiting.textContent()).toContain('confidence 0.3');
    expect(await waiting.textContent()).toMatch(
      /No rule recommends finishing\. If nobody answers in \d+ \w+.*, the run ends at its time limit\./u,
    );
    expect(await waiting.getByRole('radio', { checked: true }).getAttribute('value')).toBe('action');
    await waiting.getByRole('radio', { name: 'intention' }).check();
    await waiting.getByRole('textbox').fill('what is wanted');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await isSent(live);
    expect(sent).toEqual([
      { type: 'run.directed', phase: 'intention', prompt: 'what is wanted', questionId: 's6.direction' },
    ]);
    await update();
    expect(await outcomeOf(live).textContent()).toContain('Accepted by the run.');
  });

  it('counts the time limit of a fork from the clock of the fork, which the repeated part has advanced', async () => {
    const HOUR = 3_600_000;
    const [limits, journals] = [{ totalMs: 10 * HOUR }, memoryJournals()];
    const { run } = startScripted(unsure, { journals, limits }, { mode: 'manual' });
    for (let count = -1; count < run.entries.length; await settle(50)) count = run.entries.length;
    const origin = { actorId: 'original', seq: 1 };
    const journal = run.entries.map((entry) =>
      entry.type === 'start' ? { ...entry, forkedFrom: { ...origin, clockStartMs: Date.now() - 8 * HOUR } } : entry,
    );
    const live = await openLivePage(tests, Object.create(run, { entries: { value: journal } }), '');
    const waiting = live.page.getByRole('region', { name: 'Waiting for direction' });
    expect(await waiting.textContent()).toMatch(/If nobody answers in [12] h/u);
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
    expect(await outcomeOf(live).textContent()).toContain('Sending');
    release('the run is busy');
    await outcomeOf(live).getByText('Not sent: the run is busy').waitFor();
    await finish.dblclick();
    await isSent(live);
    expect(sent).toHaveLength(2);
  });

  it('cancels after a confirmation, and then shows that the run is over', async () => {
    const live = await open();
    const { page, sent, update } = live;
    await page.getByRole('button', { name: 'Cancel…' }).click();
    expect(sent).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByLabel('Reason').fill('enough');
    await page.keyboard.press('Enter');
    await isSent(live);
    expect(sent).toEqual([{ type: 'run.cancelled', reason: 'enough' }]);
    await update();
    await page.locator('.verdict').getByText('Cancelled').waitFor();
    await page.locator('.ending').getByText('The run was canceled (enough).').waitFor();
    expect(await page.getByRole('button', { name: 'Finish now' }).count()).toBe(0);
  });

  it('preselects to finish if a rule recommends it, as the terminal does, and says why', async () => {
    const { run } = startScripted({}, { journals: memoryJournals() }, { mode: 'manual' });
    const live = await openLivePage(tests, run, '');
    const { page, sent } = live;
    const asked = run.entries.find((entry) => entry.type === 'direction-asked');
    if (asked?.type !== 'direction-asked') throw new Error('the run asks for no direction');
    expect(recommendedDirection(asked)).toBe('finish');
    const waiting = page.getByRole('region', { name: 'Waiting for direction' });
    expect(await waiting.textContent()).toContain('Finishing is recommended: Yield’s answer is confident enough (0.95');
    expect(await waiting.getByRole('radio', { checked: true }).getAttribute('value')).toBe('finish');
    await waiting.getByRole('button', { name: 'Finish the run' }).click();
    await isSent(live);
    expect(sent).toEqual([{ type: 'run.finished', questionId: asked.questionId }]);
  });

  it('passes the accessibility checks in both themes', async () => {
    const { page } = await open([LONG]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page, '.page-header, .head-area')).toEqual([]);
      for (const name of ['Cancel…', 'Details…']) {
        await page.getByRole('button', { name }).click();
        expect(await axeViolations(page, 'dialog'), name).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }
  });
});
