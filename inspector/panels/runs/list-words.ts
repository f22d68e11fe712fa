import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { formatNumber, pluralize } from '../../fold/format.ts';

const isActor = ({ kind }: InspectedRun): boolean => kind === 'system';

/** `3 runs`, `1 run and 2 actors`. */
export function listedCount(listed: readonly InspectedRun[]): string {
  const actors = listed.filter(isActor).length;
  const runs = listed.length - actors;
  if (actors === 0) return pluralize(runs, 'run');
  return runs === 0 ? pluralize(actors, 'actor') : `${pluralize(runs, 'run')} and ${pluralize(actors, 'actor')}`;
}

/** `2 of 3 runs`, `1 of 17 runs and actors`: how many of all are listed. */
export function foundCount(found: readonly InspectedRun[], all: readonly InspectedRun[]): string {
  if (found.length === all.length) return listedCount(all);
  const hasRuns = !all.every(isActor);
  const noun = all.some(isActor) ? (hasRuns ? 'runs and actors' : 'actors') : 'runs';
  return `${formatNumber(found.length)} of ${formatNumber(all.length)} ${noun}`;
}
