import type { Json } from '../durable/codec.ts';
import type { Attributes, DurableEntry } from '../durable/entries.ts';
import {
  type ActorSummary,
  entriesOf,
  type JournalBounds,
  type JournalStore,
  type Journals,
  type JournalWriter,
  type ListOptions,
} from '../durable/journals/journal-store.ts';
import type { Message } from '../durable/journals/mailbox.ts';
import { requireKnownOptions } from '../internal/require-known.ts';

/** One property of a store. */
export interface JournalStoreCheck {
  readonly name: string;
  /** Rejects if the store does not have the property. Resolves to why it was skipped, or to null. */
  check(): Promise<string | null>;
}

export interface JournalStoreChecksOptions {
  /** Returns a store without journals; called once for each check. */
  readonly open: () => JournalStore | Promise<JournalStore>;
  /** The entries of a journal that has ended, for example `actor.entries`: at least five. */
  readonly journal: readonly DurableEntry[];
}

/**
 * Returns the checks that every journal store must pass, for any test runner. Those of optional methods that the store lacks are skipped.
 *
 * @example
 * for (const { name, check } of journalStoreChecks({ open: () => myStore(), journal: actor.entries }))
 *   test(name, async ({ skip }) => {
 *     const reason = await check();
 *     if (reason !== null) skip(reason);
 *   });
 */
export function journalStoreChecks(options: JournalStoreChecksOptions): readonly JournalStoreCheck[] {
  requireKnownOptions('journalStoreChecks', options, 'open journal');
  const journal: readonly DurableEntry[] = JSON.parse(JSON.stringify(options.journal));
  const given = { journal, middle: journal.slice(0, 3), rest: journal.slice(3) };
  return Object.entries(CHECKS).map(([name, check]) => ({
    name,
    async check() {
      const store = await options.open();
      const missing = NEEDED[name]?.find((method) => store[method] === undefined);
      if (missing !== undefined) return `the store has no method "${missing}"`;
      await check(store as Journals, given);
      return null;
    },
  }));
}

async function written(store: JournalStore, id: string, entries: readonly DurableEntry[]): Promise<JournalWriter> {
  const writer = store.create(id);
  for (const entry of entries) await writer.write([entry]);
  equal(writer.failure, null, 'the failure of the writer');
  return writer;
}
async function stored(store: JournalStore, id: string, entries: readonly DurableEntry[]): Promise<void> {
  await (await written(store, id, entries)).close();
}
const has = async (store: JournalStore, id: string, entries: readonly DurableEntry[]): Promise<void> =>
  equal(await entriesOf(store.read(id)), entries, `the entries of ${JSON.stringify(id)}`);

/** The entries of `JournalStoreChecksOptions` in the form in which a store returns them: all, the first three, and the others. */
interface Given {
  readonly journal: readonly DurableEntry[];
  readonly middle: readonly DurableEntry[];
  readonly rest: readonly DurableEntry[];
}

