import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { setup } from 'xstate';
import { durableFormat } from '../../../../src/durable/durable-format.ts';
import { createDurableMachine } from '../../../../src/durable/durable-machine.ts';
import { listedIds, sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { JOURNAL_STORES } from '../../../support/journal-files.ts';
import { checkLists, START_MS, storeActors } from '../../../support/listed-actors.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

it.each(JOURNAL_STORES)('a list of %s has the journals that match every option', async (_, open) => {
  const journals = open();
  await storeActors(journals);
  await checkLists(journals);
});

describe('an SQLite file', () => {
  const pathOf = () => join(temporaryFolder(), 'actors.db');

  it('is searched with an index for a status, a machine or a due time', async () => {
    const path = pathOf();
    const journals = sqliteJournals(path);
    await storeActors(journals);
    journals.close();
    const database = new Database(path);
    const planOf = (list: Parameters<typeof listedIds>[0]): string => {
      const { sql, values } = listedIds(list);
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
      return (plan.all(values) as { detail: string }[]).map(({ detail }) => detail).join('\n');
    };
    for (const list of [
      { machine: 'order' },
      { states: ['waiting'] as const },
      { states: ['open', 'waiting'] as const },
      { states: ['waiting'] as const, dueBefore: START_MS },
      { machine: 'order', states: ['waiting'] as const, dueBefore: START_MS },
      { machine: 'order', terms: [['"customer":"Ann"'], ['"room":7', '"room":8']] },
    ]) {
      const plan = planOf(list);
      expect(plan).not.toMatch(/\bSCAN (?:main\.)?journal\b(?! USING (?:COVERING )?INDEX journal_unindexed)/u);
      expect(plan).toMatch(
        'terms' in list
          ? /SEARCH term USING PRIMARY KEY \(term=\?\)/u
          : /SEARCH journal USING (?:COVERING )?INDEX journal_by_(?:machine|state)/u,
      );
      expect(plan).toMatch(/SEARCH journal USING INTEGER PRIMARY KEY \(rowid=\?\)/u);
    }
    database.close();
  });

  it('is read as far as the list needs', async () => {
    const path = pathOf();
    const journals = sqliteJournals(path);
    const machine = setup({}).createMachine({ id: 'order', initial: 'open', states: { open: {} } });
    const clock = new TestClock();
    const host = createDurableMachine(machine, { journals, clock, describeAttributes: () => ({ customer: 'Ann' }) });
    for (let number = 0; number < 500; number += 1)
      await host.start(`o-${number}`, { startedAtMs: 1_000 * (number % 7) + number }).close();
    const summarize = vi.spyOn(durableFormat, 'summarize');
    onTestFinished(() => summarize.mockRestore());
    const listed = () => host.list({ where: { customer: 'Ann' }, limit: 3 });
    const ids = (await listed()).map(({ id }) => id);
    expect(ids).toEqual(['o-496', 'o-489', 'o-482']);
    expect(summarize.mock.calls.length).toBeLessThanOrEqual(4);
    const page = await host.list({ after: { id: 'o-489', startedAt: new Date(6_489).toISOString() }, limit: 1 });
    expect(page.map(({ id }) => id)).toEqual(['o-482']);
    journals.close();
  });

  it('is listed without an end at journals of another key', async () => {
    const path = pathOf();
    const keyed = (key: string) =>
      sqliteJournals(path, {
        codec: { encode: (line) => `${key}${line}`, decode: (line) => line.split(key)[1] ?? '' },
      });
    const [ours, others] = [keyed('#ours#'), keyed('#others#')];
    const machine = setup({}).createMachine({ id: 'order', initial: 'open', states: { open: {} } });
    for (let number = 0; number < 6; number += 1)
      await createDurableMachine(machine, { journals: number < 3 ? ours : others })
        .start(`o-${number}`, { startedAtMs: 1_000 * number })
        .close();
    const first = await ours.list({ limit: 2 });
    expect(first.map(({ id }) => id)).toEqual(['o-2', 'o-1']);
    const all = await ours.list();
    const [damaged] = all.filter(({ status }) => status === 'damaged');
    expect(all.length).toBe(6);
    expect(await ours.list({ after: damaged as never })).toEqual(all.slice(4));
    // Although they started later than those of the first page.
    expect(await ours.list({ after: first[1] as never, limit: 3 })).toEqual(all.slice(2, 5));
    ours.close();
    others.close();
  });

  it('is listed correctly after processes were killed while holding leases', async () => {
    const path = pathOf();
    const journals = sqliteJournals(path);
    onTestFinished(() => journals.close());
    await storeActors(journals);
    const database = new Database(path);
    onTestFinished(() => void database.close());
    database.exec(
      "UPDATE journal SET token = abs(random()), machine = NULL, state = 'ended', due_ms = NULL; DELETE FROM term",
    );
    await checkLists(journals);
  });

  it('keeps the index of a journal that was opened without writing', async () => {
    const path = pathOf();
    const journals = sqliteJournals(path);
    await storeActors(journals);
    const database = new Database(path);
    onTestFinished(() => void database.close());
    const unindexed = () => database.prepare('SELECT name FROM journal WHERE token IS NOT indexed').all([]);
    const before = unindexed();
    await (await journals.open('ann')).writer.close();
    expect(unindexed()).toEqual(before);
    journals.close();
  });
});
