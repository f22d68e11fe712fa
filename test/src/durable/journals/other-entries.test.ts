import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileJournals } from '../../../../src/durable/journals/file-journals.ts';
import {
  entriesOf,
  type JournalFormat,
  type JournalStore,
  type JournalStoreOptions,
} from '../../../../src/durable/journals/journal-store.ts';
import { createMemoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { createSqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';

type Entry = { readonly seq: number; readonly atMs: number } & (
  | { readonly type: 'start'; readonly machine: string }
  | { readonly type: 'event'; readonly text: string }
  | { readonly type: 'end' }
);
type Summary = { readonly id: string; readonly machine: string; readonly status: string };

const format: JournalFormat<Entry, Summary> = {
  noun: 'actor',
  parse(value) {
    if (['start', 'event', 'end'].includes(Object(value).type)) return value as Entry;
    throw new Error('unknown type');
  },
  summarize({ id, first, last, isDamaged, isWritten }) {
    const { machine = '' } = Object(first);
    const hasEnded = Object(last).type === 'end';
    return { id, machine, status: isDamaged ? 'damaged' : hasEnded ? 'ended' : isWritten ? 'running' : 'waiting' };
  },
  compare: (one, other) => one.id.localeCompare(other.id),
  isCheckpoint: ({ type }) => type === 'end',
  isEnd: ({ type }) => type === 'end',
};

const ENTRIES: readonly Entry[] = [
  { seq: 0, atMs: 0, type: 'start', machine: 'door' },
  { seq: 1, atMs: 5, type: 'event', text: 'opened by Ada' },
  { seq: 2, atMs: 9, type: 'end' },
];

const stores: Record<string, (options?: JournalStoreOptions) => JournalStore<Entry, Summary>> = {
  memory: (options) => createMemoryJournals(format, options),
  files: (options) => createFileJournals(temporaryFolder(), format, options),
  SQLite: (options) => {
    const store = createSqliteJournals(join(temporaryFolder(), 'actors.db'), format, options);
    onTestFinished(() => store.close());
    return store;
  },
};

describe.each(Object.entries(stores))('the entries of another product: %s', (_, open) => {
  it('are written, listed, continued and read', async () => {
    const store = open({ fsync: 'checkpoint' });
    const writer = store.create('b');
    await writer.write(ENTRIES.slice(0, 2));
    await store.create('a').write(ENTRIES);
    expect(await store.list()).toEqual([
      { id: 'a', machine: 'door', status: 'ended' },
      { id: 'b', machine: 'door', status: 'running' },
    ]);
    await writer.close();
    const opened = await store.open('b');
    expect(opened.entries).toEqual(ENTRIES.slice(0, 2));
    await opened.writer.write(ENTRIES.slice(2));
    expect(opened.writer.failure).toBeNull();
    expect(await entriesOf(store.read('b'))).toEqual(ENTRIES);
  });

  it('are named in messages', async () => {
    const store = open();
    store.create('a').write(ENTRIES.slice(0, 1));
    await expect(store.open('a')).rejects.toThrow('Actor "a" is still running in');
    await expect(entriesOf(store.read('b'))).rejects.toThrow('There is no actor "b"; list() returns the known actors');
    expect(() => store.create('a')).toThrow('Actor "a" already exists');
  });

  it('have every string redacted by default', async () => {
    const store = open({ redact: (text) => text.replace('Ada', '[name]') });
    await store.create('a').write(ENTRIES);
    expect((await entriesOf(store.read('a')))[1]).toMatchObject({ text: 'opened by [name]' });
  });
});

it('rejects entries that the format does not know', async () => {
  const store = createFileJournals(temporaryFolder(), {
    ...format,
    parse: () => {
      throw new Error('unknown type');
    },
  });
  store.create('a').write(ENTRIES);
  await expect(entriesOf(store.read('a'))).rejects.toThrow('actor a: cannot read entry 0: unknown type');
});

it('a list reads neither what follows a start nor the entries before the end', async () => {
  const folder = temporaryFolder();
  const store = createFileJournals(folder, format);
  const writer = store.create('a');
  writer.write([ENTRIES[0], { seq: 1, atMs: 5, type: 'event', text: 'x'.repeat(1_000_000) }] as Entry[]);
  writer.write([{ seq: 2, atMs: 9, type: 'end' }]);
  const [first = '', , last = ''] = readFileSync(join(folder, 'a.jsonl'), 'utf8').split('\n');
  expect([first, last].map((line) => line.includes('"alone":true'))).toEqual([true, true]);
  expect(first.length + last.length).toBeLessThan(500);
  expect(await store.list()).toMatchObject([{ machine: 'door', status: 'ended' }]);
});
