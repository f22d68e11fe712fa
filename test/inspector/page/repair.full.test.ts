import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';
import { axeViolations, tooWideElements } from '../../support/inspector/page-checks.ts';

let isUp = false;
const order = setup({
  types: { context: {} as { receipt: string }, events: {} as { type: 'PAY' | 'BAD' | 'RUSH' | 'SHIP' } },
  actors: {
    charge: fromPromise(async () => {
      if (!isUp) throw new Error('card service is down');
      return 'receipt 7';
    }),
  },
}).createMachine({
  id: 'order',
  context: { receipt: '' },
  initial: 'cart',
  states: {
    cart: {
      on: {
        PAY: 'paying',
        RUSH: 'rushing',
        BAD: {
          actions: assign(() => {
            throw new Error('no price');
          }),
        },
      },
    },
    paying: {
      invoke: {
        src: 'charge',
        onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
      },
    },
    rushing: { invoke: { src: 'charge', onDone: 'paid', onError: 'refused' } },
    refused: {
      entry: () => {
        throw new Error('no one to tell');
      },
      on: { SHIP: 'shipped' },
    },
    paid: { on: { SHIP: 'shipped' } },
    shipped: { type: 'final' },
  },
});

const journals = memoryJournals();
const host = createDurableMachine(order, { journals, logger: () => {} });

async function failed(id: string, type: 'PAY' | 'BAD' | 'RUSH' = 'PAY'): Promise<void> {
  const actor = await host.open(id);
  await actor.send({ type });
  await actor.output.catch(() => {});
}

for (const id of ['retry', 'skip', 'again', 'list-1', 'list-2']) await failed(id);
for (const id of ['bad', 'list-bad']) await failed(id, 'BAD');
await failed('caused', 'RUSH');
await (await host.open('quarantined')).park();
await host.quarantine('quarantined', '3 processes in a row ended while they continued it');
isUp = true;

const tests = await inspectorTests('repairing actors', { journals, hosts: [host] });
const { open } = tests;
const statusOf = async (id: string) => (await host.list()).find((actor) => actor.id === id)?.status;

