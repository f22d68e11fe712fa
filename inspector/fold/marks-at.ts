import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartWaysOf } from './chart-ways.ts';
import type { LastTransition, Marks, Place } from './marks.ts';
import { countUpTo } from './sorted.ts';
import { standingAt } from './standing.ts';
import type { TransitionLog } from './transition-log.ts';

/** What a run lights up in its charts at an entry: where they stand, the ways that were taken so far, and the transition just made. */
export function marksAt(transitions: TransitionLog, charts: RunCharts, at: number): Marks {
  const { active, insideOf } = standingAt(transitions, charts, at);
  const ways = chartWaysOf(charts.charts);
  const taken: Record<string, Map<number, number>> = {};
  let last: LastTransition | null = null;
  let newest = -1;
  for (const way of transitions.ways) {
    const times = countUpTo(way.seqs, at);
    if (times === 0) continue;
    const place = ways.placeOf(way);
    if (place !== null) {
      taken[way.machine] ??= new Map();
      const before = taken[way.machine]?.get(place) ?? 0;
      taken[way.machine]?.set(place, before + times);
    }
    const made = way.seqs[times - 1] ?? -1;
    if (made <= newest) continue;
    newest = made;
    last = { chartId: way.machine, transition: place, source: way.source, target: way.target[0] ?? way.source };
  }
  return { active, where: placesIn(insideOf), taken, last };
}

function placesIn(insideOf: Readonly<Record<string, Place | null>>): Record<string, Place> {
  const where: Record<string, Place> = {};
  for (const [chartId, place] of Object.entries(insideOf)) if (place !== null) where[chartId] = place;
  return where;
}
