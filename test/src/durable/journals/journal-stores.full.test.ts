import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { DurableEntry, StartEntry } from '../../../../src/durable/entries.ts';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import {
  entriesOf,
  type JournalStore,
  type JournalStoreOptions,
  type LineCodec,
} from '../../../../src/durable/journals/journal-store.ts';
import { thisHolder } from '../../../../src/durable/journals/lease.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { tailOf } from '../../../../src/inspection/stored-runs.ts';
import { nextTurn } from '../../../../src/internal/async.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { journalStoreChecks } from '../../../../src/testing/journal-store-checks.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { anError, throwing } from '../../../support/errors.ts';
import { recordedRun } from '../../../support/recorded-run.ts';
import { startScripted } from '../../../support/run-chain.ts';

const stores: Record<string, (options?: JournalStoreOptions) => JournalStore> = {
  memory: memoryJournals,
  files: (options) => fileJournals(join(temporaryFolder(), 'runs'), options),
  SQLite: (options) => {
    const store = sqliteJournals(join(temporaryFolder(), 'runs.db'), options);
    onTestFinished(() => store.close());
    return store;
  },
};

const recorded = await recordedRun();

/** With another start time, so that lists have an order. */
const startedAtTime = (journal: readonly DurableEntry[], startedAt: string): DurableEntry[] =>
  journal.map((entry) => (entry.type === 'start' ? { ...entry, startedAt } : entry));

function write(store: JournalStore, runId: string, entries: readonly DurableEntry[], close = true): void {
  const writer = store.create(runId);
  writer.write(entries);
  expect(writer.failure).toBeNull();
  if (close) writer.close();
}

