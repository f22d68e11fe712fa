import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { isScheduled } from '../../internal/xstate-internals.ts';
import type { Occurrence } from './occurrence.ts';

/** What is missing for something to happen to an actor whose own actors are held; null where nothing is. */
export function missingFor(actor: AnyActorRef, { kind, event, name, actor: id }: Occurrence): string | null {
  if (kind === 'delay') return isScheduled(actor, event.type) ? null : `No timer runs for "${name}"`;
  if (id === null) return null;
  return childOf(actor, id)?.getSnapshot().status === 'active' ? null : `The actor of "${name}" does not run`;
}

/** Makes something happen to an actor whose own actors are held; says what is missing where it cannot. */
export function applyEvent(actor: AnyActorRef, occurrence: Occurrence): string | null {
  const missing = missingFor(actor, occurrence);
  if (missing !== null) return missing;
  const { kind, event, actor: id } = occurrence;
  const { output, error } = event as { readonly output?: unknown; readonly error?: unknown };
  if (kind === 'done') childOf(actor, id)?.send({ type: 'held.done', output });
  else if (kind === 'error') childOf(actor, id)?.send({ type: 'held.error', error });
  else actor.send(event);
  return null;
}

const childOf = (actor: AnyActorRef, id: string | null): AnyActorRef | undefined =>
  (actor.getSnapshot() as AnyMachineSnapshot).children[id ?? ''];
