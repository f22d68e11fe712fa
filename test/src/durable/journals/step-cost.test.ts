import fs from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { setup } from 'xstate';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { createDurableMachine } from '../../../../src/entries/durable.ts';
import { temporaryFolder } from '../../../support/cli.ts';

const counter = setup({
  types: { events: {} as { type: 'line.added'; price: number } },
  guards: { isPriced: ({ event }) => event.price > 0 },
}).createMachine({
  initial: 'even',
  states: {
    even: { on: { 'line.added': { guard: 'isPriced', target: 'odd' } } },
    odd: { on: { 'line.added': { guard: 'isPriced', target: 'even' } } },
  },
});

/** Counts calls by name: those of the file system in a folder, and the statements of SQLite by their first word. */
function countCalls(folder: string): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const name of ['openSync', 'closeSync', 'readFileSync', 'statSync', 'fstatSync', 'appendFileSync'] as const) {
    const call = fs[name] as (...given: unknown[]) => unknown;
    const spy = vi.spyOn(fs, name).mockImplementation((...given: unknown[]) => {
      // Modules that are loaded meanwhile are files of other folders.
      if (typeof given[0] !== 'string' || given[0].startsWith(folder)) count(name);
      return call(...given) as never;
    });
    onTestFinished(() => spy.mockRestore());
  }
  const wordOf = (sql: string): string => /\w+/u.exec(sql)?.[0] ?? '';
  const { prepare, exec } = Database.prototype;
  const prepared = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: never, sql) {
    count('prepare');
    const statement = prepare.call(this, sql);
    for (const name of ['run', 'all'] as const) {
      const call = statement[name].bind(statement) as (...given: unknown[]) => never;
      statement[name] = (...given: unknown[]) => {
        count(wordOf(sql));
        return call(...given);
      };
    }
    return statement;
  });
  const executed = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: never, sql) {
    count(wordOf(sql));
    return exec.call(this, sql);
  });
  onTestFinished(() => [prepared, executed].forEach((spy) => void spy.mockRestore()));
  return counts;
}

const STORES = {
  memory: () => memoryJournals(),
  files: fileJournals,
  SQLite: (folder: string) => sqliteJournals(join(folder, 'x.db')),
};
const ROUNDS = 10;

/** The lines of the first actor's journal, as they are stored. */
const LINES: Readonly<Record<string, (folder: string) => readonly string[]>> = {
  memory: () => [],
  files: (folder) => fs.readFileSync(join(folder, 'order-0.jsonl'), 'utf8').trim().split('\n'),
  SQLite(folder) {
    const database = new Database(join(folder, 'x.db'), { readonly: true });
    const rows = database.prepare('SELECT line FROM line WHERE journal = 1 ORDER BY seq').all([]);
    database.close();
    return (rows as { line: string }[]).map(({ line }) => line);
  },
};

/** Two reads of the lock, before and after each write, and whether the journal has been removed meanwhile. */
const FILE_STEP = { openSync: 2, closeSync: 2, readFileSync: 2, statSync: 4, fstatSync: 3, appendFileSync: 1 };

it.each<[keyof typeof STORES, number, Readonly<Record<string, number>>]>([
  ['memory', 1, {}],
  ['memory', 20, {}],
  ['files', 1, FILE_STEP],
  ['files', 20, FILE_STEP],
  ['SQLite', 1, { INSERT: 1, statSync: 1 }],
  ['SQLite', 20, { INSERT: 2 / 20, statSync: 1 / 20, BEGIN: 1 / 20, COMMIT: 1 / 20 }],
])(
  'a step in %s, takes this many calls, one line, and two entries: %i actors at once',
  async (name, count, expected) => {
    // Without heartbeats, which happen on a busy machine only.
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = temporaryFolder();
    const calls = countCalls(folder);
    const journals = STORES[name](folder);
    const orders = createDurableMachine(counter, { journals });
    const actors = await Promise.all(Array.from({ length: count }, (_, at) => orders.open(`order-${at}`)));
    const send = () => Promise.all(actors.map((actor) => actor.send({ type: 'line.added', price: 1 })));
    await send();
    const before = actors[0]?.entries.length ?? 0;
    calls.clear();
    for (let round = 0; round < ROUNDS; round += 1) await send();
    const perStep = [...calls].map(([call, times]) => [call, times / (ROUNDS * count)]);
    expect(Object.fromEntries(perStep)).toEqual(expected);
    expect((actors[0]?.entries.length ?? 0) - before).toBe(2 * ROUNDS);
    for (const actor of actors) await actor.close();
    // The start, the first event, those that were counted, and the end.
    const lines = LINES[name]?.(folder) ?? [];
    expect(lines.length).toBe(name === 'memory' ? 0 : ROUNDS + 3);
    for (const line of lines.slice(1)) expect(line.length).toBeLessThan(600);
    (journals as { close?(): void }).close?.();
  },
);