const CHECKS: Readonly<Record<string, (store: Journals, given: Given) => Promise<void>>> = {
  async 'reads what was written, also while a journal is being written'(store, { journal, middle, rest }) {
    const writer = await written(store, 'a', middle);
    await has(store, 'a', middle);
    await writer.write(rest);
    await has(store, 'a', journal);
    await writer.close();
    await has(store, 'a', journal);
  },
  async 'keeps the order of writes that are not awaited'(store, { journal }) {
    const writer = store.create('a');
    await Promise.all(journal.map((entry) => writer.write([entry])));
    await writer.close();
    equal(writer.failure, null, 'the failure of the writer');
    await has(store, 'a', journal);
  },
  async 'continues a journal'(store, { journal, middle, rest }) {
    await stored(store, 'a', middle);
    const { entries, writer } = await store.open('a');
    equal(entries, middle, 'the entries of an opened journal');
    await writer.write(rest);
    await writer.close();
    await has(store, 'a', journal);
  },
  async 'creates one journal for each id'(store, { middle }) {
    await stored(store, 'a', middle);
    if (store.has !== undefined) equal([await store.has('a'), await store.has('b')], [true, false], 'has()');
    try {
      const second = store.create('a');
      await second.write(middle);
      ok(store.has !== undefined, 'create() of an existing id throws, or the store has the method "has"');
      ok(second.failure !== null, 'the first write to an existing id fails');
      await second.close();
    } catch (error) {
      requireCode(error, 'journal_exists');
    }
    await has(store, 'a', middle);
  },
  async 'rejects opening a journal that is being written'(store, { journal, middle, rest }) {
    const writer = await written(store, 'a', middle);
    await rejected(store.open('a'), 'journal_held');
    await writer.write(rest);
    equal(writer.failure, null, 'the failure of the writer');
    await has(store, 'a', journal);
  },
  async 'lets only one of several concurrent calls open a journal'(store, { journal, middle, rest }) {
    await stored(store, 'a', middle);
    const opened = await Promise.allSettled(Array.from({ length: 5 }, () => store.open('a')));
    for (const each of opened) if (each.status === 'rejected') requireCode(each.reason, 'journal_held');
    const [winner, ...others] = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value.writer] : []));
    equal(others.length, 0, 'the number of other writers');
    await winner?.write(rest);
    await has(store, 'a', journal);
  },
  async 'takes a journal over by force, and fences its earlier writer'(store, { journal, middle, rest }) {
    const earlier = await written(store, 'a', middle);
    const { entries, writer } = await store.open('a', { force: true });
    equal(entries, middle, 'the entries of an opened journal');
    await earlier.write(rest.slice(0, 1));
    ok(earlier.failure !== null && earlier.isFenced === true, 'the earlier writer has a failure, and is fenced');
    await has(store, 'a', middle);
    await writer.write(rest.slice(0, 1));
    await earlier.close();
    await writer.write(rest.slice(1));
    await writer.close();
    equal(writer.failure, null, 'the failure of the writer');
    await has(store, 'a', journal);
  },
  async 'rejects an unknown id'(store, { middle }) {
    await stored(store, 'a', middle);
    await rejected(entriesOf(store.read('b')));
    await rejected(store.open('b'));
    if (store.delete !== undefined) await rejected(store.delete('b'));
    if (store.follow !== undefined) await rejected(entriesOf(store.follow('b')));
  },
  async 'ignores a second close and writes after it'(store, { journal, middle, rest }) {
    const writer = await written(store, 'a', middle);
    await writer.close();
    const { writer: other } = await store.open('a');
    await writer.close();
    await writer.write(rest.slice(0, 1));
    await other.write(rest);
    await other.close();
    equal([writer.failure, other.failure], [null, null], 'the failures of the writers');
    await has(store, 'a', journal);
  },
  async 'accepts any id'(store, { journal }) {
    const ids = ['../../etc/passwd', '.', 'CON', 'a b%2F?*', 'ö\u0000\n', "'; --", '__proto__', 'A', 'a'];
    for (const [at, id] of ids.entries()) await stored(store, id, journal.slice(0, 3 + (at % 2)));
    for (const [at, id] of ids.entries()) await has(store, id, journal.slice(0, 3 + (at % 2)));
  },
  async 'lists journals by status, and in pages'(store, { journal, middle }) {
    const writer = await written(store, 'a', middle);
    const [running, ...others] = await store.list();
    equal(others.length, 0, 'the number of other journals');
    for (const id of ['b', 'c']) await stored(store, id, journal);
    const all = await store.list();
    const ended = all.filter((each) => each.status !== running?.status);
    equal(ended.length, 2, 'the number of journals whose status differs from that of one being written');
    equal(
      await store.list({ status: ended[0]?.status as ActorSummary['status'] }),
      ended,
      'the journals with one status',
    );
    const pages: ActorSummary[] = [];
    // A store that ignores `after` would return pages forever.
    for (let page = await store.list({ limit: 1 }); page.length > 0 && pages.length <= all.length; ) {
      pages.push(...page);
      page = await store.list({ limit: 1, after: page[0] as ActorSummary });
    }
    equal(pages, all, 'the pages of the list');
    await writer.close();
    equal((await store.list()).length, 3, 'the number of journals');
  },
  async 'lists journals by machine, wait, due time and host data'(store, { journal, middle }) {
    const closed = { seq: 3, atMs: 3, type: 'closed', closedAt: '2026-01-01T00:00:00.000Z' };
    const waiting = { ...closed, waiting: { sinceMs: 1, dueAtMs: 5_000, events: ['GO'] } } as unknown as DurableEntry;
    await stored(store, 'waiting', [...middle, waiting]);
    await stored(store, 'interrupted', middle);
    await stored(store, 'ended', journal);
    const count = async (options: ListOptions): Promise<number> => (await store.list(options)).length;
    const counts = [
      await count({ machine: machineOf(journal[0]) }),
      await count({ machine: 'another machine' }),
      await count({ waitingFor: 'GO' }),
      await count({ waitingFor: 'STOP' }),
      await count({ dueBefore: 5_000 }),
      await count({ dueBefore: 4_999 }),
      await count({ where: { 'no such member': true } }),
    ];
    equal(counts, [3, 0, 1, 0, 1, 0, 0], 'the numbers of journals');
    await rejected(store.list({ before: 'a' } as ListOptions), 'invalid_option');
    await rejected(store.list({ limit: -1 }), 'invalid_option');
  },
  async 'lists journals by their latest attributes, also while they are written'(store, { journal, middle }) {
    const changed = (seq: number, attributes: Attributes): DurableEntry => ({
      seq,
      atMs: 3,
      type: 'attributes',
      attributes,
    });
    const [first, second] = [
      changed(3, { customer: 'c-1', total: 7, isNew: true }),
      changed(4, { customer: 'c-2', total: 7 }),
    ];
    await stored(store, 'interrupted', [...middle, first]);
    const writer = await written(store, 'running', [...middle, first, second]);
    await stored(store, 'none', journal);
    const ids = async (where: NonNullable<ListOptions['where']>): Promise<readonly string[]> =>
      (await store.list({ where })).map(({ id }) => id).sort();
    const found = async (): Promise<unknown> => [
      await ids({ customer: 'c-1' }),
      await ids({ customer: ['c-1', 'c-2'] }),
      await ids({ total: 7, isNew: true }),
      await ids({ customer: 'c-2', total: '7' }),
    ];
    const both = ['interrupted', 'running'];
    equal(await found(), [['interrupted'], both, ['interrupted'], []], 'the ids of the journals');
    await writer.close();
    const opened = await store.open('interrupted');
    await opened.writer.write([second]);
    equal(await found(), [[], both, [], []], 'the ids of the journals after a change');
    const [one] = await store.list({ where: { customer: 'c-2' }, limit: 1 });
    equal(one?.attributes, { customer: 'c-2', total: 7 }, 'the attributes of a summary');
    await opened.writer.close();
  },
  async 'reads each entry of a growing journal once'(store, { middle, rest }) {
    const writer = await written(store, 'a', middle);
    const tail = store.tail('a');
    const read = async (): Promise<unknown> =>
      (await entriesOf(tail.read())).flat().map((json) => (JSON.parse(json) as DurableEntry).seq);
    equal(await read(), [0, 1, 2], 'the numbers of the first entries');
    equal(await read(), [], 'the numbers of the entries that a second read adds');
    await writer.write(rest);
    equal(
      await read(),
      rest.map(({ seq }) => seq),
      'the numbers of the other entries',
    );
    await rejected(entriesOf(store.tail('b').read()));
  },
  async 'has the first and last entries of journals'(store, { journal, middle, rest }) {
    const writer = await written(store, 'a', middle);
    await stored(store, 'b', journal);
    const read = async (id: string): Promise<JournalBounds | undefined> =>
      (await entriesOf(store.bounds({ ids: [id, 'c'] })))[0];
    const [a, b] = [await read('a'), await read('b')];
    equal([a?.isWritten, b?.isWritten], [true, false], 'whether a process is writing them');
    const last = b?.ends?.last.at(-1) as DurableEntry | undefined;
    equal(
      [a?.ends?.lastSeq, b?.ends?.lastSeq, last?.seq],
      [2, journal.length - 1, journal.length - 1],
      'the last entries',
    );
    equal((a?.ends?.first as DurableEntry | undefined)?.type, journal[0]?.type, 'the type of the first entry');
    await writer.write(rest);
    ok((await read('a'))?.version !== a?.version, 'the version changes with every entry');
    equal((await entriesOf(store.bounds())).length, 2, 'the number of journals');
  },
  async 'reports changed journals'(store, { middle }) {
    const reported: (readonly string[] | null)[] = [];
    let report = (): void => {};
    const stop = store.changes((ids) => {
      reported.push(ids);
      report();
    });
    const isReported = (): boolean => reported.some((ids) => ids === null || ids.includes('a'));
    const writer = await written(store, 'a', middle);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('expected a report of the journal "a"')), REPORT_MS);
      report = () => {
        if (!isReported()) return;
        clearTimeout(timer);
        resolve();
      };
      report();
    });
    stop();
    await writer.close();
  },
  async 'follows a journal to its end'(store, { journal, middle, rest }) {
    const follow = store.follow.bind(store);
    const writer = await written(store, 'a', middle);
    const [all, late] = [follow('a'), follow('a', { from: 2 })];
    const first = [(await all.next()).value, (await late.next()).value];
    equal(first, [journal[0], journal[2]], 'the first entries');
    const collected = [entriesOf(all), entriesOf(late)];
    for (const entry of rest) await writer.write([entry]);
    equal(await Promise.all(collected), [journal.slice(1), rest], 'the other entries');
    equal(await entriesOf(follow('a', { from: journal.length })), [], 'the entries after the end');
  },
  async 'stops following'(store, { middle }) {
    const follow = store.follow.bind(store);
    await written(store, 'a', middle);
    const aborted = new AbortController();
    const [left, ended] = [follow('a', { from: 3 }), follow('a', { from: 3, signal: aborted.signal })];
    const pending = [left.next(), ended.next()] as const;
    await left.return?.();
    aborted.abort(new Error('enough'));
    equal((await pending[0]).done, true, 'whether return() ends the iteration');
    const [result] = await Promise.allSettled([pending[1]]);
    ok(result.status === 'rejected' && result.reason === aborted.signal.reason, 'it rejects with the reason');
  },
  async 'ends following a journal that is deleted'(store, { journal, middle }) {
    await stored(store, 'a', middle);
    const followed = store.follow('a');
    for (const entry of middle) equal((await followed.next()).value, entry, 'an entry');
    const next = followed.next();
    next.catch(() => {});
    await store.delete('a');
    await stored(store, 'a', journal.slice(0, 1));
    await rejected(next);
  },
  async 'keeps messages for an actor until they are removed or its journal is deleted'(store, { middle }) {
    const mail = store.mail as NonNullable<typeof store.mail>;
    const message = (id: string, event: Json): Message => ({ id, type: 'event', event });
    await stored(store, 'a', middle);
    await stored(store, 'b', middle);
    const reported = new Set<string>();
    let report = (): void => {};
    const stop = mail.watch((ids) => {
      for (const id of ids) reported.add(id);
      report();
    });
    const [first, second, third] = [
      message('1', { type: 'GO', text: 'ö\u0000\n' }),
      message('2', 2),
      message('3', null),
    ] as const;
    for (const each of [second, first, second, third]) await mail.post('a', each.id, each);
    await mail.post('b', '1', { id: '1', type: 'stop' });
    await rejected(mail.post('c', '1', first));
    equal(await mail.read('a'), [second, first, third], 'the messages');
    equal((await store.open('a')).hasMail, true, 'hasMail of an opened journal');
    equal([...(await mail.receivers())].sort(), ['a', 'b'], 'the receivers');
    await mail.remove('a', ['2', '3', 'unknown']);
    equal(await mail.read('a'), [first], 'the messages that were not removed');
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('expected a report of the actors "a" and "b"')), REPORT_MS);
      report = () => {
        if (reported.size < 2) return;
        clearTimeout(timer);
        resolve();
      };
      report();
    });
    stop();
    await mail.remove('a', ['1']);
    await store.delete('b');
    equal(
      [await mail.read('b'), await mail.receivers()],
      [[], []],
      'the messages of a deleted actor, and the receivers',
    );
    await stored(store, 'b', middle);
    equal((await store.open('b')).hasMail, false, 'hasMail of a new journal');
  },
  async 'deletes a journal unless it is being written'(store, { journal, middle }) {
    const writer = await written(store, 'a', middle);
    await rejected(store.delete('a'), 'journal_held');
    await writer.close();
    await store.delete('a');
    await rejected(entriesOf(store.read('a')));
    equal(await store.list(), [], 'the list');
    await stored(store, 'a', journal);
    await has(store, 'a', journal);
  },
  async 'prunes only journals that have ended'(store, { journal, middle }) {
    const writer = await written(store, 'running', middle);
    await stored(store, 'waiting', middle);
    await stored(store, 'ended', journal);
    const yearMs = 365 * 24 * 60 * 60 * 1_000;
    equal(await store.prune({ olderThanMs: 100 * yearMs }), 0, 'the number of journals of the last century');
    equal(await store.prune({ olderThanMs: -yearMs }), 1, 'the number of journals that have ended');
    await rejected(entriesOf(store.read('ended')));
    for (const id of ['running', 'waiting']) await has(store, id, middle);
    await writer.close();
  },
};

