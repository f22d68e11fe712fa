import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { memoryJournals } from '../../../../src/journal/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { type Plan, settle, startScripted } from '../../../support/run-chain.ts';
import { complaintsIn } from '../../rig/axe.ts';
import { pageTests } from '../../rig/page-tests.ts';
import { buildPlayedPage, type LivePage, openLivePage } from '../../rig/played-page.ts';

const tests = await pageTests('the act panel');

beforeAll(() => buildPlayedPage(tests), 60_000);

const LONG = 'A long story. '.repeat(100);
const unsure: Plan = { yield: () => ({ ...replies.yield, confidence: 0.3 }) };

/** A run in manual mode, played until it waits for its user, and a page on it. */
async function open(history: readonly string[] = [], hash = ''): Promise<LivePage & { play(): Promise<void> }> {
  const { run } = startScripted(
    unsure,
    { journals: memoryJournals() },
    {
      mode: 'manual',
      history: history.map((content) => ({ role: 'user', content })),
    },
  );
  const live = await openLivePage(tests, run, `panel=act${hash}`);
  const play = async (): Promise<void> => {
    // A run that waits tells nothing more, whatever else is awaited.
    for (let told = -1; told < run.journal.length; await settle(50)) told = run.journal.length;
    await live.update();
  };
  await play();
  onTestFinished(() => run.cancel());
  return { ...live, play };
}

const sentOf = ({ page }: LivePage) => page.getByRole('region', { name: 'What was sent' });

