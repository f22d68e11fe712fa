import { parseJson } from '../../internal/json-text.ts';
import type { Json } from '../codec.ts';
import type { ActorPath } from '../entries.ts';

/** A message that waits in a store for an actor. Its receiver ignores it if it has already processed a message with the same id. */
export type Message =
  /**
   * `actor`: which actor of the receiver's system gets the event; by default the root. The event is stored as in a journal. `oldest`: its sender
   * sends no message of an effect with a lower number again.
   */
  | {
      readonly id: string;
      readonly type: 'event';
      readonly event: Json;
      readonly actor?: ActorPath;
      readonly oldest?: number;
    }
  /** Stops the actor. */
  | { readonly id: string; readonly type: 'stop' }
  /** Only reports that the actor has something to do. */
  | { readonly id: string; readonly type: 'wake' }
  /** Cannot be decoded, or says why another message cannot. */
  | { readonly id: string; readonly type: 'unreadable'; readonly reason?: string };

/** Stores messages for actors until they are processed. Any process can post a message; only the process that holds the receiver removes it. */
export interface Mailbox<Posted = Message, Waiting = Message> {
  /** Does nothing if a message with this id already waits for the actor. Rejects with `unknown_journal` if the actor does not exist. */
  post(to: string, id: string, message: Posted): Promise<void>;
  /** Returns the messages that wait for an actor, in the order of their arrival. */
  read(to: string): Promise<readonly Waiting[]>;
  remove(to: string, ids: readonly string[]): Promise<void>;
  /** Returns the ids of the actors for which messages wait. */
  receivers(): Promise<readonly string[]>;
  /**
   * Reports the ids of actors for which messages wait: soon after a message has arrived, perhaps more than once, and perhaps after it was removed.
   * Does not keep its process alive. Returns a function that stops it.
   */
  watch(onMail: (ids: readonly string[]) => void): () => void;
}

/** Keeps messages as lines of text. */
export type LineMailbox = Mailbox<string, { readonly id: string; readonly line: string }>;

/** Returns the mailbox that keeps its messages as JSON in another one. */
export const mailboxOn = (lines: LineMailbox): Mailbox => ({
  ...lines,
  post: (to, id, message) => lines.post(to, id, JSON.stringify(message)),
  read: async (to) => (await lines.read(to)).map(({ id, line }) => messageIn(id, line)),
});

/** Returns one of the type `unreadable` if the line cannot be read, for example because its key is missing. */
function messageIn(id: string, line: string): Message {
  const { type, event, actor, oldest, reason } = Object(parseJson(line)) as Partial<Record<string, unknown>>;
  const isEvent = type === 'event' && event !== undefined && (actor === undefined || typeof actor === 'string');
  const sender = typeof oldest === 'number' ? { oldest } : {};
  if (isEvent) return { id, type, event: event as Json, ...(actor !== undefined && { actor }), ...sender };
  if (type === 'stop' || type === 'wake') return { id, type };
  return { id, type: 'unreadable', ...(typeof reason === 'string' && { reason }) };
}

/** Keeps messages in memory. `requireActor` throws if no actor has the given id. */
export function memoryMailbox(requireActor: (id: string) => unknown) {
  const boxes = new Map<string, readonly Message[]>();
  const watchers = new Set<(ids: readonly string[]) => void>();
  const mailbox: Mailbox = {
    async post(to, id, message) {
      requireActor(to);
      const waiting = boxes.get(to) ?? [];
      if (!waiting.some((other) => other.id === id)) boxes.set(to, [...waiting, message]);
      for (const onMail of [...watchers]) onMail([to]);
    },
    read: async (to) => boxes.get(to) ?? [],
    async remove(to, ids) {
      const waiting = (boxes.get(to) ?? []).filter(({ id }) => !ids.includes(id));
      if (waiting.length === 0) boxes.delete(to);
      else boxes.set(to, waiting);
    },
    receivers: async () => [...boxes.keys()],
    watch(onMail) {
      watchers.add(onMail);
      if (boxes.size > 0) onMail([...boxes.keys()]);
      return () => void watchers.delete(onMail);
    },
  };
  return { ...mailbox, has: (to: string) => boxes.has(to), forget: (to: string) => void boxes.delete(to) };
}
