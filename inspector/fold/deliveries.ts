import type { RunLog } from '../log/run-log.ts';
import type { Places } from './places.ts';
import { countUpTo } from './sorted.ts';

/** What was sent to a run, and how many entries there were then. */
export interface Told {
  readonly event: unknown;
  readonly from: number;
}

/** Where the journal says that it was delivered, and whether the chart refused it there. */
export interface Delivery {
  readonly seq: number;
  readonly isRefused: boolean;
}

/** The deliveries of what was sent, the oldest first; null for what is not in the journal yet. No delivery is that of two. */
export function deliveriesOf(
  log: RunLog,
  places: Places,
  all: readonly Told[],
  seq: number,
): readonly (Delivery | null)[] {
  const deliveries = places.of('delivery');
  const taken = new Set<number>();
  return all.map(({ event, from }) => {
    const wanted = sorted(event);
    const found = deliveries.slice(countUpTo(deliveries, from - 1), countUpTo(deliveries, seq)).find((at) => {
      const entry = log.entry(at);
      return !taken.has(at) && entry.type === 'delivery' && sorted(entry.event) === wanted;
    });
    if (found === undefined) return null;
    taken.add(found);
    return { seq: found, isRefused: found < seq && log.entry(found + 1).type === 'direction-refused' };
  });
}

/** JSON with the members of each object in the order of their names. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) =>
    typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      ? Object.fromEntries(Object.entries(inside).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inside,
  );
}
