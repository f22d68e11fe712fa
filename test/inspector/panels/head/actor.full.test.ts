import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { approval, createDurableMachine, memoryJournals } from '../../../../src/entries/durable.ts';
import { exportRun } from '../../../../src/inspection/export-run.ts';
import { inspectorTests } from '../../../support/inspector/inspector-page.ts';
import { axeViolations } from '../../../support/inspector/page-checks.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const HOUR_MS = 3_600_000;

const parcel = setup({
  types: { events: {} as { type: 'collect'; name: string } | { type: 'ask' } | { type: 'raw' } },
  actors: { approval },
  delays: { patience: 48 * HOUR_MS },
}).createMachine({
  id: 'parcel',
  version: '1',
  context: { tries: 3 },
  initial: 'ready',
  states: {
    ready: { on: { collect: 'collected', ask: 'asking' }, after: { patience: 'returned' } },
    asking: {
      invoke: {
        src: 'approval',
        input: { question: { pay: 80, to: '<img src=x onerror=alert(1)>' } },
        onDone: [
          { guard: ({ event }) => event.output.decision === 'approve', target: 'collected' },
          { target: 'returned' },
        ],
      },
    },
    collected: { type: 'final' },
    returned: { type: 'final' },
  },
  output: () => ({ by: 'Ada' }),
});

const journals = memoryJournals();
const host = createDurableMachine(parcel, { journals, logger: () => {} });
const events = {
  collect: z.object({
    name: z.string().min(2),
    count: z.number(),
    kind: z.enum(['box', 'letter']),
    place: z.object({ city: z.string() }),
    isFragile: z.optional(z.boolean()),
    extra: z.optional(z.array(z.string())),
  }),
  ask: z.object({}),
};
const start = async (id: string): Promise<void> => void (await (await host.open(id)).park());
for (const id of ['form', 'approve', 'deny', 'edit', 'edited', 'stop', 'fork', 'plain', 'file', 'replay'])
  await start(id);
for (const id of ['approve', 'deny', 'edit', 'edited']) await host.send(id, { type: 'ask' });
const [asked] = (await host.list()).find(({ id }) => id === 'edited')?.waiting?.approvals ?? [];
await host.send('edited', { type: 'approval.given', ...asked, decision: 'approve' } as never);
const older = setup({ delays: { patience: 48 * HOUR_MS } }).createMachine({
  id: 'parcel',
  version: '1',
  context: { tries: 3 },
  initial: 'ready',
  states: { ready: { on: { collect: 'lost' }, after: { patience: 'lost' } }, lost: {} },
});
const olderHost = createDurableMachine(older, { journals });
await (await olderHost.open('changed')).park();
await olderHost.send('changed', { type: 'collect' });
const bare = createDurableMachine(setup({}).createMachine({ id: 'bare', initial: 'a', states: { a: {} } }), {
  journals,
});
await (await bare.open('unknown')).park();
const past = createDurableMachine(parcel, { journals, clock: new TestClock(), logger: () => {} });
await (await past.open('late')).park();
const retrying = createDurableMachine(
  setup({
    types: { events: {} as { type: 'pay' } },
    actors: { charge: fromPromise(() => Promise.reject(new Error('no funds'))) },
    guards: { canRetry: ({ context }) => (context as { tries: number }).tries < 3 },
  }).createMachine({
    id: 'retrying',
    initial: 'idle',
    context: { tries: 0 },
    states: {
      idle: { on: { pay: 'paying' } },
      paying: {
        entry: assign({ tries: ({ context }) => (context as { tries: number }).tries + 1 }),
        invoke: { src: 'charge', onError: [{ guard: 'canRetry', target: 'backingOff' }, { target: 'stuck' }] },
      },
      backingOff: { after: { 30: 'paying' } },
      stuck: { on: { pay: 'paying' } },
    },
  }),
  { journals, logger: () => {} },
);
await (await retrying.open('retries')).park();

const tests = await inspectorTests('acting on actors', { journals, hosts: [{ host, events }, retrying] });
const { open } = tests;
const statusOf = async (id: string) => (await host.list()).find((actor) => actor.id === id)?.status;

