import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { setup } from 'xstate';
import { durableFormat } from '../../../../src/durable/durable-format.ts';
import { createDurableMachine } from '../../../../src/durable/durable-machine.ts';
import { listedIds, sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { JOURNAL_STORES } from '../../../support/journal-files.ts';
import { checkLists, HOUR, idsOf, START_MS, storeActors } from '../../../support/listed-actors.ts';
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
      expect(plan).not.toMatch(
        /\bSCAN (?:main\.)?journal\b(?! USING (?:COVERING )?INDEX journal_un(?:indexed|searchable))/u,
      );
      expect(plan).toMatch(
        'terms' in list
          ? /SEARCH term USING PRIMARY KEY \(term=\?\)/u
          : /SEARCH journal USING (?:COVERING )?INDEX journal_by_(?:machine|state)/u,
      );
      expect(plan).toMatch(/SEARCH journal USING INTEGER PRIMARY KEY \(rowid=\?\)/u);
      expect(plan).toMatch(/SEARCH start USING INTEGER PRIMARY KEY/u);
    }
    database.close();
  });

  it('is read as far as the list needs, also for journals of processes that store no start', async () => {
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
    const database = new Database(path);
    database.exec('DELETE FROM start WHERE journal IN (SELECT id FROM journal WHERE name IN (\'"o-496"\', \'"o-0"\'))');
    database.close();
    expect((await listed()).map(({ id }) => id)).toEqual(ids);
  });

  /** Makes a file what the version before the terms wrote, or, with `isOldest`, the one before the index columns. */
  async function oldFile(isOldest = true): Promise<string> {
    const path = pathOf();
    const journals = sqliteJournals(path);
    await storeActors(journals);
    journals.close();
    const database = new Database(path);
    database.exec('DROP TABLE term; DROP INDEX journal_unsearchable; ALTER TABLE journal DROP COLUMN searchable');
    if (isOldest)
      database.exec(`DROP INDEX journal_by_state; DROP INDEX journal_by_machine; DROP INDEX journal_unindexed;
      ALTER TABLE journal DROP COLUMN indexed; ALTER TABLE journal DROP COLUMN machine;
      ALTER TABLE journal DROP COLUMN state; ALTER TABLE journal DROP COLUMN due_ms; PRAGMA user_version = 1`);
    database.close();
    return path;
  }
  const statesIn = (path: string): readonly unknown[] => {
    const database = new Database(path);
    const rows = database.prepare('SELECT machine, state, due_ms FROM journal ORDER BY name').all([]);
    database.close();
    return rows.map((row) => Object.values(row as object));
  };

  it('of an earlier version is upgraded, and a list indexes its journals', async () => {
    const path = await oldFile();
    const journals = sqliteJournals(path);
    onTestFinished(() => journals.close());
    expect(idsOf(await journals.list({ dueBefore: START_MS + HOUR }))).toEqual(['ann']);
    await expect
      .poll(() => statesIn(path))
      .toEqual([
        ['"order"', 'waiting', START_MS + HOUR],
        ['"order"', 'waiting', START_MS + 1.25 * HOUR],
        ['"purchase"', 'waiting', null],
        ['"purchase"', 'open', null],
        ['"order"', 'ended', null],
      ]);
    expect(idsOf(await journals.list({ dueBefore: START_MS + HOUR }))).toEqual(['ann']);
  });

  it('of an earlier version is listed as it is while processes of that version write to it', async () => {
    const path = await oldFile();
    const journals = sqliteJournals(path);
    onTestFinished(() => journals.close());
    const due = async () => idsOf(await journals.list({ dueBefore: START_MS + HOUR }));
    const old = new Database(path);
    onTestFinished(() => void old.close());
    const take = (name: string) =>
      old.exec(`UPDATE journal SET owner = '{}', token = abs(random()) WHERE name = '"${name}"'`);
    // "ann" is held by a process of that version when it is first listed, and "bob" afterwards.
    take('ann');
    await due();
    await expect.poll(() => statesIn(path)[1]).toEqual(['"order"', 'waiting', START_MS + 1.25 * HOUR]);
    expect(statesIn(path)[0]).toEqual([null, null, null]);
    take('bob');
    old.exec(`DELETE FROM line WHERE journal = (SELECT id FROM journal WHERE name = '"bob"') AND seq > 0`);
    old.exec('UPDATE journal SET owner = NULL');
    expect(await due()).toEqual(['ann']);
    expect(idsOf(await journals.list({ status: 'interrupted' }))).toEqual(['bob', 'killed']);
  });

  it('of a version without attributes is searched for them, stays readable for it, and is indexed by a list', async () => {
    const path = await oldFile(false);
    const journals = sqliteJournals(path);
    onTestFinished(() => journals.close());
    const found = async () => idsOf(await journals.list({ where: { customer: ['Ann', 'Zoe'] } }));
    expect(await found()).toEqual(['ann']);
    const database = new Database(path);
    onTestFinished(() => void database.close());
    const rows = (sql: string) => (database.prepare(sql).all([]) as object[]).map((row) => Object.values(row)[0]);
    await expect.poll(() => rows('SELECT count(*) FROM journal WHERE token IS NOT searchable')).toEqual([0]);
    expect(rows('PRAGMA user_version')).toEqual([2]);
    expect(rows('SELECT term FROM term WHERE journal = 1 ORDER BY term')).toEqual([
      '"customer":"Ann"',
      '"isNew":true',
      '"room":7',
    ]);
    // A process of that version takes a lease, and deletes a journal.
    database.exec(`UPDATE journal SET token = 1 WHERE name = '"ann"'; DELETE FROM journal WHERE name = '"bob"'`);
    expect(await found()).toEqual(['ann']);
    expect(idsOf(await journals.list({ where: { customer: 'Bob' } }))).toEqual([]);
    await journals.delete('ann');
    expect(rows('SELECT count(*) FROM term WHERE journal = 1')).toEqual([0]);
  });

  it.each([true, false])('of an earlier version is listed even if it is read-only', async (isOldest) => {
    const path = await oldFile(isOldest);
    const { prepare } = Database.prototype;
    const spy = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql) {
      if (!/^\s*(?:ALTER|UPDATE|CREATE TABLE)/u.test(sql)) return prepare.call(this, sql) as never;
      throw Object.assign(new Error('attempt to write a readonly database'), { code: 'SQLITE_READONLY' });
    });
    onTestFinished(() => spy.mockRestore());
    const journals = sqliteJournals(path);
    expect(idsOf(await journals.list())).toEqual(['ann', 'bob', 'bought', 'killed', 'paid']);
    expect(idsOf(await journals.list({ machine: 'order', dueBefore: START_MS + HOUR }))).toEqual(['ann']);
    expect(idsOf(await journals.list({ where: { customer: 'Bob' } }))).toEqual(['bob']);
    journals.close();
  });
});
