import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openPostgres } from '../../../../src/durable/journals/postgres.ts';
import { postgresJournals } from '../../../../src/durable/journals/postgres-journals.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Opens tables whose first attempts at a statement lose the connection, each after so many milliseconds. */
function openLosing(...pausesMs: readonly number[]) {
  const left = [...pausesMs];
  const source = {
    async query(sql: string) {
      const pauseMs = sql === 'SELECT 1' ? left.shift() : undefined;
      if (pauseMs === undefined) return { rows: [1] };
      vi.advanceTimersByTime(pauseMs);
      throw new Error('Connection terminated unexpectedly');
    },
  };
  return openPostgres(source as never, 'store', 'line', '');
}

it.each([
  ['a pause of a minute', [60_000]],
  ['failures for nine seconds', [0, 3_000, 3_000, 3_000]],
])('a statement is tried again after %s', async (_, pausesMs) => {
  const rows = openLosing(...pausesMs).rows('SELECT 1', []);
  await vi.runAllTimersAsync();
  expect(await rows).toEqual([1]);
});

it('a statement fails after ten seconds of failures', async () => {
  const rows = openLosing(0, 3_000, 3_000, 3_000, 3_000).rows('SELECT 1', []);
  const failed = expect(rows).rejects.toMatchObject({ code: 'invalid_path', message: /Connection terminated/u });
  await vi.runAllTimersAsync();
  await failed;
});

it('the clock of a store shows the time of its server, whatever the clock of the process shows', async () => {
  vi.setSystemTime(5_000_000);
  const query = async (sql: string) => ({
    rows: sql.endsWith(' AS ms') ? [{ ms: 1_000_000 + performance.now() }] : [],
  });
  const startMs = performance.now();
  const journals = postgresJournals({ query });
  await journals.list();
  expect(journals.clock?.now()).toBe(1_000_000 + startMs);
  vi.setSystemTime(9_000_000);
  vi.advanceTimersByTime(500);
  expect(journals.clock?.now()).toBe(1_000_500 + startMs);
  await journals.close();
});

it('the error of a connection that is lost before `connect` resolves does not end the process', () => {
  const pool = Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }) });
  openPostgres(pool, 'store', 'line', '');
  const connection = new EventEmitter();
  pool.emit('connect', connection);
  expect(() => connection.emit('error', new Error('terminating connection'))).not.toThrow();
});
