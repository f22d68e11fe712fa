import type { AnyActorRef } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Json } from './codec.ts';
import type { DurableEntry } from './entries.ts';

/** What an activity knows of its durable actor. */
export interface HostedCall {
  readonly key: string;
  readonly wasInterrupted: () => boolean;
  readonly note: (note: Json) => void;
  /** The entries so far, in one list that grows; null if notes are not added to it at once. */
  readonly journal: () => readonly DurableEntry[] | null;
}

const activities = new WeakMap<object, HostedCall>();

export const registerActivity = (ref: AnyActorRef, call: HostedCall): void => void activities.set(ref, call);

const effects = new WeakMap<object, string>();

/** Executes an effect of an actor, which can ask for its key. */
export function runKeyedEffect<Result>(ref: AnyActorRef, key: string, run: () => Result): Result {
  effects.set(ref, key);
  try {
    return run();
  } finally {
    effects.delete(ref);
  }
}

/**
 * Returns a string that identifies a call or effect of a durable actor: pass the arguments of a promise, callback, observable or custom action.
 * A call that is repeated because its process ended before the result was stored has the same key, so that the receiver can count it once. A fork,
 * or an actor with the id of a deleted one, has other keys.
 * In `runPath` and `startWalk` of the testing kit, the key is the same in each run. Throws `invalid_option` in any other actor.
 *
 * @example
 * actors: { pay: fromPromise(({ input, self }) => bank.pay(input, { idempotencyKey: idempotencyKey({ self }) })) }
 * actions: { mail: (args) => mails.send(args.context.to, { key: idempotencyKey(args) }) }
 */
export function idempotencyKey(args: { readonly self: object; readonly effectKey?: string }): string {
  const key = args.effectKey ?? effects.get(args.self) ?? activities.get(args.self)?.key;
  if (key !== undefined) return key;
  throw new PostChainError(
    'invalid_option',
    'idempotencyKey: expected the arguments of a call or custom action of a durable actor; open the machine with createDurableMachine.',
  );
}

/** Whether an earlier process started this call and ended before the result was stored. False outside a durable actor. */
export const wasInterrupted = ({ self }: { readonly self: object }): boolean =>
  activities.get(self)?.wasInterrupted() ?? false;

/** Whether a durable actor makes this call, so that its notes are stored. */
export const isHosted = ({ self }: { readonly self: object }): boolean => activities.has(self);

/**
 * Adds a note of a call to the journal of its durable actor: JSON that does not affect the machine. Throws `not_durable` for anything else. Does
 * nothing in any other actor.
 */
export const addNote = ({ self }: { readonly self: object }, note: Json): void => activities.get(self)?.note(note);

/** Returns the journal of a call as one list that grows, with each note at once; null if there is none. */
export const journalOf = ({ self }: { readonly self: object }): readonly DurableEntry[] | null =>
  activities.get(self)?.journal() ?? null;