describe.skipIf(tests.areSkipped)('the act panel', () => {
  it('asks for consent with a word of its own for a message, and shows that it was delivered', async () => {
    const live = await open([LONG, `Another ${LONG}`]);
    const { page, sent, play } = live;
    const form = page.getByRole('form', { name: 'Consent' });
    expect(await form.getByRole('listitem').count()).toBe(2);
    expect(await form.textContent()).toContain('1,400 characters');
    await form.getByRole('combobox').first().selectOption('remove');
    await form.getByRole('button', { name: 'Keep the rest' }).click();
    await sentOf(live).getByText('told').first().waitFor();
    expect(sent).toEqual([{ type: 'consent.given', choice: 'keep', items: { 'earlier.h1': 'remove' } }]);
    await play();
    expect(await sentOf(live).textContent()).toContain('told, and delivered');
    expect(await form.count()).toBe(0);
  });

  it('is led to from the top of the page as long as an answer is wanted', async () => {
    const { page, play } = await open([LONG], '');
    await page.getByRole('tab', { name: 'Why' }).click();
    await page.getByRole('button', { name: 'waits for consent' }).click();
    await page.getByRole('button', { name: 'Keep all' }).click();
    await page.getByText('told').first().waitFor();
    await play();
    expect(await page.getByRole('button', { name: 'waits for consent' }).count()).toBe(0);
    await page.getByRole('button', { name: 'waits for a direction' }).waitFor();
  });

  it('directs to a phase with a prompt where the run waits for it, the proposal chosen before', async () => {
    const live = await open();
    const { page, sent, play } = live;
    const waiting = page.getByRole('region', { name: 'The run waits for a direction' });
    expect(await waiting.textContent()).toContain('confidence 0.3');
    expect(await waiting.getByRole('radio', { checked: true }).getAttribute('value')).toBe('action');
    await waiting.getByRole('radio', { name: 'intention' }).check();
    await waiting.getByRole('textbox').fill('what is wanted');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await sentOf(live).getByText('told').first().waitFor();
    expect(sent).toEqual([{ type: 'run.directed', phase: 'intention', prompt: 'what is wanted' }]);
    await play();
    expect(await sentOf(live).textContent()).toContain('told, and delivered');
  });

  it('says where the chart refused what it was told', async () => {
    const live = await open();
    await live.page.getByText('run.directed', { exact: true }).click();
    const form = live.page.getByRole('form', { name: 'run.directed' });
    await form.getByRole('textbox', { name: 'phase' }).fill('nowhere');
    await form.getByRole('button').click();
    await sentOf(live).getByText('told').first().waitFor();
    await live.play();
    expect(await sentOf(live).textContent()).toContain('refused: it is no phase');
    expect(await live.page.getByRole('alert').textContent()).toContain('“nowhere” was refused');
  });

  it('makes a form of every event, with what holds now, and says in words what is wrong before it sends', async () => {
    const live = await open();
    const { page, sent } = live;
    await page.getByText('run.adjusted', { exact: true }).click();
    await page.getByText('limits', { exact: false }).first().click();
    const form = page.getByRole('form', { name: 'run.adjusted' });
    const cycles = form.getByRole('textbox', { name: 'maxCycles' });
    expect(await cycles.getAttribute('placeholder')).toBe('now 5');
    await cycles.fill('many');
    await form.getByRole('button', { name: 'Send run.adjusted' }).click();
    expect(await form.getByRole('alert').textContent()).toBe('One thing is not right yet.');
    expect(await form.textContent()).toContain('"many" is no number.');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true');
    expect(sent).toEqual([]);
    await cycles.fill('7');
    await cycles.press('Enter');
    await sentOf(live).getByText('told').first().waitFor();
    expect(sent).toEqual([{ type: 'run.adjusted', limits: { maxCycles: 7 } }]);
    await live.play();
    expect(await cycles.getAttribute('placeholder')).toBe('now 7');
    expect(await cycles.inputValue()).toBe('');
  });

  it('sends once, however often one clicks', async () => {
    const live = await open();
    const { page, sent, hold } = live;
    const finish = page.getByRole('button', { name: 'Finish now' });
    const release = hold();
    await finish.dblclick();
    await finish.click({ force: true });
    await finish.press('Enter', { noWaitAfter: true });
    expect(sent).toHaveLength(1);
    expect(await sentOf(live).textContent()).toContain('under way');
    release('the run is busy');
    await sentOf(live).getByText('not told: the run is busy').waitFor();
    await finish.dblclick();
    await sentOf(live).getByText('told', { exact: true }).waitFor();
    expect(sent).toHaveLength(2);
  });

  it('cancels once that was said twice, and then says that the run is over', async () => {
    const live = await open();
    const { page, sent, play } = live;
    await page.getByRole('button', { name: 'Cancel…' }).click();
    expect(sent).toEqual([]);
    await page.keyboard.type('enough');
    await page.keyboard.press('Enter');
    await sentOf(live).getByText('told').first().waitFor();
    expect(sent).toEqual([{ type: 'run.cancelled', reason: 'enough' }]);
    await play();
    await page.getByText('This run is over').waitFor();
    expect(await page.getByRole('button', { name: 'Finish now' }).count()).toBe(0);
  });

  it('asks why it is to be cancelled once, and lets somebody type elsewhere while entries come', async () => {
    const { page, update } = await open();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByLabel('Why').and(page.locator(':focus')).waitFor();
    const elsewhere = page.getByRole('textbox', { name: 'What to do there' });
    await elsewhere.focus();
    await page.evaluate(() => window.inspector.moveTo(2));
    await page.getByText('You look at entry 2.').waitFor();
    await update();
    expect(await elsewhere.evaluate((box) => box === document.activeElement)).toBe(true);
  });

  it('says that it acts now where the cursor is in the past', async () => {
    const live = await open([], '&run=run-1&at=3');
    const note = live.page.getByRole('note');
    expect(await note.textContent()).toMatch(/^You look at entry 3\. .* as it is now, at entry \d+\./);
    await live.page.getByRole('button', { name: 'Go on with action' }).click();
    await sentOf(live).getByText('told').first().waitFor();
    expect(live.sent).toEqual([{ type: 'run.directed', phase: 'action' }]);
    await note.getByRole('button', { name: 'Go there' }).click();
    expect(await note.textContent()).toBe('What you say here reaches the run as it is now.');
  });

  it('has nothing that an ear or an eye would miss, in either theme', async () => {
    const { page } = await open([LONG]);
    await page.locator('.act details').evaluateAll((all) => {
      for (const details of all) (details as HTMLDetailsElement).open = true;
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await complaintsIn(page, '.panel-place')).toEqual([]);
    }
  });
});
