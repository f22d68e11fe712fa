import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sqliteSessions } from '../../../../src/chain/sqlite-sessions.ts';
import { postgresJournals } from '../../../../src/durable/journals/postgres-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { anError } from '../../../support/errors.ts';

const MISSING = 'the package libsql is not installed; run: npm install libsql';

beforeEach(() => {
  const builtin = process.getBuiltinModule.bind(process) as (name: string) => object;
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
    name === 'node:module' ? { createRequire: withoutLibsql } : builtin(name)) as typeof process.getBuiltinModule);
});
afterEach(() => vi.restoreAllMocks());

/** Fails with Node's own error for a missing package. */
const withoutLibsql = (from: string) => () => createRequire(from)('no-such-package-as-libsql');

test('creates no PostgreSQL store without pg, but says how to install it', () => {
  expect(() => postgresJournals('postgres://localhost/runs')).toThrow(
    expect.objectContaining({
      code: 'package_missing',
      message: 'the package pg is not installed; run: npm install pg',
    }),
  );
  expect(() => postgresJournals({ query: async () => ({ rows: [] }) })).not.toThrow();
});

test('creates SQLite stores without libsql; the first use fails with an install command', async () => {
  const store = sqliteSessions('chat.db');
  const error = await store.open().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject(anError('session_failed', MISSING));
  expect((error as Error).message).not.toContain('\n');
  const journals = sqliteJournals('runs.db');
  expect(() => journals.create('a')).toThrow(anError('invalid_path', MISSING));
});
