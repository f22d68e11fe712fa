import { expect, test, vi } from 'vitest';
import { sqliteSessions } from '../../../src/sessions/sqlite-sessions.ts';

vi.mock('libsql', () => {
  throw Object.assign(new Error("Cannot find package 'libsql'"), { code: 'ERR_MODULE_NOT_FOUND' });
});

test('a store is made without the libsql package; when it is needed, one line says that it is missing and how to get it', async () => {
  const store = sqliteSessions('chat.db');
  const error = await store.open().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'session_failed',
    message: expect.stringContaining('the package libsql is missing: npm install libsql'),
  });
  expect((error as Error).message).not.toContain('\n');
});
