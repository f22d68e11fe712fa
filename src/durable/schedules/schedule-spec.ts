import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { copyOfJson, type Json } from '../codec.ts';

/** When a schedule starts actors, of which machine, and with which input. */
export interface ScheduleSpec {
  /** The id of the machine: that of one of the `hosts`. */
  readonly machine: string;
  /** A cron expression, for example `0 3 * * *`. Requires the package `croner`. */
  readonly cron?: string;
  /** The IANA time zone of the cron expression, for example `Europe/Berlin`; by default `UTC`. */
  readonly timeZone?: string;
  /** Instead of `cron`: the interval in milliseconds, at least 1,000, counted from 1970-01-01 UTC. */
  readonly everyMs?: number;
  /** The input of each actor, which also gets the member `scheduledAt`: its time in ISO 8601, in the time zone. */
  readonly input?: Readonly<Record<string, Json>>;
  /** `skip` (default) starts no actor while the last one that the schedule started has not ended. */
  readonly overlap?: 'skip' | 'allow';
}

/** A schedule as its journal stores it. */
export type StoredSpec = Required<Omit<ScheduleSpec, 'cron' | 'everyMs'>> & {
  readonly cron: string | null;
  readonly everyMs: number | null;
};

const MIN_INTERVAL_MS = 1_000;

/** Returns a valid spec with its defaults. The cron expression is not checked. Throws `invalid_option`, or `not_durable` for the input. */
export function requireSpec(given: ScheduleSpec, machines: readonly string[]): StoredSpec {
  requireKnownOptions('set', given, 'machine cron timeZone everyMs input overlap');
  const { machine, cron = null, timeZone = 'UTC', everyMs = null, input = {}, overlap = 'skip' } = given;
  if (!machines.includes(machine)) throw invalid('machine', `the machine of a host: ${machines.join(', ')}`, machine);
  if ((cron === null) === (everyMs === null))
    throw invalid('cron', 'either "cron" or "everyMs"', cron === null ? undefined : 'both');
  if (cron !== null && typeof cron !== 'string') throw invalid('cron', 'a cron expression', cron);
  if (everyMs !== null && !(Number.isInteger(everyMs) && everyMs >= MIN_INTERVAL_MS))
    throw invalid('everyMs', `a whole number of milliseconds, at least ${MIN_INTERVAL_MS}`, everyMs);
  if (everyMs !== null && given.timeZone !== undefined)
    throw invalid('timeZone', 'a time zone only with "cron"', timeZone);
  requireTimeZone(timeZone);
  if (Object(input) !== input || Array.isArray(input)) throw invalid('input', 'an object', input);
  if (!['skip', 'allow'].includes(overlap)) throw invalid('overlap', '"skip" or "allow"', overlap);
  const stored = copyOfJson(input as Json, 'input of a schedule') as StoredSpec['input'];
  return { machine, cron, timeZone, everyMs, input: stored, overlap };
}

function requireTimeZone(timeZone: unknown): void {
  try {
    if (typeof timeZone === 'string') return void new Intl.DateTimeFormat('en-US', { timeZone });
  } catch {
    // Reported below.
  }
  throw invalid('timeZone', 'an IANA time zone, for example "Europe/Berlin"', timeZone);
}

export const invalid = (what: string, expected: string, received: unknown): PostChainError =>
  new PostChainError(
    'invalid_option',
    `${what} of a schedule: expected ${expected}; received ${describeValue(received)}.`,
  );