describe.each(Object.entries(stores))('a journal store: %s', (kind, open) => {
  const checked = { open: () => open(), journal: recorded };
  for (const { name, check } of journalStoreChecks(checked)) it(name, async () => expect(await check()).toBeNull());

  it('rejects a damaged journal, and releases it', async () => {
    const store = open();
    write(store, 'a', [...recorded.slice(0, 4), ...recorded.slice(5)]);
    await expect(entriesOf(store.read('a'))).rejects.toThrow(
      'journal a: cannot read entry 4: expected seq 4; received 5',
    );
    for (const _again of [1, 2]) await expect(store.open('a')).rejects.toThrow('cannot read entry 4');
  });

  it('rejects an empty journal, which is not stored as a file', async () => {
    const store = open();
    store.create('a').close();
    if (kind === 'files') {
      expect(await store.list()).toEqual([]);
      return;
    }
    await expect(entriesOf(store.read('a'))).rejects.toThrow('journal a: the journal is empty');
    await expect(store.open('a')).rejects.toMatchObject({ code: 'invalid_journal' });
    expect(await store.list()).toMatchObject([{ id: 'a', title: '', startedAt: '', status: 'damaged' }]);
  });

  it('rejects invalid options of list and prune, and prunes nothing', async () => {
    const store = open();
    write(store, 'a', recorded);
    for (const options of [{}, { olderThanMs: Number.NaN }, { olderThanMs: 1e20 }, { olderThanMs: '1' }])
      await expect(store.prune?.(options as never)).rejects.toMatchObject(
        anError('invalid_option', /^olderThanMs of prune: expected a number of milliseconds; received .*\.$/u),
      );
    await expect(store.prune?.({ olderThanMs: -1e9, statuses: 'running' } as never)).rejects.toMatchObject({
      message: 'options of prune: expected only olderThanMs, status; received statuses.',
    });
    const wrong = [
      { after: 'abc' },
      { after: {} },
      { machine: 1 },
      { waitingFor: null },
      { dueBefore: '2026-01-01' },
      { where: { a: {} } },
      { limit: -1 },
      { limit: 1.5 },
      { limit: Number.NaN },
      { status: 1 },
      { status: 'completed' },
      { status: ['running', 'nope'] },
    ];
    for (const options of wrong)
      await expect(store.list(options as never)).rejects.toMatchObject(
        anError(
          'invalid_option',
          /^(?:after|machine|waitingFor|dueBefore|where|limit|status) of list: expected .*; received .*\.$/u,
        ),
      );
    await expect(store.prune?.({ olderThanMs: 0, status: 'ended' } as never)).rejects.toThrow(
      'status of prune: expected one of running, waiting, interrupted, queued, done, error, stopped, damaged; received "ended".',
    );
    await expect(store.list({ before: 'a' } as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message:
        'options of list: expected only machine, status, waitingFor, dueBefore, where, after, limit; received before.',
    });
    expect(await store.list({ limit: 5 })).toHaveLength(1);
  });

  it('prunes by the end of a journal, not by its start, and nothing that waits', async () => {
    const store = open();
    const days = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString();
    const last = recorded.at(-1) as DurableEntry;
    const resumed = (days: string): DurableEntry[] => [
      ...recorded.slice(0, -1),
      { seq: last.seq, atMs: last.atMs, type: 'resumed', resumedAt: days },
      { ...last, seq: last.seq + 1 },
    ];
    write(store, 'old', startedAtTime(resumed(days(60)), days(90)));
    write(store, 'ended yesterday', startedAtTime(resumed(days(1)), days(90)));
    write(store, 'waiting', startedAtTime(recorded.slice(0, 9), days(90)));
    expect(await store.prune?.({ olderThanMs: 30 * 86_400_000 })).toBe(1);
    expect((await store.list()).map(({ id }) => id).toSorted()).toEqual(['ended yesterday', 'waiting']);
    expect(await store.prune?.({ olderThanMs: 1_000 })).toBe(1);
  });

  it('lists runs with their status, newest first', async () => {
    const store = open();
    expect(await store.list()).toEqual([]);
    write(store, 'ended', startedAtTime(recorded, '2026-01-01T10:00:00.000Z'));
    write(store, 'killed', startedAtTime(recorded.slice(0, -1), '2026-01-01T12:00:00.000Z'));
    write(store, 'alive', startedAtTime(recorded.slice(0, 3), '2026-01-01T11:00:00.000Z'), false);
    const { machine } = recorded[0] as StartEntry;
    const { seq: lastSeq, summary } = recorded.at(-1) as Extract<DurableEntry, { type: 'end' }>;
    const none = { reason: null, forkedFrom: null, attributes: {}, summary: null, waiting: null };
    const common = { machine, title: 'Is it so?', ...none };
    expect(await store.list()).toEqual([
      { id: 'killed', ...common, startedAt: '2026-01-01T12:00:00.000Z', status: 'interrupted', lastSeq: lastSeq - 1 },
      { id: 'alive', ...common, startedAt: '2026-01-01T11:00:00.000Z', status: 'running', lastSeq: 2 },
      { id: 'ended', ...common, startedAt: '2026-01-01T10:00:00.000Z', status: 'done', lastSeq, summary },
    ]);
  });

  it('redacts every string before it is written, and marks the journal', async () => {
    const seen = new Set<string>();
    const store = open({
      redact: (text) => {
        seen.add(text);
        return text.replaceAll('Is it so?', '[redacted]');
      },
    });
    write(store, 'a', recorded);
    const stored = await entriesOf(store.read('a'));
    expect(JSON.stringify(stored)).not.toContain('Is it so?');
    expect(stored[0]).toMatchObject({ input: { request: '[redacted]' }, redacted: true });
    expect(stored).toHaveLength(recorded.length);
    for (const text of textsOf(recorded.filter((entry) => !isDelta(entry)))) expect(seen).toContain(text);
  });

  it('stops writing if redact throws, and reports why', async () => {
    const store = open({
      redact: (text) => {
        if (text.includes('It may be so')) throw new Error('redact failed');
        return text;
      },
    });
    const writer = store.create('a');
    for (const entry of recorded) writer.write([entry]);
    expect(writer.failure).toBe('redact failed');
    writer.close();
    const stored = await entriesOf(store.read('a'));
    expect(stored).toEqual(
      recorded.slice(0, stored.length).map((entry) => ({
        ...entry,
        ...(entry.type === 'start' && { redacted: true }),
        ...(isDelta(entry) && { note: { ...Object(entry.note), text: '' } }),
      })),
    );
    expect(stored.length).toBeGreaterThan(3);
  });
});

