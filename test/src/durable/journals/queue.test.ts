import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMachine } from 'xstate';
import { createDurableMachine } from '../../../../src/durable/durable-machine.ts';
import type { Journals } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import '../../../support/fast-check-seed.ts';
import { checkQueue, queueArb } from '../../../support/queued-journals.ts';

const newPath = () => join(temporaryFolder(), 'actors.db');
const STORES: readonly (readonly [string, () => Journals])[] = [
  ['memory', () => memoryJournals()],
  ['SQLite', () => sqliteJournals(newPath())],
];

describe.each(STORES)('a queue in %s', (_, open) => {
  it('begins what its limits allow, in order, whatever happens to its journals', async () => {
    await fc.assert(fc.asyncProperty(queueArb, (scenario) => checkQueue(open(), scenario)));
    expect.assertions(expect.getState().assertionCalls);
  });
});

describe('a queue in an SQLite file', () => {
  const machine = createMachine({ id: 'order' });
  const hostOn = (journals: Journals) =>
    createDurableMachine(machine, {
      journals,
      queue: { key: (input) => input as string | undefined, perKey: { concurrency: 1 } },
    });
  const openHost = (path: string, options = {}) => {
    const journals = sqliteJournals(path, options);
    onTestFinished(() => journals.close());
    return hostOn(journals);
  };

  it('is never scanned by a claim', async () => {
    const path = newPath();
    const host = openHost(path);
    for (const id of ['a', 'b', 'c']) await host.enqueue(id, { input: 'key' });
    await host.enqueue('later', { delayMs: 1e9, priority: 3 });
    await host.claim(1);
    await host.open('b');
    const asked = new Set<string>();
    const { prepare } = Database.prototype;
    const spy = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql) {
      asked.add(sql);
      return prepare.call(this, sql) as never;
    });
    const other = openHost(path);
    await other.claim(3);
    spy.mockRestore();
    const database = new Database(path);
    onTestFinished(() => void database.close());
    const plans = [...asked]
      .filter((sql) => /\bqueue\b/u.test(sql) && !/^\s*(?:CREATE|SELECT 1 FROM sqlite)/u.test(sql))
      .flatMap((sql) => {
        const values = Array(sql.split('?').length - 1).fill('[]');
        return (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]).map(
          ({ detail }) => detail,
        );
      });
    expect(plans.length).toBeGreaterThan(5);
    expect(plans.filter((detail) => /SCAN (?!json_each)/u.test(detail))).toEqual([]);
    expect(plans.filter((detail) => /TEMP B-TREE/u.test(detail))).toEqual([]);
  });

  it('holds the key of an actor only as a digest, also if the lines are encoded', async () => {
    const path = newPath();
    const codec = {
      encode: (line: string) => Buffer.from(line).toString('base64'),
      decode: (line: string) => Buffer.from(line, 'base64').toString(),
    };
    const host = openHost(path, { codec });
    await host.enqueue('a', { input: 'secret' });
    await host.enqueue('b', { input: 'secret' });
    const database = new Database(path);
    onTestFinished(() => void database.close());
    expect(database.prepare('SELECT key FROM queue').all([])).toEqual(
      Array(2).fill({ key: expect.stringMatching(/^[0-9a-f]{32}$/u) }),
    );
    expect(await host.claim(5)).toEqual(['a']);
    expect(await host.list({ status: 'queued' })).toMatchObject([{ id: 'b', queued: { key: 'secret' } }]);
  });
});
