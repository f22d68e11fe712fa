import type { ActorRefFrom, AnyActorRef, AnyEventObject, AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/describe-value.ts';
import { digestOf } from './machine-digest.ts';

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

const MAX_ID_CHARS = 200;

/** Returns the id of the message that an effect sends. The key of an effect contains the id of its actor, which may be long. */
export const messageIdOf = (effectKey: string): string =>
  effectKey.length <= MAX_ID_CHARS ? effectKey : `message:${digestOf(effectKey)}`;

/** Returns the error of a message that could not be posted, which names both actors. */
export function notSent(from: string, to: string, { type }: AnyEventObject, cause: unknown): PostChainError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = PostChainError.isInstance(cause) ? cause.code : 'journal_failed';
  return new PostChainError(code, `actor ${from}: its event "${type}" cannot be sent to actor ${to}: ${reason}`, {
    cause,
  });
}