/** Whether an entry is a note with a piece of streamed text. */
function isDelta(entry: DurableEntry): entry is Extract<DurableEntry, { type: 'note' }> {
  return entry.type === 'note' && Object(entry.note).type === 'text-delta';
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Reverses the characters of a line, and adds those of a key. */
const reversed = (key: string): LineCodec => ({
  encode: (line) => key + [...line].reverse().join(''),
  decode(line) {
    if (!line.startsWith(key)) throw new Error('another key');
    return [...line.slice(key.length)].reverse().join('');
  },
});

describe('a codec', () => {
  it.each([
    ['files', (place: string, codec: LineCodec) => fileJournals(place, { codec })],
    ['SQLite', (place: string, codec: LineCodec) => sqliteJournals(join(place, 'runs.db'), { codec })],
  ])('encodes every line, and only a store with the same one can read them: %s', async (_, openIn) => {
    const place = temporaryFolder();
    const [store, other] = [openIn(place, reversed('k1:')), openIn(place, reversed('k2:'))];
    for (const { check } of journalStoreChecks({
      open: () => openIn(temporaryFolder(), reversed('k1:')),
      journal: recorded,
    }).slice(0, 3))
      await check();
    write(store, 'a', recorded);
    expect(await entriesOf(store.read('a'))).toEqual(recorded);
    expect((await store.list())[0]).toMatchObject({ id: 'a', title: 'Is it so?' });
    await expect(entriesOf(other.read('a'))).rejects.toMatchObject({
      code: 'invalid_journal',
      message: /another key/u,
    });
    expect(await other.list()).toMatchObject([{ id: 'a', status: 'damaged' }]);
    const bytes = readdirSync(place).map((name) => readFileSync(join(place, name), 'latin1'));
    expect(bytes.join('')).toContain('k1:');
    expect(bytes.join('')).not.toContain('"deflate"');
  });

  it.each<[string, unknown, string]>([
    ['is async', async () => '', 'a Promise; await it'],
    ['returns nothing', () => {}, 'undefined'],
    ['returns line breaks', (line: string) => `${line}\n`, 'a string that has one'],
    ['returns a zero character', (line: string) => `${line}\0`, 'a string that has one'],
    ['gets more than a line', (line: string, ...rest: unknown[]) => (rest.length > 0 ? rest : line), ''],
  ])('whose encode %s', async (_, encode, received) => {
    const codec = { encode, decode: (line: string) => line } as LineCodec;
    for (const store of [stores['files']?.({ codec }), stores['SQLite']?.({ codec })]) {
      const writer = store?.create('a');
      await writer?.write(recorded.slice(0, 3));
      expect(writer?.failure ?? '').toBe(
        received && `codec.encode: expected a string without line breaks and zero characters; received ${received}`,
      );
      await writer?.close();
    }
  });

  it('with another key is named in the error, also if it decodes to something else', async () => {
    const place = temporaryFolder();
    write(fileJournals(place, { codec: reversed('k1:') }), 'a', recorded);
    for (const [codec, reason] of [
      [reversed('k2:'), 'another key'],
      [{ ...reversed('k1:'), decode: (line: string) => line }, 'the result is not a line of a journal'],
    ] as const)
      await expect(entriesOf(fileJournals(place, { codec }).read('a'))).rejects.toMatchObject({
        code: 'invalid_journal',
        message: `journal a: cannot be decoded: another key or codec? (${reason}); expected a journal of PostChain`,
      });
  });
});

it.each([
  ['files', fileJournals],
  ['SQLite', (place: string) => sqliteJournals(join(place, 'runs.db'))],
])('a journal that other stores write, one after the other, is followed: %s', async (_, openIn) => {
  const place = temporaryFolder();
  // SQLite writes at the end of the turn.
  const first = openIn(place).create('a');
  await first.write(recorded.slice(0, 9));
  await first.close();
  const followed = entriesOf(openIn(place).follow('a'));
  for (const [at, entry] of recorded.slice(9).entries()) {
    const { writer } = await openIn(place).open('a');
    await writer.write([entry]);
    await writer.close();
    if (at % 50 === 0) await nextTurn();
  }
  expect(await followed).toEqual(recorded);
});

describe('the checks of a store', () => {
  type Store = ReturnType<typeof memoryJournals>;
  /** What each broken store does, and the check that must notice it. */
  const broken: Record<string, (store: Store) => Partial<JournalStore>> = {
    'reads what was written': (store) => ({
      async *read(id) {
        yield* (await entriesOf(store.read(id))).slice(1);
      },
    }),
    'continues a journal': (store) => ({
      open: async (id, options) => ({ ...(await store.open(id, options)), entries: [] }),
    }),
    'rejects opening': (store) => ({ open: (id) => store.open(id, { force: true }) }),
    'rejects an unknown id': () => ({ async *read() {} }),
    'lists journals': (store) => ({ list: () => store.list() }),
    'lists journals by status, and in pages': (store) => ({
      list: ({ after: _, ...options } = {}) => store.list(options),
    }),
    'lists journals by machine': (store) => ({
      list: ({ dueBefore: _, ...options } = {}) => store.list(options),
    }),
    'reads each entry of a growing': (store) => ({
      tail: (id) => ({ read: () => store.tail(id).read() }),
    }),
    'has the first and last': (store) => ({
      async *bounds() {
        for await (const each of store.bounds()) yield { ...each, isWritten: false };
      },
    }),
    'follows a journal': (store) => ({ follow: (id) => store.follow(id) }),
    'ends following': (store) => ({
      async *follow(id, options) {
        try {
          yield* store.follow(id, options);
        } catch {}
      },
    }),
    'deletes a journal': () => ({ delete: async () => {} }),
    'prunes only journals': () => ({ prune: async () => 0 }),
  };
  it.each(Object.entries(broken))('fail: %s', async (name, change) => {
    const open = (): JournalStore => {
      const store = memoryJournals();
      return { ...store, ...change(store) };
    };
    const check = journalStoreChecks({ open, journal: recorded }).find((each) => each.name.startsWith(name));
    await expect(check?.check()).rejects.toThrow();
  });
});

it('the checks of optional methods that a store lacks are skipped, with the reason', async () => {
  const open = (): JournalStore => {
    const { create, read, open: reopen, list } = memoryJournals();
    return { create, read, open: reopen, list };
  };
  const checks = journalStoreChecks({ open, journal: recorded });
  const results = await Promise.all(checks.map(({ check }) => check()));
  expect(results.filter((result) => result !== null).toSorted()).toEqual([
    'the store has no method "bounds"',
    'the store has no method "changes"',
    'the store has no method "delete"',
    'the store has no method "follow"',
    'the store has no method "follow"',
    'the store has no method "follow"',
    'the store has no method "mail"',
    'the store has no method "prune"',
    'the store has no method "tail"',
  ]);
});

describe('fileJournals', () => {
  it('creates files that only their owner can read', async () => {
    const folder = join(temporaryFolder(), 'runs');
    write(fileJournals(folder), 'a', recorded);
    expect([statSync(folder).mode & 0o777, statSync(join(folder, 'a.jsonl')).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('drops a torn last line and continues there', async () => {
    const folder = temporaryFolder();
    const [store, path] = [fileJournals(folder), join(folder, 'a.jsonl')];
    write(store, 'a', recorded.slice(0, 9));
    const whole = readFileSync(path, 'utf8');
    appendFileSync(path, '{"seq":9,"atMs":1,"type":"text-');
    expect(await entriesOf(store.read('a'))).toEqual(recorded.slice(0, 9));
    const { writer } = await store.open('a');
    expect(readFileSync(path, 'utf8')).toBe(whole);
    writer.write(recorded.slice(9));
    writer.close();
    expect(await entriesOf(store.read('a'))).toEqual(recorded);
  });

  it('releases the journal of a process that no longer exists', async () => {
    const folder = temporaryFolder();
    const store = fileJournals(folder);
    write(store, 'a', recorded.slice(0, 9));
    // Higher than any process id.
    writeFileSync(join(folder, 'a.jsonl.lock'), JSON.stringify({ ...thisHolder(), id: 'gone', pid: 4_194_305 }));
    expect((await store.list())[0]?.status).toBe('interrupted');
    const { writer } = await store.open('a');
    expect(readFileSync(join(folder, 'a.jsonl.lock'), 'utf8')).toContain(`"pid":${process.pid},`);
    writer.close();
    expect(existsSync(join(folder, 'a.jsonl.lock'))).toBe(false);
  });

  it('rejects a directory that cannot be created', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(() => fileJournals(file).create('a')).toThrow(expect.objectContaining({ code: 'invalid_path' }));
    expect(() => fileJournals(' ')).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});

async function recordRun(journals: JournalStore = memoryJournals()) {
  const run = createPostChain({ model: scriptedModel({}, { otherwise: replies }), journals }).run({
    request: 'Is it so?',
  });
  await run.answer;
  return { journals, runId: run.id, entries: await entriesOf(journals.read(run.id)) };
}

it.each([
  ['files', () => fileJournals(temporaryFolder())],
  ['SQLite', () => sqliteJournals(join(temporaryFolder(), 'runs.db'))],
])('a tail yields the entries with their stored JSON: %s', async (_, journalsIn) => {
  const { journals, runId, entries } = await recordRun(journalsIn());
  vi.spyOn(journals, 'read').mockImplementation(throwing('read was called'));
  const tail = tailOf(journals, runId);
  const read = (await entriesOf(tail.read())).flat();
  expect(read.map((json) => JSON.parse(json))).toEqual(entries);
  expect(read[0]).not.toContain('"sum"');
  expect((await entriesOf(tail.read())).flat()).toEqual([]);
});

it('the entries of a store without tail are read', async () => {
  const { journals, runId, entries } = await recordRun();
  async function* read() {
    yield* entries.slice(0, 3);
  }
  const { tail: _, ...others } = journals;
  const found = await entriesOf(tailOf({ ...others, read }, runId).read());
  expect(found.flat().map((json) => JSON.parse(json))).toEqual(entries.slice(0, 3));
});

it.each(['write', 'close'] as const)('a run still answers if its store throws on %s', async (method) => {
  const writer = {
    failure: null,
    write: () => {},
    close: () => {},
    [method]: throwing('the store failed'),
  };
  const { run } = startScripted({}, { journals: { ...memoryJournals(), create: () => writer } });
  expect((await run.answer).status).toBe('completed');
  for await (const _ of run.events);
  expect(run.journalFailure).toBe('the store failed');
});
