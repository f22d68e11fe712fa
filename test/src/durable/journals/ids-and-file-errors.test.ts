import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { createDurableMachine } from '../../../../src/durable/durable-machine.ts';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import type { Journals } from '../../../../src/durable/journals/journal-store.ts';
import { anyId, codesOf } from '../../../support/any-id.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { JOURNAL_STORES } from '../../../support/journal-files.ts';

const machine = createMachine({ id: 'm', initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } });
const hostOf = (journals: Journals) => createDurableMachine(machine, { journals });

/** Every call that takes an id. */
const calls = (journals: Journals, id: string): Record<string, () => unknown> => {
  const host = hostOf(journals);
  return {
    create: () => journals.create(id),
    read: () => journals.read(id)[Symbol.asyncIterator]().next(),
    'journals.open': () => journals.open(id),
    follow: () => journals.follow(id).next(),
    'journals.delete': () => journals.delete(id),
    start: () => host.start(id),
    open: () => host.open(id),
    send: () => host.send(id, { type: 'go' }),
    advance: () => host.advance(id),
    replay: () => host.replay(id),
    fork: () => host.fork(id, { at: 0 }),
    delete: () => host.delete(id),
  };
};

const sameFor = (made: Record<string, () => unknown>, code: string) =>
  Object.fromEntries(Object.keys(made).map((name) => [name, code]));

describe.each(JOURNAL_STORES)('a store in %s', (_, createStore) => {
  it.each([
    ['28 Chinese characters', '订单'.repeat(14)],
    ['430 characters of which each has six bytes as JSON', '\0'.repeat(430)],
    ['2,598 letters', 'x'.repeat(2_598)],
    ['a lone surrogate', 'a\ud800b'],
    ['a line feed', '\n'],
    ['the parent directory', '..'],
    ['a path', '../../x'],
    ['a device of Windows', 'CON'],
    ['the mark of long names', 'a=b'],
  ])('keeps an actor whose id is %s', async (_name, id) => {
    const journals = createStore();
    const actor = await hostOf(journals).open(id);
    await actor.close();
    expect(await hostOf(journals).send(id, { type: 'go' })).toBe(true);
    expect((await hostOf(journals).list()).map((one) => one.id)).toEqual([id]);
    expect((await hostOf(journals).replay(id)).snapshot.value).toBe('b');
    await hostOf(journals).delete(id);
    expect(await hostOf(journals).list()).toEqual([]);
  });

  it.each([
    ['no text', ''],
    ['2,599 letters', 'x'.repeat(2_599)],
    ['867 Chinese characters', '订'.repeat(867)],
    ['ten million letters', 'x'.repeat(10_000_000)],
    ['a number', 7],
    ['null', null],
    ['missing', undefined],
    ['a symbol', Symbol('id')],
    ['an object', {}],
  ])('refuses an id that is %s in every call, and stores nothing', async (_name, id) => {
    const journals = createStore();
    const made = calls(journals, id as string);
    expect(await codesOf(made)).toEqual(sameFor(made, 'invalid_option'));
    expect(await journals.list()).toEqual([]);
  });

  it('does not find an actor by an id that it does not have', async () => {
    const { create: _, start: __, open: ___, ...made } = calls(createStore(), '订'.repeat(300));
    expect(await codesOf(made)).toEqual(sameFor(made, 'unknown_journal'));
  });
});

describe('a file that the file system does not open', () => {
  /** Each prepares the folder of the journal of an actor `x`. */
  const faults: Record<string, (folder: string, journal: string) => unknown> = {
    'the lock is a directory': (_, journal) => mkdirSync(`${journal}.lock`),
    'the lock is a link to itself': (_, journal) => symlinkSync('x.jsonl.lock', `${journal}.lock`),
    'the lock is a link to nothing': (_, journal) => symlinkSync('nowhere', `${journal}.lock`),
    'the lock and its successors are not leases': (_, journal) => {
      for (const end of ['', '.unreadable.0', '.unreadable.0.next']) writeFileSync(`${journal}.lock${end}`, '?');
    },
    'the journal is a directory': (_, journal) => {
      rmSync(journal);
      mkdirSync(journal);
    },
    'the journal is a link to itself': (_, journal) => {
      rmSync(journal);
      symlinkSync('x.jsonl', journal);
    },
    'the directory is a file': (_, journal) => journal,
    'the directory is a link to itself': (folder) => {
      symlinkSync('loop', join(folder, 'loop'));
      return join(folder, 'loop');
    },
    'the name of the directory is too long': (folder) => join(folder, 'y'.repeat(300)),
  };

  it.each(Object.entries(faults))('%s: each call settles, with an error that has a code', async (_, prepare) => {
    const folder = temporaryFolder();
    await (await hostOf(fileJournals(folder)).open('x')).close();
    const path = prepare(folder, join(folder, 'x.jsonl'));
    const journals = fileJournals(typeof path === 'string' ? path : folder);
    const made = calls(journals, 'x');
    const codes = await codesOf({
      ...made,
      list: () => journals.list(),
      prune: () => journals.prune({ olderThanMs: 0 }),
    });
    expect(['invalid_path', 'invalid_journal', 'journal_exists', 'unknown_journal', 'none']).toEqual(
      expect.arrayContaining(Object.values(codes)),
    );
    expect(codes).toMatchObject({ open: expect.stringMatching(/^invalid/u) });
    expect(existsSync(join(folder, 'x.jsonl.lock.unreadable.0.next.next'))).toBe(false);
  });
});

it('every call with any id settles, and each store answers as the others do', async () => {
  const all = JOURNAL_STORES.map(([, createStore]) => createStore());
  await fc.assert(
    fc.asyncProperty(anyId, async (id) => {
      const [first, ...others] = await Promise.all(
        all.map(async (journals) => {
          const {
            create: _,
            start: __,
            'journals.open': ___,
            'journals.delete': ____,
            ...made
          } = calls(journals, id as string);
          const codes = await codesOf({
            ...made,
            open: async () => (await hostOf(journals).open(id as string)).close(),
            fork: async () => (await hostOf(journals).fork(id as string, { at: 0 })).close(),
          });
          return { codes, ids: new Set((await journals.list()).map((one) => one.id)).has(id as string) };
        }),
      );
      for (const other of others) expect(other).toEqual(first);
      expect([
        'none',
        'invalid_option',
        'invalid_journal',
        'unknown_journal',
        'journal_exists',
        'journal_held',
      ]).toEqual(expect.arrayContaining(Object.values(first?.codes ?? {})));
    }),
  );
});