/** The optional methods that a check calls. */
const NEEDED: Readonly<
  Record<string, readonly ('follow' | 'delete' | 'prune' | 'tail' | 'bounds' | 'changes' | 'mail')[]>
> = {
  'keeps messages for an actor until they are removed or its journal is deleted': ['mail', 'delete'],
  'reads each entry of a growing journal once': ['tail'],
  'has the first and last entries of journals': ['bounds'],
  'reports changed journals': ['changes'],
  'follows a journal to its end': ['follow'],
  'stops following': ['follow'],
  'ends following a journal that is deleted': ['follow', 'delete'],
  'deletes a journal unless it is being written': ['delete'],
  'prunes only journals that have ended': ['prune'],
};

/** How long a store may take to report a change. */
const REPORT_MS = 30_000;

const machineOf = (start: unknown): string => Object(Object(start).machine).id;

/** With sorted keys: a store may return them in another order. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );

function ok(holds: boolean, what: string): void {
  if (!holds) throw new Error(`expected that ${what}`);
}

function equal(received: unknown, expected: unknown, what: string): void {
  const [is, must] = [textOf(received), textOf(expected)];
  if (is !== must) throw new Error(`${what}: expected ${must.slice(0, 1_000)}; received ${is.slice(0, 1_000)}`);
}

async function rejected(promise: Promise<unknown>, code = 'unknown_journal'): Promise<void> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === 'fulfilled') throw new Error(`expected a rejection with "${code}"; received a value`);
  requireCode(result.reason, code);
}

function requireCode(error: unknown, code: string): void {
  if ((Object(error) as { code?: unknown }).code !== code) throw error;
}
