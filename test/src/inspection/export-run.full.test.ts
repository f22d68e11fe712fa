import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { exportRun } from '../../../src/entries/inspection.ts';

it('exports the entries that a store yields', async () => {
  const journals = memoryJournals();
  const machine = createMachine({ id: 'order', version: '1', initial: 'open', states: { open: {} } });
  const actor = await createDurableMachine(machine, { journals }).open('o-1');
  await actor.close();

  const { html } = await exportRun(journals.read('o-1'));
  expect(html).toContain('o-1');
});
