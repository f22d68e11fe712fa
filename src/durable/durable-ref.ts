import type { ActorRefFrom, AnyActorRef, AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/describe-value.ts';

/** A mark, also of another copy of the package. */
const DURABLE = Symbol.for('postchain.durable');

/**
 * Returns a reference to the durable actor with this id, for `sendTo` in the machine of a durable actor in the same store. The event is stored for
 * the actor, which receives it exactly once, whichever process holds it. Throws `invalid_option` for an invalid id.
 *
 * @example
 * actions: sendTo(({ context }) => durable<typeof orderMachine>(context.orderId), { type: 'paid' })
 */
export function durable<Machine extends AnyStateMachine = AnyStateMachine>(id: string): ActorRefFrom<Machine> {
  if (typeof id !== 'string' || id === '')
    throw new PostChainError('invalid_option', `durable: expected the id of an actor; received ${describeValue(id)}.`);
  const send = () => notDurable(id);
  return { id, sessionId: id, [DURABLE]: id, send, _send: send } as object as ActorRefFrom<Machine>;
}

function notDurable(id: string): never {
  throw new PostChainError(
    'invalid_option',
    `durable(${JSON.stringify(id)}): only "sendTo" in a durable actor can send to it; use send(id, event) of its durable machine.`,
  );
}

/** Returns the id of the durable actor to which `durable` refers; undefined for any other reference. */
export const receiverOf = (ref: AnyActorRef): string | undefined =>
  (ref as unknown as { readonly [DURABLE]?: string })[DURABLE];
