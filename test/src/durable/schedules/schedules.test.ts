import { describe, expect, it, vi } from 'vitest';
import { setup } from 'xstate';
import {
  createDurableMachine,
  createSchedules,
  createWorker,
  type DurableEntry,
  type Journals,
  type JournalWriter,
  memoryJournals,
  type ScheduleSpec,
} from '../../../../src/entries/durable.ts';
import { anError } from '../../../support/errors.ts';
import { JOURNAL_STORES } from '../../../support/journal-files.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const HOUR = 3_600_000;

/** A report, which takes no time, or as long as its input says. */
const report = setup({
  types: { input: {} as { ms?: number }, context: {} as { ms: number; input: object } },
  delays: { work: ({ context }) => context.ms },
}).createMachine({
  id: 'report',
  context: ({ input }) => ({ ms: input.ms ?? 0, input }),
  initial: 'writing',
  states: { writing: { after: { work: 'written' } }, written: { type: 'final' } },
});

function setUp(start = '2026-11-30T00:00:00Z', journals: Journals = memoryJournals()) {
  const clock = new TestClock();
  clock.set(Date.parse(start));
  const reports = createDurableMachine(report, { journals, clock });
  const schedules = createSchedules({ journals, hosts: [reports], clock });
  const worker = createWorker({ hosts: [schedules, reports], clock, pollMs: 1e12 });
  /** Lets a worker look for work until nothing is due. */
  const work = async (): Promise<void> => {
    for (;;) {
      await worker.poll();
      if ((await schedules.due()).length + (await reports.due()).length === 0) return;
    }
  };
  /** Lets a number of hours pass, one at a time. */
  const pass = async (hours: number, stepMs = HOUR): Promise<void> => {
    for (let passed = 0; passed < hours * HOUR; passed += stepMs) {
      clock.increment(stepMs);
      await work();
    }
  };
  const started = async (): Promise<readonly string[]> => (await reports.list()).map(({ id }) => id).toSorted();
  const entries = async (id: string): Promise<readonly DurableEntry[]> => {
    const all: DurableEntry[] = [];
    for await (const entry of journals.read(id)) all.push(entry);
    return all;
  };
  /** What the calls of a schedule returned. */
  const results = async (id: string): Promise<readonly object[]> =>
    (await entries(id)).flatMap((entry) =>
      entry.type === 'activity-event' && entry.source === 'startDue' ? [Object(entry.event).data] : [],
    );
  return { clock, journals, reports, schedules, work, pass, started, entries, results };
}

/** A store that gets keyframes often. */
function withKeyframes(journals: Journals): Journals {
  const frequent = (writer: JournalWriter): JournalWriter => Object.assign(writer, { keyframeEvery: 20 });
  return {
    ...journals,
    create: (id) => frequent(journals.create(id)),
    open: async (id, options) => {
      const { entries, writer } = await journals.open(id, options);
      return { entries, writer: frequent(writer) };
    },
  };
}

const EVERY_HOUR: ScheduleSpec = { machine: 'report', everyMs: HOUR };

