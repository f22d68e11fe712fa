import fs, { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMachine } from 'xstate';
import { idOfStem } from '../../../../src/durable/journals/journal-id.ts';
import {
  createDurableMachine,
  fileJournals,
  memoryJournals,
  PostChainError,
  sqliteJournals,
} from '../../../../src/entries/durable.ts';
import { temporaryFolder } from '../../../support/cli.ts';

afterEach(() => void vi.restoreAllMocks());

const machine = createMachine({ id: 'order', on: { go: {} } });
const stores = {
  memory: () => memoryJournals(),
  files: () => fileJournals(temporaryFolder()),
  SQLite: () => sqliteJournals(join(temporaryFolder(), 'actors.db')),
};

/** Waits for a call: true if it resolves, its code if it rejects with a coded error. */
async function outcomeOf(act: () => unknown): Promise<unknown> {
  try {
    await act();
    return true;
  } catch (error) {
    if (PostChainError.isInstance(error)) return error.code;
    throw error;
  }
}

const someId = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 250 }),
  fc.string({ unit: fc.constantFrom('订', '单', '/', '\0', '\n', '.', '%', 'é', '🚢', 'a'), maxLength: 70 }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '../x',
    'CON',
    'a.lock',
    'a.jsonl',
    '=YQ',
    '\ud83d',
    'x'.repeat(10_000),
    '订单'.repeat(14),
  ),
);

describe.each(Object.entries(stores))('the id of an actor in %s', (_, open) => {
  it('works everywhere, or is refused before anything is read', async () => {
    const journals = open();
    const orders = createDurableMachine(machine, { journals });
    await fc.assert(
      fc.asyncProperty(someId, async (id) => {
        const reading = [
          () => journals.read(id)[Symbol.asyncIterator]().next(),
          () => journals.open(id),
          () => journals.delete?.(id),
          () => journals.follow?.(id).next(),
          () => orders.replay(id),
          () => orders.send(id, { type: 'go' }),
          () => orders.advance(id),
          () => orders.fork(id, { at: 0 }),
        ];
        for (const act of reading) expect(await outcomeOf(act)).toMatch(/^invalid_(?:option|journal)$/u);
        const opened = await outcomeOf(async () => (await orders.open(id)).close());
        if (opened !== true) {
          expect(opened).toBe('invalid_option');
          return;
        }
        expect((await orders.list()).map((actor) => actor.id)).toEqual([id]);
        expect(await outcomeOf(() => orders.send(id, { type: 'go' }))).toBe(true);
        await orders.delete(id);
      }),
      { numRuns: 60 },
    );
  });

  it('is refused by the same rule as in every other store', async () => {
    const journals = open();
    const isAccepted = async (id: string) => {
      const outcome = await outcomeOf(async () => {
        const writer = journals.create(id);
        await writer.close();
        await journals.delete?.(id).catch(() => {});
      });
      return outcome === true;
    };
    const accepted = ['a', 'x'.repeat(180), '订单'.repeat(22), '.', '/', '\0', '\n', '🚢'.repeat(33)];
    const refused = ['', 'x'.repeat(181), '订单'.repeat(23), '\udf09', 'a\ud83d', '🚢'.repeat(34)];
    for (const id of accepted) expect([id, await isAccepted(id)]).toEqual([id, true]);
    for (const id of refused) expect([id, await isAccepted(id)]).toEqual([id, false]);
  });
});

it('journals that an earlier version stored under a longer name are found', async () => {
  const folder = temporaryFolder();
  const id = '订单'.repeat(11);
  const orders = createDurableMachine(machine, { journals: fileJournals(folder) });
  await (await orders.open(id)).close();
  const [name = ''] = fs.readdirSync(folder);
  expect(idOfStem(name.replace('.jsonl', ''))).toBe(id);
  fs.renameSync(join(folder, name), join(folder, `${encodeURIComponent(id)}.jsonl`));
  expect((await orders.list()).map((actor) => actor.id)).toEqual([id]);
  expect(await orders.send(id, { type: 'go' })).toBe(true);
});

describe('a file system that fails', () => {
  const codes = ['EACCES', 'EPERM', 'ELOOP', 'EMFILE', 'EIO', 'EISDIR', 'EROFS', 'ESTALE'];

  it.each(codes)('gives a coded error with the reason, and no call hangs: %s', async (code) => {
    const folder = temporaryFolder();
    const journals = fileJournals(folder);
    const orders = createDurableMachine(machine, { journals });
    await (await orders.open('known')).close();
    const real = fs.openSync;
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
      if (String(path).startsWith(folder)) throw Object.assign(new Error(`${code}: it failed`), { code });
      return real(path, ...rest);
    });
    for (const act of ['open', 'delete'] as const)
      expect(`${act}: ${await outcomeOf(() => orders[act]('known'))}`).toMatch(/: (?:invalid_path|invalid_journal)$/u);
    await expect(orders.open('known')).rejects.toThrow(code);
    expect(await outcomeOf(() => orders.open('new'))).toMatch(/^(?:invalid_path|journal_failed)$/u);
    expect((await orders.list()).map(({ id }) => id)).toContain('known');
    vi.restoreAllMocks();
    expect(await orders.send('known', { type: 'go' })).toBe(true);
  });

  it('does not follow a chain of lock files without end', async () => {
    const folder = temporaryFolder();
    const orders = createDurableMachine(machine, { journals: fileJournals(folder) });
    await (await orders.open('o')).close();
    const real = fs.openSync;
    // As if every lock file that is looked for existed.
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) =>
      String(path).includes('.lock') ? real('/dev/null', 'r') : real(path, ...rest),
    );
    await expect(orders.open('o')).rejects.toThrow('more than 100 lock files follow');
  });

  it('takes a directory in the place of a journal or its lock for what it is', async () => {
    const folder = temporaryFolder();
    const orders = createDurableMachine(machine, { journals: fileJournals(folder) });
    mkdirSync(join(folder, 'a.jsonl'));
    mkdirSync(join(folder, 'b.jsonl.lock'));
    for (const id of ['a', 'b']) expect(await outcomeOf(() => orders.open(id))).toMatch(/^invalid_(?:journal|path)$/u);
    expect(await outcomeOf(async () => (await orders.open('c')).close())).toBe(true);
  });
});
