import type { AnyEventObject } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { requireEvent } from './checks.ts';
import type { Json } from './codec.ts';
import type { ActorPath } from './entries.ts';
import type { JournalStore } from './journals/journal-store.ts';
import { digestOf } from './machine-digest.ts';

/** An event that an effect sends to a durable actor. */
export interface PostedEvent {
  /** Names the sender. */
  readonly from: string;
  readonly to: string;
  /** The receiver in the system of that actor; by default its root. */
  readonly actor?: ActorPath;
  readonly event: AnyEventObject;
  /** Its stored form; undefined if it has none because of the `problem`. */
  readonly stored: Json | undefined;
  readonly problem?: unknown;
  readonly isReady?: (() => Promise<void>) | undefined;
  /** The key of the effect. */
  readonly key: string;
  /** The number of the oldest effect of the sender that has not ended: it sends no message of an older one again. */
  readonly oldest: number;
}

/** Stores an event for a durable actor, once for each key. Rejects with an error that names both actors. */
export async function postEvent(posted: PostedEvent, { mail }: JournalStore): Promise<void> {
  const { from, to, actor, event, stored, problem, isReady, key, oldest } = posted;
  try {
    if (stored === undefined) throw problem;
    if (actor === undefined) requireEvent(event, to);
    await isReady?.();
    if (mail === undefined)
      throw new PostChainError(
        'invalid_option',
        'its store keeps no messages; use one that does, such as sqliteJournals().',
      );
    const id = messageIdOf(key);
    await mail.post(to, id, { id, type: 'event', event: stored, oldest, ...(actor !== undefined && { actor }) });
  } catch (error) {
    throw notSent(from, to, event, error);
  }
}

const MAX_ID_CHARS = 200;

/** Returns the id of the message that an effect sends. The key of an effect contains the id of its actor, which may be long. */
const messageIdOf = (effectKey: string): string =>
  effectKey.length <= MAX_ID_CHARS ? effectKey : `message:${digestOf(effectKey)}`;

/** Returns the error of a message that could not be posted, which names both actors. */
function notSent(from: string, to: string, { type }: AnyEventObject, cause: unknown): PostChainError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = PostChainError.isInstance(cause) ? cause.code : 'journal_failed';
  return new PostChainError(code, `actor ${from}: its event "${type}" cannot be sent to actor ${to}: ${reason}`, {
    cause,
  });
}
