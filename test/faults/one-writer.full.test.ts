import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { fileJournals } from '../../src/durable/journals/file-journals.ts';
import { entriesOf, type JournalStore } from '../../src/durable/journals/journal-store.ts';
import { postgresJournals } from '../../src/durable/journals/postgres-journals.ts';
import { sqliteJournals } from '../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../support/cli.ts';
import { hasContainers, startWriter, type WriterProcess } from '../support/journal-writers.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { recordedRun } from '../support/recorded-run.ts';

let server: PostgresServer | null = null;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => server?.stop());

/** PostgreSQL needs the programs initdb and postgres, and another PID namespace needs unshare. */
const kinds = ['file', 'sqlite', ...(hasPostgres ? (['postgres'] as const) : [])] as const;
const places = ['beside it', ...(hasContainers ? ['in another PID namespace'] : [])];
const cases = kinds.flatMap((kind) => places.map((where) => [kind, where] as const));

interface Place {
  readonly store: JournalStore;
  readonly journal: readonly DurableEntry[];
  readonly writer: WriterProcess;
  /** Writes the rest of the journal here, and checks that it is whole. */
  finish(): Promise<void>;
}

/** Checks all stores and places in parallel, because some checks wait ten seconds for a lease to expire. */
async function everywhere(check: (place: Place) => Promise<void>): Promise<void> {
  const checked = cases.map(async ([kind, where]) => {
    try {
      await check(await startRun(kind, where !== 'beside it'));
    } catch (cause) {
      throw new Error(`${kind}, ${where}`, { cause });
    }
  });
  await Promise.all(checked);
}

/** Starts a process that has written the first five entries of a run. */
async function startRun(kind: (typeof kinds)[number], isContainer: boolean): Promise<Place> {
  const place = (kind === 'postgres' && (await server?.newSchema())) || join(temporaryFolder(), 'runs.db');
  const store = { file: fileJournals, sqlite: sqliteJournals, postgres: postgresJournals }[kind](place);
  if ('close' in store) onTestFinished(() => (store as { close(): void }).close());
  const journal = await recordedRun();
  const writer = await startWriter(kind, place, isContainer);
  expect(await writer.order({ create: 'a' })).toBeNull();
  for (const write of journal.slice(0, 5)) expect(await writer.order({ write: [write] })).toBeNull();
  const finish = async (): Promise<void> => {
    const opened = await store.open('a');
    expect(opened.entries).toEqual(journal.slice(0, 5));
    await opened.writer.write(journal.slice(5));
    await opened.writer.close();
    expect(opened.writer.failure).toBeNull();
    expect(await entriesOf(store.read('a'))).toEqual(journal);
  };
  return { store, journal, writer, finish };
}

describe(`a journal that a process writes (${kinds.join(', ')}; ${places.join(', ')})`, () => {
  it('cannot be opened while the process runs, and can once the process closes it', () =>
    everywhere(async ({ store, writer, finish }) => {
      expect((await store.list())[0]?.status).toBe('running');
      await expect(store.open('a')).rejects.toMatchObject({
        code: 'journal_held',
        message: expect.stringMatching(/^Journal "a" is still running in process \d+/u),
      });
      expect(await writer.order({ close: true })).toBeNull();
      await finish();
    }));

  it('can be opened after the process was killed', () =>
    everywhere(async ({ writer, finish }) => {
      writer.signal('SIGKILL');
      await writer.ended;
      await finish();
    }));

  it('can be opened while the process is stopped; the process cannot write when it continues', () =>
    everywhere(async ({ writer, journal, finish, store }) => {
      await writer.stop();
      await finish();
      writer.signal('SIGCONT');
      const [, , , , , next] = journal;
      expect(await writer.order({ write: [next as DurableEntry] })).toMatch(
        /^Journal "a" is no longer written by this process, because (?:process \d+ has taken it over|its lock was removed)/u,
      );
      await writer.order({ close: true });
      expect(await entriesOf(store.read('a'))).toEqual(journal);
    }));

  it('can be taken over by force from a process that runs', () =>
    everywhere(async ({ writer, journal, store }) => {
      const opened = await store.open('a', { force: true });
      const [, , , , , next, after] = journal as [DurableEntry, DurableEntry, ...DurableEntry[]];
      expect(await writer.order({ write: [next as DurableEntry] })).toMatch(/has taken it over/u);
      for (const entry of [next, after]) await opened.writer.write([entry as DurableEntry]);
      expect(opened.writer.failure).toBeNull();
      await writer.order({ close: true });
      expect((await store.list())[0]?.status).toBe('running');
      await opened.writer.close();
      expect(await entriesOf(store.read('a'))).toEqual(journal.slice(0, 7));
    }));
});
