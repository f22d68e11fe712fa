import type { AnyActorRef } from 'xstate';
import { PostChainError } from './error.ts';

const activities = new WeakMap<object, string>();

export const registerActivity = (ref: AnyActorRef, key: string): void => void activities.set(ref, key);

/**
 * Returns a string that identifies a call or effect of a durable actor: pass the arguments of a promise, callback, observable or custom action.
 * A call that is repeated because its process ended before the result was stored has the same key, so that the receiver can count it once.
 * Throws `invalid_option` outside a durable actor.
 *
 * @example
 * actors: { pay: fromPromise(({ input, self }) => bank.pay(input, { idempotencyKey: idempotencyKey({ self }) })) }
 * actions: { mail: (args) => mails.send(args.context.to, { key: idempotencyKey(args) }) }
 */
export function idempotencyKey(args: { readonly self: object; readonly effectKey?: string }): string {
  const key = args.effectKey ?? activities.get(args.self);
  if (key !== undefined) return key;
  throw new PostChainError(
    'invalid_option',
    'idempotencyKey: expected the arguments of a call or custom action of a durable actor; open the machine with createDurableMachine.',
  );
}