describe.skipIf(tests.areSkipped)('the head of an actor that cannot go on', () => {
  it('retries what failed, and then shows both attempts and the state after the second', async () => {
    const { page } = await open('/run/retry');
    const button = page.getByRole('button', { name: 'Retry charge', exact: true });
    await page.waitForFunction(() => document.querySelector('.run-head button.primary:enabled') !== null);
    expect(await axeViolations(page, '.head-area')).toEqual([]);
    await button.press('Enter');
    await page.getByText('In paid, entered on charge finished, from paying').waitFor();
    const rows = await page.locator('.trace-row').allInnerTexts();
    expect(rows.filter((row) => /^(?:\d+\s*)?charge/u.test(row))).toHaveLength(3);
    expect(rows.some((row) => row.startsWith('Retried'))).toBe(true);
    expect(await page.locator('.run-head').innerText()).not.toContain('card service is down');
    expect(await statusOf('retry')).toBe('waiting');
    await page.getByText('"receipt 7"', { exact: true }).first().waitFor();
  });

  it('skips what failed with the result of the form', async () => {
    const { page } = await open('/run/skip', { width: 390 });
    await page.waitForFunction(() => document.querySelector('.run-head button.primary:enabled') !== null);
    await page.getByRole('button', { name: 'Skip charge…', exact: true }).press('Enter');
    const form = page.getByRole('form', { name: 'Repair' });
    await form.getByLabel('Result of a call').fill('by hand');
    await form.getByText('Result: enter JSON.').waitFor();
    expect(await axeViolations(page, 'dialog')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
    await form.getByLabel('Result of a call').fill('"by hand"');
    await page.getByRole('heading', { name: 'Skip charge' }).waitFor();
    await form.getByText('the actor continues in paid. It accepts SHIP there.').waitFor();
    await form.getByText(/Checking|enter JSON/u).waitFor({ state: 'hidden' });
    await form.getByRole('button', { name: 'Skip' }).press('Enter');
    await page.getByText('In paid, entered on charge finished, from paying').waitFor();
    await page.locator('.run-head').getByText('skipped charge, with "by hand"').waitFor();
    expect((await host.query('skip')).snapshot.context).toEqual({ receipt: 'by hand' });
  });

  it('shows the root cause of a failed action first, and where skipping the action leads', async () => {
    const { page } = await open('/run/caused');
    await page
      .getByText(
        'Root cause: charge failed: card service is down. The entry action of refused then threw: no one to tell',
      )
      .waitFor();
    expect(await page.locator('.step-view').innerText()).toMatch(
      /^Failed[\s\S]*charge failed[\s\S]*Entry action of refused threw/u,
    );
    expect(await page.locator('.run-head button.primary').count()).toBe(0);
    await page.getByRole('button', { name: 'Fork before charge to call it again' }).click();
    const fork = page.getByRole('dialog', { name: /^Fork after step \d+, RUSH, in / });
    await fork.getByText('The fork starts charge again.').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.trace-row.activity').first().click();
    await page.getByRole('button', { name: 'Fork…' }).click();
    await fork.getByText('The fork starts charge again.').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('.run-head button[aria-label^=Skip]:enabled') !== null);
    await page.getByRole('button', { name: 'Skip entry action of refused…' }).press('Enter');
    await page.getByText('the actor continues in refused. It accepts SHIP there.').waitFor();
  });

  it('says why it cannot be retried', async () => {
    const { page } = await open('/run/bad');
    await page.getByText('Cannot be retried: it fails again: no price').waitFor();
    expect(await page.getByRole('button', { name: 'Retry' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Skip BAD…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Skip BAD' });
    await dialog.getByText('The event counts as never sent').waitFor();
    expect(await dialog.getByLabel('Result of a call').count()).toBe(0);
  });

  it('says that it failed again, and is red in the chart also before the retry', async () => {
    isUp = false;
    const { page } = await open('/run/again');
    await page.waitForFunction(() => document.querySelector('.run-head button.primary:enabled') !== null);
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await page.getByText('retried charge; it failed again').waitFor();
    isUp = true;
    await page.reload();
    await page.getByText('retried charge; it failed again').waitFor();
    expect(await page.locator('.trace-row', { hasText: 'Continued' }).count()).toBe(0);
    await page.locator('.trace-row.end').first().click();
    await page.locator('.state.failed[data-state="order.paying"]').waitFor();
  });

  it('says why it is quarantined, and releases it', async () => {
    const { page } = await open('/run/quarantined');
    await page.getByText('Quarantined: 3 processes in a row ended while they continued it.').waitFor();
    await page.getByRole('button', { name: 'Release' }).press('Enter');
    await page.getByText('Released.').waitFor();
    await page.getByText('Interrupted').waitFor();
    expect((await host.list()).find(({ id }) => id === 'quarantined')?.reason).toBeNull();
    await host.quarantine('quarantined', 'again');
  });
});

describe.skipIf(tests.areSkipped)('the list', () => {
  it('shows why actors are quarantined, and only those on request', async () => {
    const { page } = await open('/');
    await page.getByRole('button', { name: '1 quarantined' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(await page.locator('tbody tr').innerText()).toContain('again');
  });

  it('repairs the selected actors, after it has shown what would happen to each', async () => {
    const { page } = await open('/', { width: 390 });
    for (const id of ['list-1', 'list-2', 'list-bad', 'quarantined']) await page.getByLabel(`Select ${id}`).check();
    await page.getByRole('button', { name: 'Repair…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Repair 4 actors' });
    const results = (name: string) => dialog.getByRole('list', { name }).locator('li').allInnerTexts();
    await dialog.getByRole('button', { name: 'Retry 2 actors' }).waitFor();
    expect([...(await results('What would happen'))].sort()).toEqual([
      'list-1: would be retried',
      'list-2: would be retried',
      'list-bad: it fails again: no price',
      'quarantined: it has not failed.',
    ]);
    expect(await statusOf('list-1')).toBe('error');
    expect(await axeViolations(page, 'dialog')).toEqual([]);
    expect(await page.evaluate(tooWideElements)).toEqual([]);
    const options = dialog.getByLabel('Action').locator('option');
    expect(await options.allTextContents()).toEqual(['Retry', 'Skip', 'Release', 'Stop']);
    await dialog.getByLabel('Action').selectOption('release');
    await dialog.getByRole('button', { name: 'Release 1 actor' }).waitFor();
    await dialog.getByLabel('Action').selectOption('retry');
    await dialog.getByRole('button', { name: 'Retry 2 actors' }).press('Enter');
    await dialog.getByText('2 actors retried. A worker continues them, or you do on their pages.').waitFor();
    expect(await results('What happened')).toContain('list-1: retried');
    expect(await statusOf('list-1')).toBe('interrupted');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Select quarantined').check();
    await page.getByRole('button', { name: 'Repair…' }).press('Enter');
    expect(await page.getByRole('dialog').locator('option').allTextContents()).toEqual(['Release', 'Stop']);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('tbody').innerText()).toMatch(/list-1[\s\S]*interrupted/u);
  });
});
