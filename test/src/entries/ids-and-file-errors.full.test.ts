import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createPostChain,
  type JournalStore,
  memoryJournals,
  memorySessions,
  redo,
  type SessionStore,
  undo,
} from '../../../src/entries/index.ts';
import { inspectionServer } from '../../../src/entries/inspection.ts';
import { fileJournals, loadDocuments, readJournal, sqliteJournals, sqliteSessions } from '../../../src/entries/node.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { anyId, codesOf } from '../../support/any-id.ts';
import { temporaryFolder } from '../../support/cli.ts';

const chainOn = (journals: JournalStore, newId?: () => string, sessions?: SessionStore) =>
  createPostChain({
    model: scriptedModel({}, { otherwise: replies }),
    journals,
    ...(newId && { newId }),
    ...(sessions && { sessions }),
  });

function openUntilEnd<Store extends { close(): void }>(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}

const signal = new AbortController().signal;

/** All calls of a chain and its stores that take the id of a run or a session. */
function calls(journals: JournalStore, sessions: SessionStore, id: string): Record<string, () => unknown> {
  const chain = chainOn(journals);
  const turn = { runId: 'x', request: 'a', answer: 'b' } as never;
  return {
    resumeUnknown: () => chain.resume(id),
    newId: async () => (await chainOn(journals, () => id).run({ request: 'a' }).answer).status,
    runId: async () => (await chainOn(journals).run({ request: 'a', runId: id }).answer).status,
    sessionId: async () =>
      (await chainOn(journals, undefined, sessions).run({ request: 'a', sessionId: id }).answer).status,
    resume: () => chain.resume(id),
    send: () => chain.send(id, { type: 'run.cancelled' }),
    advance: () => chain.advance(id),
    fork: async () => (await chain.fork(id, { at: 1 })).answer,
    read: () => journals.read(id)[Symbol.asyncIterator]().next(),
    delete: () => journals.delete?.(id),
    recall: () => sessions.recall(id, { turns: 3, signal }),
    append: () => sessions.append(id, turn, { signal }),
    undo: () => undo({ initial: [], operations: [], undone: [] } as never, id),
    redo: () => redo({ initial: [], operations: [], undone: [] } as never, id),
  };
}

it('every call with any id settles, any error has a code, and all stores agree', async () => {
  const stores = [
    [memoryJournals(), memorySessions()],
    [fileJournals(temporaryFolder()), memorySessions()],
    [
      openUntilEnd(sqliteJournals(join(temporaryFolder(), 'a.db'))),
      openUntilEnd(sqliteSessions(join(temporaryFolder(), 'sessions.db'))),
    ],
  ] as const;
  await fc.assert(
    fc.asyncProperty(anyId, async (id) => {
      const [first, ...others] = await Promise.all(
        stores.map((store) => codesOf(calls(store[0], store[1], id as string))),
      );
      for (const other of others) expect(other).toEqual(first);
      const codes = Object.values(first ?? {});
      expect(codes.filter((code) => typeof code !== 'string' || code === 'internal')).toEqual([]);
    }),
  );
});

describe('a path that the file system does not open', () => {
  const names = ['dir', 'dir.md', 'loop', 'nothing', 'missing', 'text.md/x', 'y'.repeat(300), 'bytes', 'nul\0'];
  const values: readonly unknown[] = [...names, '', '\0', 7, null, undefined, {}, []];

  it.each(values.map((value) => [value]))(
    '%j: every function that takes it settles, and any error has a code',
    async (path) => {
      const folder = temporaryFolder();
      for (const name of ['dir', 'dir.md']) mkdirSync(join(folder, name));
      symlinkSync('loop', join(folder, 'loop'));
      symlinkSync('nowhere', join(folder, 'nothing'));
      writeFileSync(join(folder, 'text.md'), 'text');
      writeFileSync(join(folder, 'bytes'), Buffer.from([0, 255, 254, 1]));
      const given = (names.includes(path as string) ? join(folder, path as string) : path) as string;
      const codes = await codesOf({
        readJournal: () => readJournal(given).next(),
        loadDocuments: () => loadDocuments([given]),
        sqliteJournals: () => openUntilEnd(sqliteJournals(given)).list(),
        sqliteSessions: () => openUntilEnd(sqliteSessions(given)).open(),
        list: () => fileJournals(given).list(),
        resume: () => chainOn(fileJournals(given)).resume('x'),
        inspectionServer: async () => (await inspectionServer({ journals: fileJournals(given) })).close(),
      });
      expect(
        Object.entries(codes).filter(([, code]) => typeof code !== 'string' || /^(?:E[A-Z]+|internal)$/u.test(code)),
      ).toEqual([]);
      expect(codes).toMatchObject({ readJournal: expect.stringMatching(/^invalid/u) });
    },
  );
});
