import type * as Croner from 'croner';
import { importByName, loadOptional } from '../../internal/optional-package.ts';
import { invalid, type StoredSpec } from './schedule-spec.ts';

/** The times of a schedule, in milliseconds since the epoch. */
export interface ScheduleTimes {
  /** The first time after this one; null if there is none. */
  next(afterMs: number): number | null;
  /** The last time until this one, inclusive; null if there is none. */
  latest(untilMs: number): number | null;
}

/**
 * Returns the times of a schedule. A local time that a change to summer time leaves out is moved to the change, and one that occurs twice
 * counts once, unless the hour is a wildcard. Rejects with `invalid_option` for an invalid cron expression, and with `package_missing`.
 */
export async function timesOf({ cron, everyMs, timeZone }: StoredSpec): Promise<ScheduleTimes> {
  if (cron === null) return interval(everyMs ?? Number.POSITIVE_INFINITY);
  const { Cron } = await loadOptional('croner', 'A schedule with "cron"', () => importByName<typeof Croner>('croner'));
  const dates = parsed(() => new Cron(cron, { timezone: timeZone }), cron);
  return {
    next: (afterMs) => dates.nextRun(new Date(afterMs))?.getTime() ?? null,
    // It looks for the second before.
    latest: (untilMs) => dates.previousRuns(1, new Date(untilMs + SECOND_MS))[0]?.getTime() ?? null,
  };
}

const SECOND_MS = 1_000;

function parsed<Dates>(parse: () => Dates, cron: string): Dates {
  try {
    return parse();
  } catch (error) {
    const [, reason] = /^(?:CronPattern: )?(.*?)\.?$/su.exec((error as Error).message) ?? [];
    throw invalid('cron', `a cron expression, for example "0 3 * * *" (${reason})`, cron);
  }
}

function interval(everyMs: number): ScheduleTimes {
  return {
    next: (afterMs) => (Math.floor(afterMs / everyMs) + 1) * everyMs,
    latest: (untilMs) => Math.floor(untilMs / everyMs) * everyMs,
  };
}

/** Returns the times from `fromMs` (inclusive) until `toMs` (exclusive), at most `most`. */
export function timesBetween(times: ScheduleTimes, fromMs: number, toMs: number, most: number): readonly number[] {
  const found: number[] = [];
  for (let at = times.next(fromMs - 1); at !== null && at < toMs && found.length < most; at = times.next(at))
    found.push(at);
  return found;
}

/** Returns a time in ISO 8601, as a time of day in the time zone with its offset. */
export function localText(atMs: number, timeZone: string): string {
  const offsetMs = offsetAt(atMs, timeZone);
  const local = shortText(atMs + offsetMs).slice(0, -1);
  if (offsetMs === 0) return `${local}Z`;
  const offset = new Date(Math.abs(offsetMs)).toISOString().slice(11, 16);
  return `${local}${offsetMs < 0 ? '-' : '+'}${offset}`;
}

/** Returns a time in ISO 8601, in UTC, with milliseconds only if there are any. */
export const shortText = (atMs: number): string => new Date(atMs).toISOString().replace('.000Z', 'Z');

/** Returns the time of a text in ISO 8601, which is a local time if it has no offset. NaN for any other text. */
export function timeOf(text: string, timeZone: string): number {
  if (/T.*(?:Z|[+-]\d\d:?\d\d)$/u.test(text)) return Date.parse(text);
  const asUtc = Date.parse(`${text}${text.includes('T') ? '' : 'T00:00'}Z`);
  if (Number.isNaN(asUtc)) return asUtc;
  // The first offset may be that of the other side of a change of the clocks.
  return asUtc - offsetAt(asUtc - offsetAt(asUtc, timeZone), timeZone);
}

function offsetAt(atMs: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(atMs);
  const { value = '' } = parts.find(({ type }) => type === 'timeZoneName') ?? {};
  const [, sign, hours, minutes] = /([+-])(\d+):(\d+)/u.exec(value) ?? [];
  const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '-' ? -offsetMs : offsetMs;
}
