import { z } from 'zod';
import { type Capability, defineCapability } from './capability.ts';
import { quoted } from './quoted.ts';

const args = z.object({
  timeZone: z.string().optional().describe('An IANA time zone, say Europe/Berlin; UTC where it is left out.'),
});

/** Tells a model the date, the time and the weekday by the run's clock, in UTC or the time zone it asks for. */
export function currentTime(): Capability {
  return defineCapability({
    name: 'current_time',
    description: 'Tells the current date and time (ISO 8601, with its offset from UTC) and the weekday.',
    arguments: args,
    execute: ({ timeZone = '' }, { now }) => timeText(now(), timeZone.trim() || 'UTC'),
  });
}

/** `2026-11-20T15:04:05+01:00 (Friday, Europe/Berlin)`. Throws for a time zone that there is not. */
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
      `there is no time zone ${quoted(timeZone)}; wanted an IANA name, say Europe/Berlin or America/New_York, or none for UTC`,
      { cause },
    );
  }
}
