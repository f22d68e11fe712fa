import type { AnyMachineSnapshot } from 'xstate';
import { activeActors, type Occurrence } from './occurrence.ts';

/** Which actors of active states run no more after a step, by their ids: they ended, or were stopped, and were not begun anew. */
export function endedAfter(
  before: AnyMachineSnapshot,
  ended: readonly string[],
  { kind, actor }: Occurrence,
  after: AnyMachineSnapshot,
): readonly string[] {
  const ends = kind === 'done' || kind === 'error';
  const isOver = (id: string): boolean => (ends && id === actor) || ended.includes(id);
  const isSame = (id: string): boolean => after.children[id] === before.children[id];
  return activeActors(after).flatMap(({ id }) =>
    after.children[id] === undefined || (isOver(id) && isSame(id)) ? [id] : [],
  );
}

/** Whether something can still happen: an actor that has ended says nothing more. */
export const canHappen =
  (ended: readonly string[]) =>
  ({ actor }: Occurrence): boolean =>
    actor === null || !ended.includes(actor);
