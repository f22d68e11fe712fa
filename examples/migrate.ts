import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { describeFinding, explore, findingsOf, migratesTo } from 'postchain/testing';
import { setup } from 'xstate';

const first = setup({ types: { context: {} as { cents: number } } }).createMachine({
  id: 'order',
  version: '1',
  context: { cents: 1_200 },
  initial: 'waiting',
  states: { waiting: { on: { pay: 'paid' } }, paid: { type: 'final' } },
});
const second = setup({ types: { context: {} as { euros: number } }, delays: { week: 604_800_000 } }).createMachine({
  id: 'order',
  version: '2',
  context: { euros: 12 },
  initial: 'open',
  states: {
    open: { on: { pay: 'paid' }, after: { week: 'expired' } },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});
const migration = {
  state: { waiting: 'open' },
  context: ({ cents }: { cents: number }) => ({ euros: cents / 100 }),
};

// In a test: checks that every state in which an order can wait moves to one that the new version reaches.
const findings = findingsOf(explore(first), [migratesTo(explore(second), migration)]);
console.log(findings.map(describeFinding).join('\n'));

const journals = memoryJournals();
await (await createDurableMachine(first, { journals }).open('o-17')).close();

// After the deployment, the order continues on the new version.
const orders = createDurableMachine(second, { journals, versions: { '1': first }, migrate: { '1': migration } });
const order = await orders.open('o-17');
console.log(JSON.stringify(order.getSnapshot().value), JSON.stringify(order.getSnapshot().context));
await order.close();