describe('a schedule', () => {
  it.each([
    ['2026-03-28', ['2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']],
    ['2026-10-24', ['2026-10-24T00:30:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
  ])('starts an actor once a day, also when the clocks change: %s', async (day, times) => {
    const { schedules, pass, started } = setUp(`${day}T00:00:00Z`);
    await schedules.set('s', { machine: 'report', cron: '30 2 * * *', timeZone: 'Europe/Berlin' });
    await pass(60, HOUR / 2);
    expect(await started()).toEqual(times.map((time) => `s/${time}`));
  });

  it.each(JOURNAL_STORES)('starts actors with their time, and parks in between: %s', async (_, create) => {
    const { schedules, reports, pass, started, journals } = setUp('2026-11-30T00:00:00Z', create());
    const input = { kind: 'daily' };
    await schedules.set('nightly', { machine: 'report', cron: '0 3 * * *', timeZone: 'Europe/Berlin', input });
    await pass(3);
    expect(await started()).toEqual(['nightly/2026-11-30T02:00:00Z']);
    const [actor] = await reports.list({ where: { schedule: 'nightly' } });
    expect(actor?.status).toBe('done');
    const { snapshot } = await reports.query(actor?.id ?? '');
    expect(snapshot.context.input).toEqual({ kind: 'daily', scheduledAt: '2026-11-30T03:00:00+01:00' });
    expect(schedules.host.isOpen('nightly')).toBe(false);
    const summary = {
      id: 'nightly',
      machine: 'report',
      cron: '0 3 * * *',
      timeZone: 'Europe/Berlin',
      everyMs: null,
      isPaused: false,
      nextAt: '2026-12-01T03:00:00+01:00',
      last: { id: 'nightly/2026-11-30T02:00:00Z', at: '2026-11-30T03:00:00+01:00' },
      error: null,
    };
    expect(await schedules.list()).toEqual([summary]);
    // While a process has it open, a list has no summary.
    const opened = await schedules.host.open('nightly');
    expect(await schedules.list()).toEqual([summary]);
    await opened.close();
    await schedules.delete('nightly');
    expect(await schedules.list()).toEqual([]);
    expect((await journals.list()).map(({ id }) => id)).toEqual([actor?.id]);
  });

  it('skips a time while the last actor runs, and its journal says for which', async () => {
    const { schedules, pass, started, entries } = setUp();
    await schedules.set('s', { ...EVERY_HOUR, input: { ms: 1.25 * HOUR } });
    await pass(4, HOUR / 2);
    expect(await started()).toEqual(['s/2026-11-30T01:00:00Z', 's/2026-11-30T03:00:00Z']);
    const skipped = (await entries('s')).flatMap((entry) =>
      entry.type === 'transition' && entry.candidates[0]?.result === 'taken' ? [entry.candidates[0]] : [],
    );
    expect(skipped).toMatchObject(
      ['01', '03'].map((hour) => ({
        guard: 'isLastRunning',
        inputs: { running: `s/2026-11-30T${hour}:00:00Z` },
      })),
    );
  });

  it('starts actors while others run if it may overlap', async () => {
    const { schedules, pass, started } = setUp();
    await schedules.set('s', { ...EVERY_HOUR, input: { ms: 9 * HOUR }, overlap: 'allow' });
    await pass(3);
    expect(await started()).toHaveLength(3);
  });

  it('starts only the latest of the times that no process saw, and a backfill the others, once', async () => {
    const { clock, schedules, work, started, results } = setUp('2026-11-29T22:00:00Z');
    await schedules.set('s', { machine: 'report', cron: '0 * * * *', timeZone: 'Europe/Berlin' });
    clock.increment(5.5 * HOUR);
    await work();
    expect(await started()).toEqual(['s/2026-11-30T03:00:00Z']);
    expect(await results('s')).toMatchObject([{ missedFrom: '2026-11-29T23:00:00Z' }]);
    // Local times: from 23:00 until 02:00 in UTC.
    const range = { from: '2026-11-30', to: '2026-11-30T03:00' };
    const ids = ['s/2026-11-29T23:00:00Z', 's/2026-11-30T00:00:00Z', 's/2026-11-30T01:00:00Z'];
    expect(await schedules.backfill('s', range)).toEqual(ids);
    expect(await started()).toEqual([...ids, 's/2026-11-30T03:00:00Z']);
    await work();
    expect(await schedules.backfill('s', { from: '2026-11-30', to: new Date('2027-01-01') })).toHaveLength(5);
    expect(await started()).toHaveLength(5);
    expect((await schedules.list())[0]?.last?.id).toBe('s/2026-11-30T03:00:00Z');
  });

  it('starts nothing while it is paused, and leaves out the times until it is resumed', async () => {
    const { schedules, pass, started } = setUp();
    await schedules.set('s', EVERY_HOUR);
    await pass(1);
    await schedules.pause('s');
    await schedules.pause('s');
    await pass(3);
    expect(await schedules.list()).toMatchObject([{ isPaused: true, nextAt: null }]);
    await schedules.backfill('s', { from: '2026-11-30T02:00Z', to: '2026-11-30T03:00Z' });
    await schedules.resume('s');
    expect(await schedules.list()).toMatchObject([{ isPaused: false, nextAt: '2026-11-30T05:00:00Z' }]);
    await pass(1);
    expect(await started()).toEqual(['01', '02', '05'].map((hour) => `s/2026-11-30T${hour}:00:00Z`));
  });

  it('is changed from now on, also while it is paused, and not at all by the same spec', async () => {
    const { schedules, pass, started, entries } = setUp();
    await schedules.set('s', { ...EVERY_HOUR, input: { a: 1, b: 2 } });
    const before = await entries('s');
    await schedules.set('s', { ...EVERY_HOUR, input: { b: 2, a: 1 } });
    expect(await entries('s')).toEqual(before);
    await schedules.pause('s');
    await schedules.set('s', { machine: 'report', everyMs: 3 * HOUR });
    expect(await schedules.list()).toMatchObject([{ isPaused: true, everyMs: 3 * HOUR }]);
    await schedules.resume('s');
    await pass(4);
    await schedules.set('s', EVERY_HOUR);
    await pass(1);
    expect(await started()).toEqual(['s/2026-11-30T03:00:00Z', 's/2026-11-30T05:00:00Z']);
  });

  it('ends with its last time, and when it is stopped; it can be set again', async () => {
    const { schedules, pass, started } = setUp('2026-12-31T22:00:00Z');
    await schedules.set('s', { machine: 'report', cron: '0 0 0 1 1 * 2027' });
    await pass(3);
    expect(await started()).toEqual(['s/2027-01-01T00:00:00Z']);
    expect(await schedules.list()).toMatchObject([{ nextAt: null }]);
    await schedules.set('s', EVERY_HOUR);
    await pass(1);
    expect(await started()).toHaveLength(2);
    await schedules.host.stop('s');
    expect(await schedules.list()).toEqual([]);
    await expect(schedules.pause('s')).rejects.toMatchObject(anError('unknown_journal', 'create it again with set()'));
    await schedules.set('s', EVERY_HOUR);
    await pass(1);
    expect(await started()).toHaveLength(3);
  });

  it('tries a time again whose actor could not be started, later each time, and reports why', async () => {
    const journals = memoryJournals();
    const { schedules, pass, started } = setUp('2026-11-30T00:59:00Z', journals);
    await schedules.set('s', EVERY_HOUR);
    const create = vi.spyOn(journals, 'create').mockImplementation(() => {
      throw new Error('the disk is full');
    });
    await pass(1 / 30, 10_000);
    expect(create).toHaveBeenCalledTimes(3);
    expect(await schedules.list()).toMatchObject([{ error: 'the disk is full', last: null }]);
    create.mockRestore();
    await pass(1 / 30, 10_000);
    expect(await schedules.list()).toMatchObject([{ error: null }]);
    expect(await started()).toEqual(['s/2026-11-30T01:00:00Z']);
  });

  it('that has fired hundreds of times is opened from a keyframe', async () => {
    const { clock, schedules } = setUp('2026-11-30T00:00:00Z', withKeyframes(memoryJournals()));
    await schedules.set('s', { ...EVERY_HOUR, input: { ms: 1e12 } });
    for (let count = 0; count < 100; count += 1) {
      clock.increment(HOUR);
      await schedules.host.advance('s');
    }
    const opened = await schedules.host.open('s');
    const [, second] = opened.entries;
    expect(second?.type).toBe('keyframe');
    expect(second?.seq).toBeGreaterThan(600);
    await opened.close();
  });
});

describe('schedules', () => {
  it.each<[Partial<Record<keyof ScheduleSpec, unknown>>, string]>([
    [{ machine: 'other' }, 'machine of a schedule: expected the machine of a host: report; received "other".'],
    [{}, 'cron of a schedule: expected either "cron" or "everyMs"; received undefined.'],
    [{ cron: '0 3 * * *', everyMs: HOUR }, 'cron of a schedule: expected either "cron" or "everyMs"; received "both".'],
    [{ cron: '0 3 * *' }, 'cron of a schedule: expected a cron expression, for example "0 3 * * *" (invalid'],
    [{ cron: '0 25 * * *' }, '(Invalid value for hour: 25); received "0 25 * * *".'],
    [{ cron: '0 0 30 2 *' }, 'expected an expression with a time in the future; received "0 0 30 2 *".'],
    [{ cron: 3 }, 'cron of a schedule: expected a cron expression; received 3.'],
    [{ everyMs: 999 }, 'everyMs of a schedule: expected a whole number of milliseconds, at least 1000; received 999.'],
    [{ everyMs: HOUR, timeZone: 'UTC' }, 'timeZone of a schedule: expected a time zone only with "cron"'],
    [{ cron: '0 3 * * *', timeZone: 'Berlin' }, 'timeZone of a schedule: expected an IANA time zone, for example'],
    [{ everyMs: HOUR, input: [] }, 'input of a schedule: expected an object; received an array of 0.'],
    [{ everyMs: HOUR, overlap: 'no' }, 'overlap of a schedule: expected "skip" or "allow"; received "no".'],
  ])('reject %j', async (spec, message) => {
    const { schedules, journals } = setUp();
    await expect(schedules.set('s', { machine: 'report', ...spec } as ScheduleSpec)).rejects.toMatchObject(
      anError('invalid_option', message),
    );
    expect(await journals.list()).toEqual([]);
  });

  it('reject a backfill of too many times, or of none that can be read', async () => {
    const { schedules } = setUp();
    await schedules.set('s', { machine: 'report', everyMs: 1_000 });
    const to = '2026-11-30';
    await expect(schedules.backfill('s', { from: '2026-11-29', to })).rejects.toMatchObject(
      anError('invalid_option', 'from of a schedule: expected a range of at most 1000 times; received "2026-11-29'),
    );
    await expect(schedules.backfill('s', { from: 'yesterday', to })).rejects.toMatchObject(
      anError('invalid_option', 'expected a Date or a time in ISO 8601; received "yesterday".'),
    );
    await expect(schedules.backfill('other', { from: to, to })).rejects.toMatchObject({ code: 'unknown_journal' });
  });

  it('reject hosts that are not durable machines', () => {
    expect(() => createSchedules({ journals: memoryJournals(), hosts: [] })).toThrow('hosts: expected a list of');
  });
});