describe.skipIf(tests.areSkipped)('the head of a durable actor', () => {
  it('shows its state, where each event leads and when each timer is due, and sends an event with its form', async () => {
    const { page } = await open('/run/form');
    await page.locator('.waits').getByText('In ready, the initial state').waitFor();
    const next = page.getByRole('list', { name: 'What can happen next' });
    expect(await next.innerText()).toMatch(
      /collect\s+collected[\s\S]*Timer patience due in (?:2 d|1 d 23 h) \(.*\)\s+returned/u,
    );
    await next.getByRole('button', { name: 'collect' }).press('Enter');
    await page.keyboard.type('A');
    const form = page.getByRole('form', { name: 'Event collect' });
    expect(await axeViolations(page, '.head-area')).toEqual([]);
    await form.getByLabel('count').fill('many');
    await form.getByRole('button', { name: 'Send collect' }).click();
    await form.getByText('Enter a number.').waitFor();
    await form.getByLabel('count').fill('2');
    await form.getByLabel('kind').selectOption('letter');
    await form.getByLabel('place.city').fill('Oslo');
    await form.getByLabel('extra').fill('["ribbon"]');
    await form.getByRole('button', { name: 'Send collect' }).click();
    await form.getByRole('textbox', { name: 'name at least 2 characters', exact: true }).waitFor();
    await page.locator('[aria-invalid="true"]:focus').waitFor();
    expect(await form.getByRole('alert').innerText()).toMatch(/^Too small/u);
    expect(await page.locator('.sent').innerText()).toBe('');
    expect(await statusOf('form')).toBe('waiting');
    await form.getByLabel('name').fill('Ada');
    await form.getByRole('button', { name: 'Send collect' }).click();
    await page.locator('.verdict').getByText('Completed').waitFor();
    expect(await page.locator('.head-area').innerText()).toMatch(/Output:.*by.*Ada/u);
    expect(await page.getByText('Timer patience').count()).toBe(0);
    const entries = await entriesOf(journals.read('form'));
    expect(entries).toContainEqual(
      expect.objectContaining({
        event: { type: 'collect', name: 'Ada', count: 2, kind: 'letter', place: { city: 'Oslo' }, extra: ['ribbon'] },
      }),
    );
  });

  it('shows timers before the events on a phone, none of them cut off', async () => {
    const { page } = await open('/run/file', { width: 390 });
    await page.locator('.next > .timer').waitFor();
    const boxes = await page.locator('.next > li').evaluateAll((items) =>
      items.map((item) => {
        const { top, right } = item.getBoundingClientRect();
        return { isTimer: item.matches('.timer'), top, isWhole: right <= innerWidth };
      }),
    );
    const [first] = boxes.sort((one, other) => one.top - other.top);
    expect([first?.isTimer, boxes.every(({ isWhole }) => isWhole)]).toEqual([true, true]);
  });

  it('closes the form of an event on Escape and for a dialog, and sends an event without data at once', async () => {
    const { page } = await open('/run/fork');
    const button = page.getByRole('list', { name: 'What can happen next' }).getByRole('button', { name: 'collect' });
    const form = page.getByRole('form', { name: 'Event collect' });
    await button.click();
    await form.getByLabel('name').press('Escape');
    expect([await form.count(), await button.evaluate((one) => one === document.activeElement)]).toEqual([0, true]);
    await button.click();
    await page.getByRole('button', { name: 'Fork…' }).click();
    expect([await form.count(), await page.getByLabel('Event for the fork').inputValue()]).toEqual([0, 'none']);
    await page.goto(page.url().replace('/run/fork', '/run/plain'));
    await page.getByRole('button', { name: 'ask', exact: true }).click();
    await page.getByRole('form', { name: 'Approval' }).waitFor();
  });

  it.each([
    ['approve', 'Approve', 'collected'],
    ['deny', 'Deny', 'returned'],
  ])('answers a question with a reason: %s', async (id, button, state) => {
    const { page } = await open(`/run/${id}`, { width: 390 });
    const form = page.getByRole('form', { name: 'Approval' });
    await form.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await axeViolations(page, '.head-area')).toEqual([]);
    await form.getByLabel('Reason').fill('as agreed');
    await form.getByRole('button', { name: button, exact: true }).click();
    await page.locator('.waits').getByText(`In ${state}`).waitFor();
    await page.locator('.step-head').getByText('approval finished').waitFor();
    await page.locator('.trace-row').getByText('approval.given').click();
    const given = page.locator('.step-view section').filter({ hasText: 'Event' }).first();
    expect(await given.innerText()).toMatch(/decision:\s+"\w+"\s+reason:\s+"as agreed"/u);
    expect(await entriesOf(journals.read(id))).toContainEqual(
      expect.objectContaining({ event: expect.objectContaining({ decision: id, reason: 'as agreed' }) }),
    );
  });

  it('shows its question without taking the focus, and after an edited approval what was changed', async () => {
    const { page } = await open('/run/edit');
    const form = page.getByRole('form', { name: 'Approval' });
    await form.getByText('No timer ends the wait').or(form.getByText('its timers still fire')).waitFor();
    expect(await form.locator(':focus').count()).toBe(0);
    // An unnamed guard decides: a replay with each answer shows where it leads.
    await form.getByText('returned').waitFor();
    expect(await form.innerText()).toMatch(/Approve\s+collected\s+Deny\s+returned/u);
    // The status is beside the title, above the question.
    const [status, question] = await Promise.all(
      ['.verdict', '.banner'].map((selector) => page.locator(selector).boundingBox()),
    );
    expect(status?.x).toBeLessThan((question?.x ?? 0) + (question?.width ?? 0));
    expect(status?.y).toBeLessThan(question?.y ?? 0);
    await form.getByRole('button', { name: 'Edit question' }).press('Enter');
    await form.getByText('(the machine may ignore the changes)').waitFor();
    const text = form.locator('textarea:focus');
    expect(await text.evaluate((field) => (field as HTMLTextAreaElement).selectionStart)).toBe(0);
    await text.fill('{');
    await form.getByRole('button', { name: 'Cancel' }).press('Enter');
    await form.getByRole('button', { name: 'Edit question' }).press('Enter');
    await form.locator('textarea:focus').fill('{ "pay": 40, "to": "Ada" }');
    const [editor, answer] = await Promise.all(
      [form.locator('textarea'), form.getByRole('button', { name: 'Approve as edited' })].map((one) =>
        one.boundingBox(),
      ),
    );
    expect(answer?.y).toBeLessThan((editor?.y ?? 0) + (editor?.height ?? 0));
    const hiddenPx = await page.locator('.head-area').evaluate((head) => head.scrollHeight - head.clientHeight);
    expect(hiddenPx).toBe(0);
    await form.getByRole('button', { name: 'Approve as edited' }).click();
    await page.getByText(/Approved with edits: pay 80\s+40, to "<img/u).waitFor();
    await page.locator('.sent').getByText('Context unchanged.').waitFor();
  });

  it('forks after the selected step, and shows that the actor ended in another state', async () => {
    const { page } = await open('/run/edited');
    await page.locator('.waits').getByText('Completed in collected').waitFor();
    await page.locator('.trace-row').getByText('ask', { exact: true }).click();
    await page.locator('.waits').getByText('Completed in collected').waitFor();
    await page.getByRole('button', { name: 'Fork…' }).click();
    await page.getByRole('dialog', { name: /^Fork after step \d+, ask/u }).waitFor();
  });

  it('shows which transition the due timer caused', async () => {
    const { page } = await open('/run/late');
    await page.getByRole('button', { name: 'Fire the due timer' }).click();
    await page.locator('.sent:has(svg)', { hasText: /Timer fired: ready\s+returned\./u }).waitFor();
  });

  it('stops it after a confirmation', async () => {
    const { page } = await open('/run/stop');
    await page.getByRole('button', { name: 'Stop…' }).click();
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor();
    expect(await statusOf('stop')).toBe('waiting');
    await page.getByRole('button', { name: 'Stop the actor' }).click();
    await page.locator('.verdict').getByText('Stopped').waitFor();
    expect(await page.locator('.head-area').innerText()).toMatch(/Stopped \w+ \d+, \d+:\d+\n/u);
    expect(await page.locator('.head-area').getByText('Stopped').allInnerTexts()).toEqual([
      'Stopped',
      expect.stringMatching(/^Stopped in /u),
    ]);
    expect(
      await page
        .locator('.trace-row')
        .getByText(/Continued|Stopped/u)
        .allInnerTexts(),
    ).toEqual(['Stopped']);
    await page.getByText('It has ended: it accepts no events, and its timers do not fire.').waitFor();
    expect(await page.getByRole('button', { name: 'Stop…' }).count()).toBe(0);
  });

  it('forks it at the selected entry with an event, and opens the fork', async () => {
    const { page } = await open('/run/fork/1');
    await page.getByRole('button', { name: 'Fork…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork after step 1, the start, in ready' });
    expect(await dialog.getByLabel('Event for the fork').evaluate((field) => field === document.activeElement)).toBe(
      true,
    );
    expect(await dialog.getByLabel('Event for the fork').getByRole('option').allInnerTexts()).toEqual([
      'none',
      'collect: collected',
      'ask: asking',
    ]);
    await dialog.getByLabel('Event for the fork').selectOption('collect');
    await dialog.getByLabel('kind').waitFor();
    expect(await axeViolations(page, 'dialog')).toEqual([]);
    await dialog.getByLabel('Event for the fork').selectOption('ask');
    await dialog.getByText('Another input').click();
    await dialog.getByLabel('Input as JSON').fill('{');
    await dialog.getByRole('button', { name: 'Start the fork' }).click();
    await dialog.getByText('Input: enter JSON.').waitFor();
    await dialog.getByLabel('Input as JSON').fill('');
    await dialog.getByRole('button', { name: 'Start the fork' }).click();
    await page.getByRole('link', { name: 'fork after step 1' }).waitFor();
    await page.getByRole('form', { name: 'Approval' }).waitFor();
    // A line of its own would take height from the chart.
    const said = await page.locator('.sent').getByText('Forked.').boundingBox();
    // Actions and their results are beside the question.
    const question = await page.locator('.banner').boundingBox();
    expect(said?.x).toBeGreaterThan((question?.x ?? 0) + (question?.width ?? 0));
    expect((said?.y ?? 0) + (said?.height ?? 0)).toBeLessThan((question?.y ?? 0) + (question?.height ?? 0));
    expect(await statusOf('fork')).toBe('waiting');
    // The copied history has the times of the original; what the fork waits for has its own.
    const original = (await host.list()).find((actor) => actor.id === 'fork');
    const started = page.locator('.trace-row', { hasText: 'Started' }).first();
    expect(await started.locator('.when').innerText()).toContain(original?.startedAt.slice(14, 19));
    await started.click();
    await page.locator('.step-view').getByText('in this fork').waitFor();
  });

  it('says that a fork has ignored its event', async () => {
    const { page } = await open('/run/retries/1');
    await page.getByRole('button', { name: 'Fork…' }).click();
    await page.getByLabel('Event for the fork').selectOption('another event');
    await page.getByRole('textbox', { name: 'Event as JSON' }).fill('{"type": "refund"}');
    await page.getByRole('button', { name: 'Start the fork' }).click();
    await page.getByText('Forked. The actor ignored the event: its states have no transition for it.').waitFor();
  });

  it('warns about an event that no current state accepts, and shows what is wrong with its text', async () => {
    const { page } = await open('/run/retries', { width: 390 });
    await page.getByRole('button', { name: 'another event' }).click();
    const form = page.getByRole('form', { name: 'Event as JSON' });
    await form.getByText('An event is a JSON object with a string "type" that is not empty.').waitFor();
    await form.getByRole('textbox').fill('{ "type": "refund" }');
    await form.getByText('No current state accepts refund; it will be ignored.').waitFor();
    expect(await form.getByRole('button', { name: 'Send refund' }).getAttribute('class')).toBe('');
    await form.getByRole('textbox').fill('{ "type": "refund"');
    await form.getByText('Not valid JSON: ').waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'pay', exact: true }).click();
    expect(await form.getByRole('button', { name: 'Send pay' }).getAttribute('class')).toBe('primary');
  });

  it('fires the short delays that follow an event, and gives the error of the call that failed last', async () => {
    const { page } = await open('/run/retries');
    await page.getByRole('list', { name: 'What can happen next' }).getByRole('button', { name: 'pay' }).click();
    const form = page.getByRole('form', { name: 'Event as JSON' });
    await form.getByRole('textbox').fill('{ "type": "payy" }');
    await form.getByRole('button', { name: 'Send payy' }).waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    expect(await form.count()).toBe(0);
    await page.getByRole('list', { name: 'What can happen next' }).getByRole('button', { name: 'pay' }).click();
    await form.getByRole('textbox').fill('{ "type": "pay", "by": "Ann" }');
    await page.getByRole('button', { name: 'Send pay', exact: true }).click();
    await page
      .locator('.waits')
      .getByText('In stuck, entered on charge failed, from paying: no funds, because')
      .waitFor();
    const types = (await entriesOf(journals.read('retries'))).filter(({ type }) => type === 'timer');
    expect(types).toHaveLength(2);
    await page.locator('.sent').getByText('Sent pay.').waitFor();
    await page.getByRole('list', { name: 'What can happen next' }).getByRole('button', { name: 'pay' }).click();
    expect(JSON.parse(await form.getByRole('textbox').inputValue())).toEqual({ type: 'pay', by: 'Ann' });
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.trace-row').first().click();
    await page.keyboard.press('Home');
    await page.locator('.trace-row', { hasText: 'charge' }).first().click();
    await page.getByRole('heading', { name: 'Context at the call' }).waitFor();
    await page.locator('.trace-row', { hasText: 'pay' }).first().click();
    const context = page.locator('.step-view section', { hasText: 'Context' });
    await context.getByText('The whole context before this step').click();
    await context.getByText(/^tries:\s+0$/u).waitFor();
    expect(await context.innerText()).toMatch(/before this step\s+tries:\s+0\s+The whole context after this step/u);
    await page.getByRole('link', { name: 'All runs and actors' }).click();
    await page.getByRole('link', { name: 'retries', exact: true }).click();
    await page.locator('.waits').getByText('In stuck').waitFor();
    expect(await page.locator('.sent').innerText()).toBe('');
  });

  it('compares it with a replay', async () => {
    const { page } = await open('/run/replay');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.locator('.sent').getByText('Identical: ').waitFor();
  });

  it('names the first difference of a replay and links to it', async () => {
    const { page } = await open('/run/changed');
    await page.getByRole('button', { name: 'Replay' }).click();
    const result = page.locator('.sent.warn');
    await result.getByRole('button', { name: 'Show' }).click();
    const [, seq, cause] =
      /^Divergence at entry (\d+): the journal has the transition from ready to lost; the machine now does the transition from ready to collected\. (.*)/u.exec(
        await result.innerText(),
      ) ?? [];
    expect(cause).toMatch(/^Likely cause: the machine has changed/u);
    await page.waitForURL(`**/changed/${seq}`);
    expect(await axeViolations(page, '.head-area')).toEqual([]);
  });

  it('opens at the last step with a transition, or at the start, and shows the context', async () => {
    const { page } = await open('/run/file', { width: 390 });
    const panel = page.locator('.step-view');
    await panel.getByText('tries', { exact: true }).waitFor();
    expect(await panel.locator('h2').first().innerText()).toBe('Started');
    expect(await panel.innerText()).toMatch(/tries:\s+3/u);
    expect(await panel.innerText()).not.toMatch(/Waits for|No change/u);
  });

  it('disables what is not possible and says what to do: without its machine', async () => {
    const { page } = await open('/run/unknown');
    await page.getByText('start the inspector with the module that exports the machine "bare"').waitFor();
    for (const name of ['Stop…', 'Fork…', 'Replay'])
      expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Download…' }).isDisabled()).toBe(false);
  });

  it('disables what is not possible and says what to do: in an exported page, without a countdown', async () => {
    const { html } = await exportRun(await entriesOf(journals.read('file')), { hosts: [host] });
    const { page } = await tests.openFile('actor.html', html);
    await page.getByText('This page is an exported file').waitFor();
    expect(await page.locator('.head-area').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('timer').count()).toBe(0);
    await page.getByText(/Timer patience due \w+ \d+, \d\d:\d\d/u).waitFor();
  });

  it('downloads a file with the name of the actor, after listing its content', async () => {
    const { page } = await open('/run/replay');
    await page.getByRole('button', { name: 'Download…' }).click();
    await page.getByText('the whole journal: input, events, contexts and the results of calls').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click();
    expect((await saved).suggestedFilename()).toBe('actor-replay.html');
  });
});
