import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { createDurableMachine, fromDurable, memoryJournals } from '../../../src/entries/durable.ts';
import { inspectorTests } from '../../support/inspector/inspector-page.ts';

const shipment = setup({}).createMachine({
  id: 'shipment',
  initial: 'packing',
  states: { packing: { on: { PACKED: 'sent' } }, sent: { type: 'final' } },
  output: 'label 7',
});

const journals = memoryJournals();
const shipments = createDurableMachine(shipment, { journals, logger: () => {}, queue: { concurrency: 1 } });
const order = setup({ actors: { ship: fromDurable(shipments) } }).createMachine({
  id: 'order',
  initial: 'shipping',
  states: { shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'shipped' } }, shipped: {} },
});
const orders = createDurableMachine(order, { journals, logger: () => {} });
await (await orders.open('o-17')).park();
const [child] = await shipments.list({ where: { parent: 'o-17' } });

const tests = await inspectorTests('child processes', { journals, hosts: [orders, shipments] });

describe.skipIf(tests.areSkipped)('a child process', () => {
  it('has a link to its parent and from it, begins on request, and its result is that of a call', async () => {
    const { page } = await tests.open('/run/o-17');
    const head = page.locator('.run-head');
    await head.getByRole('link', { name: child?.id ?? '' }).click();
    const place = 'Queued: begins when a worker has a free slot; at most 1 at a time (0 have not ended)';
    await head.getByText(place).waitFor();
    await page.getByRole('button', { name: 'Begin now' }).click();
    await page.getByRole('button', { name: 'PACKED' }).click();
    await page.getByRole('button', { name: /^Send/u }).click();
    await head.getByText('Completed', { exact: true }).waitFor();
    await head.getByRole('link', { name: 'o-17' }).click();
    await orders.wake();
    await head.getByText('entered on ship finished, from shipping').waitFor();
    const rows = await page.locator('.trace-row').allInnerTexts();
    expect(rows.filter((row) => /ship|child/u.test(row.replace(/^\d+\s+/u, '').split('\n')[0] ?? ''))).toHaveLength(2);
    await page.locator('.trace-row.activity').click();
    await page.getByRole('heading', { name: 'Child process ship' }).waitFor();
    await page.locator('.step-area').getByText('"label 7"').waitFor();
    await page
      .locator('.step-area')
      .getByRole('link', { name: child?.id ?? '' })
      .waitFor();
  });
});
