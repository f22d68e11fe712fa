import type { AnyMachineSnapshot } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Codec } from './codec.ts';
import { endOfStep } from './durable-format.ts';
import { type DurableEntry, withdrawnIn } from './entries.ts';
import type { Pending } from './pending.ts';
import type { ReplayStep } from './replay.ts';

/** The step of an event, with the state of the actor after it. */
export interface RepliedStep {
  readonly entries: readonly DurableEntry[];
  readonly snapshot: AnyMachineSnapshot;
  readonly pending: Pending;
}

/** Returns the step of an event that was sent before; null if there is none. */
export function recordedStep(
  entries: readonly DurableEntry[],
  eventId: string | undefined,
  replay: (entries: readonly DurableEntry[]) => Generator<ReplayStep, unknown>,
): RepliedStep | null {
  const isWithdrawn = withdrawnIn(entries);
  const isSent = (entry: DurableEntry): boolean =>
    entry.type === 'delivery' && entry.id === eventId && !isWithdrawn(entry);
  const from = eventId === undefined ? -1 : entries.findIndex(isSent);
  if (from < 0) return null;
  const to = endOfStep(entries, from);
  let last: Pick<RepliedStep, 'snapshot' | 'pending'> | null = null;
  for (const { snapshot, pending } of replay(entries.slice(0, to))) last = { snapshot, pending };
  return last && { entries: entries.slice(from, to), ...last };
}

/** Returns the reply of a machine to an event. Throws `event_ignored` if the event caused no step, or a step without a transition. */
export function replyOf(id: string, event: { readonly type: string }, step: RepliedStep | null, codec: Codec): object {
  if (!step?.entries.some(({ type }) => type === 'transition'))
    throw new PostChainError('event_ignored', `actor ${id}: ${reasonOf(event, step)}.`);
  const { entries, snapshot, pending } = step;
  const emitted = entries.flatMap((entry) =>
    entry.type === 'emitted' && entry.actor === '' ? [codec.decode(entry.event)] : [],
  );
  return { snapshot, pending, emitted };
}

function reasonOf({ type }: { readonly type: string }, step: RepliedStep | null): string {
  const name = `the event ${JSON.stringify(type)}`;
  if (step === null) return `${name} changed nothing, because the actor has ended or the approval is not open`;
  const { entries, snapshot, pending } = step;
  const guards = entries.flatMap((entry) => (entry.type === 'ignored' ? entry.candidates : []));
  const names = [...new Set(guards.flatMap(({ guard }) => guard ?? []))];
  const place = `in ${JSON.stringify(snapshot.value)}`;
  const accepted = `the actor accepts ${pending.events.join(', ') || 'no events'}`;
  if (names.length > 0) return `${name} was ignored ${place}, because ${names.join(' and ')} did not hold; ${accepted}`;
  return `${name} was ignored ${place}; ${accepted}`;
}
