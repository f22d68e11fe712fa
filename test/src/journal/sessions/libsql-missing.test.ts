import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sqliteSessions } from '../../../../src/journal/sessions/sqlite-sessions.ts';
import { sqliteJournals } from '../../../../src/journal/stores/sqlite-journals.ts';

const MISSING = 'the package libsql is missing: npm install libsql';

beforeEach(() => {
  const builtin = process.getBuiltinModule.bind(process) as (name: string) => object;
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
    name === 'node:module' ? { createRequire: withoutLibsql } : builtin(name)) as typeof process.getBuiltinModule);
});
afterEach(() => vi.restoreAllMocks());

/** Node's own error for a package that is not there. */
const withoutLibsql = (from: string) => () => createRequire(from)('no-such-package-as-libsql');

test('a store is made without the libsql package; when it is needed, one line says that it is missing and how to get it', async () => {
  const store = sqliteSessions('chat.db');
  const error = await store.open().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'session_failed', message: expect.stringContaining(MISSING) });
  expect((error as Error).message).not.toContain('\n');
  const journals = sqliteJournals('runs.db');
  expect(() => journals.create('a')).toThrow(
    expect.objectContaining({ code: 'invalid_path', message: expect.stringContaining(MISSING) }),
  );
});
