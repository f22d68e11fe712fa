import Database from 'libsql';
import { beforeEach, expect, it, vi } from 'vitest';
import { createMachine } from 'xstate';
import { durableObjectJournals, type ObjectStorage } from '../../../../src/entries/cloudflare.ts';
import { createDurableMachine } from '../../../../src/entries/durable.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_MS });
  return () => vi.useRealTimers();
});

/** The storage of an object, in memory. Its alarm is a number, which a test sets to null when the alarm ends. */
function objectStorage(): ObjectStorage & { alarmMs: number | null } {
  const db = new Database(':memory:');
  return {
    alarmMs: null,
    sql: {
      exec(query, ...values) {
        if (values.length > 0) return { toArray: () => rowsOf(query, values) };
        db.exec(query);
        return { toArray: () => [] };
      },
    },
    transactionSync: (act) => db.transaction(act)(),
    async getAlarm() {
      return this.alarmMs;
    },
    async setAlarm(atMs) {
      this.alarmMs = atMs;
    },
    async deleteAlarm() {
      this.alarmMs = null;
    },
  };
  function rowsOf(query: string, values: readonly unknown[]): object[] {
    const statement = db.prepare(query);
    if (statement.reader) return statement.all(...values) as object[];
    statement.run(...values);
    return [];
  }
}

const expiring = (delayMs: number) =>
  createMachine({
    id: `expires-in-${delayMs}`,
    initial: 'open',
    states: { open: { after: { [delayMs]: 'expired' } }, expired: { type: 'final' } },
  });

/** Starts an actor with a delay, which then only waits. */
async function start(storage: ObjectStorage, delayMs: number) {
  const clock = new TestClock();
  clock.set(Date.now());
  const machine = createDurableMachine(expiring(delayMs), { journals: durableObjectJournals(storage), clock });
  await (await machine.open(`after-${delayMs}`)).park();
  return async () => {
    clock.set(Date.now());
    storage.deleteAlarm();
    await machine.wake();
  };
}

it('the alarm of an object is at the next delay of all its actors, and none is left when they have ended', async () => {
  const storage = objectStorage();
  const wakeLater = await start(storage, 2 * HOUR);
  const wakeSooner = await start(storage, HOUR);
  expect(storage.alarmMs).toBe(START_MS + HOUR);
  vi.setSystemTime(START_MS + HOUR);
  await wakeSooner();
  expect(storage.alarmMs).toBe(START_MS + 2 * HOUR);
  vi.setSystemTime(START_MS + 2 * HOUR);
  await wakeLater();
  expect(storage.alarmMs).toBeNull();
});

it('an alarm that comes before its delay has ended, by the clock of the object, is set again', async () => {
  const storage = objectStorage();
  const wake = await start(storage, HOUR);
  vi.setSystemTime(START_MS + HOUR - 5);
  await wake();
  expect(storage.alarmMs).toBe(START_MS + HOUR);
});

it('the time between two attempts to continue an actor doubles, up to an hour', async () => {
  const storage = objectStorage();
  const journals = durableObjectJournals(storage);
  const machine = createDurableMachine(expiring(HOUR), { journals });
  const writer = journals.create('broken');
  await writer.write((await recorded(machine)).slice(0, 1));
  await writer.close();
  const waits: number[] = [];
  for (let tries = 0; tries < 10; tries += 1) {
    waits.push(((storage.alarmMs ?? 0) - Date.now()) / SECOND);
    vi.setSystemTime(storage.alarmMs ?? 0);
    storage.alarmMs = null;
    await journals.list();
  }
  expect(waits).toEqual([30, 30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
});

async function recorded(machine: ReturnType<typeof createDurableMachine>) {
  const actor = await machine.open('recorded');
  await actor.stop();
  return actor.entries;
}

it('two stores on the storage of one object share which journals are written', async () => {
  const storage = objectStorage();
  const [one, other] = [expiring(HOUR), expiring(HOUR)].map((machine) =>
    createDurableMachine(machine, { journals: durableObjectJournals(storage) }),
  );
  const actor = await one?.open('a');
  await expect(other?.open('a')).rejects.toMatchObject({ code: 'journal_held' });
  await actor?.park();
  await (await other?.open('a'))?.park();
});
