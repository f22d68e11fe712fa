import type { RunLog } from '../log/run-log.ts';
import { countBegunBy } from './sorted.ts';
import type { PhaseSpan, Spans } from './spans.ts';

/** A phase as it stood at an entry; `summary` is what it came to, or what it failed by. */
export interface PhaseAt extends Pick<PhaseSpan, 'from' | 'phase' | 'cycle'> {
  readonly status: 'under way' | 'done' | 'failed' | 'broken off';
  readonly summary: string;
}

/** The phases of the cycle that is under way at an entry, in the order in which they began. */
export function phasesOfCycle(log: RunLog, { phases }: Spans, at: number): readonly PhaseAt[] {
  const told: PhaseAt[] = [];
  const count = countBegunBy(phases, at);
  const cycle = phases[count - 1]?.cycle;
  for (let place = count - 1; phases[place]?.cycle === cycle && place >= 0; place -= 1) {
    const span = phases[place];
    if (span !== undefined) told.unshift(stand(log, span, at));
  }
  return told;
}

function stand(log: RunLog, { from, phase, cycle, to, failure }: PhaseSpan, at: number): PhaseAt {
  const known = { from, phase, cycle };
  if (to === null || to > at) return { ...known, status: 'under way', summary: '' };
  if (failure !== null) return { ...known, status: 'failed', summary: failure.message };
  const end = log.entry(to);
  if (end.type !== 'phase-end') return { ...known, status: 'broken off', summary: '' };
  return { ...known, status: 'done', summary: end.summary };
}
