import * as z from 'zod/mini';
import { zodJsonSchema } from '../internal/zod-json-schema.ts';
import { type Capability, defineCapability } from './capability.ts';
import { quoted } from './error-text.ts';

const args = z.object({
  timeZone: z.optional(z.string()).check(z.describe('An IANA time zone, for example Europe/Berlin. Default: UTC.')),
});

/** Returns a capability that returns the date, time and weekday by the run's clock, in UTC or a requested time zone. */
export function currentTime(): Capability {
  return defineCapability({
    name: 'current_time',
    description: 'Returns the current date and time (ISO 8601, with the offset from UTC) and the weekday.',
    arguments: args,
    jsonSchema: zodJsonSchema(args),
    execute: ({ timeZone = '' }, { now }) => timeText(now(), timeZone.trim() || 'UTC'),
  });
}

/** Returns a time such as `2026-11-20T15:04:05+01:00 (Friday, Europe/Berlin)`. Throws for an unknown time zone. */
function timeText(atMs: number, timeZone: string): string {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  return `${date}T${part('hour')}:${part('minute')}:${part('second')}${offset} (${part('weekday')}, ${timeZone})`;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch (cause) {
    throw new Error(
      `unknown time zone ${quoted(timeZone)}; expected an IANA name, for example Europe/Berlin, or none for UTC`,
      { cause },
    );
  }
}
