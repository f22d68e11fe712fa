import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { currentTime } from '../../../src/tools/current-time.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { runCapability } from '../../../src/tools/run-capability.ts';

const AT = Date.UTC(2026, 10, 20, 14, 4, 5, 678);

const ask = (timeZone?: string | null, atMs = AT) =>
  runCapability(createRegistry([currentTime()]), {
    capability: 'current_time',
    arguments: timeZone === undefined ? {} : { timeZone },
    maxResultChars: 1_000,
    sessionId: null,
    idempotencyKey: 'run-1.s1.action.1',
    now: () => atMs,
    signal: new AbortController().signal,
  });

describe('currentTime', () => {
  test.each<[string | null | undefined, string]>([
    [undefined, '2026-11-20T14:04:05+00:00 (Friday, UTC)'],
    [null, '2026-11-20T14:04:05+00:00 (Friday, UTC)'],
    ['', '2026-11-20T14:04:05+00:00 (Friday, UTC)'],
    ['Europe/Berlin', '2026-11-20T15:04:05+01:00 (Friday, Europe/Berlin)'],
    ['Asia/Kolkata', '2026-11-20T19:34:05+05:30 (Friday, Asia/Kolkata)'],
    ['America/St_Johns', '2026-11-20T10:34:05-03:30 (Friday, America/St_Johns)'],
    ['Pacific/Kiritimati', '2026-11-21T04:04:05+14:00 (Saturday, Pacific/Kiritimati)'],
  ])('[R10] returns the time in %s by the clock of the run, with offset and weekday', async (timeZone, output) => {
    expect(await ask(timeZone)).toMatchObject({ success: true, output });
  });

  test('[R10] applies daylight saving time', async () => {
    expect((await ask('Europe/Berlin', Date.UTC(2026, 6, 1, 22, 30))).output).toBe(
      '2026-07-02T00:30:00+02:00 (Thursday, Europe/Berlin)',
    );
  });

  it('[R10] returns the time of the clock in any zone, to the second', async () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe');
    const moments = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2199, 11) });
    await fc.assert(
      fc.asyncProperty(zones, moments, async (zone, atMs) => {
        const [time = ''] = (await ask(zone, atMs)).output.split(' ');
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
        expect(Date.parse(time)).toBe(Math.floor(atMs / 1_000) * 1_000);
      }),
    );
  });

  it.each(['Mars/Olympus', 'Berlin', '__proto__', '\u001b[2J', 'x'.repeat(10_000)])(
    '[R7] fails for the unknown zone %j with an explanation',
    async (zone) => {
      const result = await ask(zone);
      expect(result).toMatchObject({ success: false, code: 'threw' });
      expect(result.error).toMatch(
        /^unknown time zone ".{1,60}"; expected an IANA name, for example Europe\/Berlin[^\p{C}]*$/u,
      );
    },
  );
});
