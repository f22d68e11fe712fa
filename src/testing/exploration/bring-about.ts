import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Occurrence } from './occurrence.ts';

/** Makes something happen to an actor whose own actors are held; says what is missing where it cannot. */
export function bringAbout(actor: AnyActorRef, { kind, event, name, actor: id }: Occurrence): string | null {
  if (kind === 'delay') {
    const { _scheduledEvents: scheduled } = actor.system.getSnapshot();
    if (!Object.values(scheduled).some((one) => one.event.type === event.type)) return `No timer runs for "${name}"`;
  }
  if (kind !== 'done' && kind !== 'error') {
    actor.send(event);
    return null;
  }
  const child = (actor.getSnapshot() as AnyMachineSnapshot).children[id ?? ''];
  if (child === undefined) return `The actor of "${name}" does not run`;
  const { output, error } = event as { readonly output?: unknown; readonly error?: unknown };
  child.send(kind === 'done' ? { type: 'held.done', output } : { type: 'held.error', error });
  return null;
}
