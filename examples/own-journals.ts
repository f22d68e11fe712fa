import { createDurableMachine, customJournals, type JournalBackend, PostChainError } from 'postchain/durable';
import { journalStoreChecks } from 'postchain/testing';
import { createMachine } from 'xstate';

/** Stands for a table of your database: the lines of each journal, and which writer has it. */
type Rows = Map<string, { readonly lines: string[]; writer: object | null }>;

export function ownBackend(rows: Rows = new Map()): JournalBackend {
  function rowOf(id: string, mustBeFree: boolean) {
    const row = rows.get(id);
    if (row === undefined) throw new PostChainError('unknown_journal', `There is no journal ${JSON.stringify(id)}`);
    if (mustBeFree && row.writer !== null)
      throw new PostChainError('journal_held', `Another writer has the journal ${JSON.stringify(id)}`);
    return row;
  }
  /** From now on, no earlier writer can append to the journal. */
  function sinkOf(id: string) {
    const [row, writer] = [rowOf(id, false), {}];
    row.writer = writer;
    return {
      append(lines: readonly string[]) {
        if (rows.get(id) !== row || row.writer !== writer)
          throw new PostChainError('journal_fenced', `Another writer has taken over ${JSON.stringify(id)}`);
        row.lines.push(...lines);
      },
      close() {
        if (row.writer === writer) row.writer = null;
      },
    };
  }
  return {
    create(id) {
      if (rows.has(id)) throw new PostChainError('journal_exists', `${JSON.stringify(id)} exists; use a new id`);
      rows.set(id, { lines: [], writer: null });
      return sinkOf(id);
    },
    reopen(id, { force = false }) {
      rowOf(id, !force);
      return sinkOf(id);
    },
    lines: (id, from) => rowOf(id, false).lines.slice(from),
    *bounds() {
      for (const [id, { lines, writer }] of rows) {
        const [first = '', last = ''] = [lines[0], lines.at(-1)];
        yield { id, version: String(lines.length), lines: { first, last }, isWritten: writer !== null };
      }
    },
    remove(id) {
      rowOf(id, true);
      rows.delete(id);
    },
  };
}

const machine = createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { PAY: 'paid' } }, paid: { on: { SHIP: 'shipped' } }, shipped: { type: 'final' } },
});
const orders = createDurableMachine(machine, { journals: customJournals(ownBackend()) });
const order = await orders.open('o-17');
await order.send({ type: 'PAY' });
console.log((await orders.list({ status: 'running', limit: 10 })).length); // 1
await order.send({ type: 'SHIP' });

const open = () => customJournals(ownBackend());
for (const { name, check } of journalStoreChecks({ open, journal: order.entries }))
  await check().then((skipped) => console.log(name, skipped ?? 'passed'));
