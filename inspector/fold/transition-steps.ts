import { countUpTo, lastUpTo } from './sorted.ts';
import type { TransitionLog } from './transition-log.ts';

/** The transitions before and after an entry; those of one machine where it is named. */
export function transitionsAround(
  log: TransitionLog,
  { before, after, machine }: { readonly before: number; readonly after: number; readonly machine: string | null },
): { readonly earlier: number | undefined; readonly later: number | undefined } {
  const lists =
    machine === null ? [log.seqs] : log.ways.filter((way) => way.machine === machine).map(({ seqs }) => seqs);
  const earlier = lists.flatMap((seqs) => lastUpTo(seqs, before - 1) ?? []);
  const later = lists.flatMap((seqs) => seqs[countUpTo(seqs, after)] ?? []);
  return {
    earlier: earlier.length > 0 ? Math.max(...earlier) : undefined,
    later: later.length > 0 ? Math.min(...later) : undefined,
  };
}
