import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import type { Journals } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { postgresJournals } from '../../../../src/durable/journals/postgres-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { createDurableMachine } from '../../../../src/entries/durable.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { writeJournal } from '../../../support/journal-files.ts';
import { createRandom, SEED } from '../../../support/random.ts';

const TEXTS = ['order', 'Order', 'a\0b', '"', "'; DROP TABLE journal; --", 'é', 'e\u0301', '\ud800', '%', '__proto__'];
const TIMES = ['1969-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'];
const DUE = [null, 0, -1, 1.5, 5e-324, Date.parse('2026-01-01'), Number.MAX_SAFE_INTEGER, 1e300];
const VALUES = [null, true, 0, 1, '', 'alice', ...TEXTS];

it('lists of all stores have the same journals in the same order, whatever the options', async () => {
  const { pick, chance } = createRandom(SEED);
  const pglite = await PGlite.create();
  const stores: readonly Journals[] = [
    memoryJournals(),
    fileJournals(temporaryFolder()),
    sqliteJournals(join(temporaryFolder(), 'actors.db')),
    postgresJournals(pglite),
  ];
  const actor = createDurableMachine(createMachine({ id: 'order' }), { journals: memoryJournals() }).start('a');
  const [first] = actor.entries as readonly [DurableEntry];
  await actor.close();
  const lastEntry = () =>
    pick([
      [],
      [{ type: 'closed' }],
      [{ type: 'end', status: pick(['done', 'error', 'stopped']), output: null, error: null }],
      ...Array.from({ length: 3 }, () => {
        const waiting = { sinceMs: 1, dueAtMs: pick(DUE), events: pick([[], ['PAY'], ['__proto__']]), approvals: [] };
        return [{ type: 'closed', waiting, summary: pick([null, { for: 'consent', owner: 'alice' }]) }];
      }),
    ]);
  for (const id of [...TEXTS, ...Array.from({ length: 30 }, (_, at) => `id-${at}`)]) {
    const product = pick<unknown>([null, 5, 'x', [], { owner: pick(VALUES) }, { owner: pick(VALUES), toString: 1 }]);
    const start = {
      ...first,
      actorId: id,
      startedAt: pick(TIMES),
      machine: { id: pick(TEXTS), version: null },
      product,
    };
    const entries = [start, ...lastEntry().map((last) => ({ seq: 1, atMs: 1, ...last }))];
    for (const store of stores) await writeJournal(store, id, entries as never);
  }
  const option = (share: number, name: string, from: readonly unknown[]) => chance(share) && { [name]: pick(from) };
  for (let tries = 0; tries < 300; tries += 1) {
    const options = {
      ...option(0.4, 'machine', TEXTS),
      ...option(0.4, 'status', ['done', 'running', 'waiting', 'interrupted', [], ['damaged', 'interrupted']]),
      ...option(0.2, 'waitingFor', ['PAY', 'approval', '__proto__', 'consent', '']),
      ...option(0.3, 'dueBefore', [...DUE.slice(1), Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0]),
      ...option(0.3, 'where', [{}, { owner: pick(VALUES) }, { toString: 1 }, { for: 'consent' }]),
      ...option(
        0.3,
        'after',
        ['', '9', '\0', '\ud800', ...TIMES].map((startedAt) => ({ startedAt, id: pick(TEXTS) })),
      ),
      ...option(0.4, 'limit', [0, 1, 2, 5, Number.POSITIVE_INFINITY]),
    };
    const found = stores.map((store) => store.list(options as never).catch(({ code }) => code));
    const [expected, ...others] = await Promise.all(found);
    expect(others, JSON.stringify(options)).toEqual(others.map(() => expected));
  }
  await pglite.close();
});
