import type { ConsentRequest } from '../../machines/contracts/context.ts';
import type { RunLog } from '../log/run-log.ts';
import type { EntryOf } from './entry-of.ts';
import type { Places } from './places.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/** A question about the user's own messages, and how it was settled; null while it is open. */
export interface Consent {
  readonly asked: number;
  readonly request: ConsentRequest;
  readonly resolved: EntryOf<'consent-resolved'> | null;
}

/** The last questions up to an entry, in order: one at a time is open. */
export function consentsBy(log: RunLog, places: Places, seq: number, most: number): readonly Consent[] {
  const all = places.of('consent-asked');
  const count = countUpTo(all, seq);
  const asked = all.slice(Math.max(0, count - most), count);
  const answers = places.of('consent-resolved');
  return asked.flatMap((at, place) => {
    const entry = log.entry(at);
    if (entry.type !== 'consent-asked') return [];
    const end = asked[place + 1] ?? seq;
    const answer = lastUpTo(answers, end);
    const resolved = answer !== undefined && answer > at ? log.entry(answer) : null;
    return [{ asked: at, request: entry.request, resolved: resolved?.type === 'consent-resolved' ? resolved : null }];
  });
}
