import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { memoryJournals as runsInMemory } from '../../../../src/chain/journal/stores.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { fileJournals, memoryJournals, postgresJournals, sqliteJournals } from '../../../../src/durable/stores.ts';
import { createDurableMachine } from '../../../../src/entries/durable.ts';
import { temporaryFolder } from '../../../support/cli.ts';

it.each([
  ['memory', memoryJournals],
  ['files', () => fileJournals(temporaryFolder())],
  ['SQLite', () => sqliteJournals(join(temporaryFolder(), 'actors.db'))],
])('journals of actors in %s are named in messages', async (_, open) => {
  const store = open();
  store.create('a').write([{ seq: 0, atMs: 0, type: 'note', note: null }]);
  await expect(store.open('a')).rejects.toThrow('Actor "a" is still running in');
  await expect(entriesOf(store.read('b'))).rejects.toThrow('There is no actor "b"; list() returns the known actors');
  expect(() => store.create('a')).toThrow('Actor "a" already exists');
});

it('a list reads neither what follows a start nor the entries before the end', async () => {
  const folder = temporaryFolder();
  const machine = createMachine({ initial: 'a', states: { a: { on: { END: 'b' } }, b: { type: 'final' } } });
  const actors = createDurableMachine(machine, { journals: fileJournals(folder) });
  const actor = await actors.open('x');
  await actor.send({ type: 'OTHER', text: 'x'.repeat(1_000_000) } as never);
  await actor.send({ type: 'END' });
  const lines = readFileSync(join(folder, 'x.jsonl'), 'utf8').trim().split('\n');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  expect([first, last].map((line) => line.includes('"alone":true'))).toEqual([true, true]);
  expect(first.length + last.length).toBeLessThan(1_500);
  expect(await actors.list()).toMatchObject([{ status: 'done' }]);
});

it.each([
  ['redct', { redct: String }],
  ['redact', { redact: 'secret' }],
  ['fsync', { fsync: 'allways' }],
  ['codec', { codec: 'aes' }],
])('each store rejects an unknown or invalid option: %s', (name, options) => {
  const invalid = expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(name) });
  const folder = temporaryFolder();
  expect(() => fileJournals(folder, options as never)).toThrow(invalid);
  expect(() => sqliteJournals(join(folder, 'actors.db'), options as never)).toThrow(invalid);
  expect(() => postgresJournals('postgres://localhost/actors', options as never)).toThrow(invalid);
  expect(() => runsInMemory(options as never)).toThrow(invalid);
});
