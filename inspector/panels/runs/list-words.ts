import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { pluralize } from '../../fold/format.ts';

const isActor = ({ kind }: InspectedRun): boolean => kind === 'system';

/** `3 runs`, `1 run and 2 actors`. */
export function listedCount(listed: readonly InspectedRun[]): string {
  const actors = listed.filter(isActor).length;
  const runs = listed.length - actors;
  if (actors === 0) return pluralize(runs, 'run');
  return runs === 0 ? pluralize(actors, 'actor') : `${pluralize(runs, 'run')} and ${pluralize(actors, 'actor')}`;
}

/** The title of the first column: runs are named by their question, actors by their id. */
export function listedNoun(listed: readonly InspectedRun[]): string {
  if (!listed.some(isActor)) return 'Question';
  return listed.every(isActor) ? 'Actor' : 'Question or actor';
}
