import { PostChainError } from '../../machines/contracts/error.ts';
import { nextTurn } from '../internal/async.ts';
import { durableFormat } from './durable-format.ts';
import { isRaceLost } from './error.ts';
import { type ActorSummary, type JournalStore, listedJournal } from './journals/journal-store.ts';
import { repeat, unlessRunning } from './journals/line-store.ts';
import type { Mailbox, Message } from './journals/mailbox.ts';

interface DueActor {
  readonly id: string;
  readonly crashes: number;
}

/** An open actor that receives messages. */
interface Receiver {
  /** Resolves when the step of the message is stored, or the message changed nothing. `waiting`: the ids of all messages that wait. */
  receive(message: Message, waiting: ReadonlySet<string>): Promise<unknown>;
  readonly isClosed: boolean;
  /** Resolves when a process can open it. */
  readonly closed: Promise<void>;
}

/** The durable machine whose actors receive messages. */
interface MailHost {
  readonly machineId: string;
  readonly journals: JournalStore;
  /** Returns an actor that is open in this process; undefined for none. */
  opened(id: string): Promise<Receiver | undefined>;
  isOpen(id: string): boolean;
  advance(id: string): Promise<void>;
  log(...args: unknown[]): void;
}

/**
 * The beginning of the id of a message that sets another one aside, with the reason: the process that held the actor could not decode it.
 * Senders cannot choose such an id. A process with another key can read only the id.
 */
const SET_ASIDE = 'effect:unreadable:';

/** Posts messages to actors of one machine, and passes the messages that wait for them to those that are open. */
export class HostMail {
  readonly #mail: Mailbox;
  readonly #host: MailHost;
  #stop: (() => void) | null = null;
  readonly #taking = new Map<string, { again: boolean; readonly taken: Promise<void> }>();
  /** The ids of messages that this process cannot read, by receiver. They stay in the store: one with another codec or key may. */
  readonly #unreadable = new Map<string, Set<string>>();
  readonly #onDue = new Set<() => void>();
  /** How often messages were removed. */
  #removals = 0;
  /** The messages that this process has posted and that may not be taken yet, by receiver. */
  readonly #posted = new Map<string, Set<string>>();

  constructor(mail: Mailbox, host: MailHost) {
    this.#mail = mail;
    this.#host = host;
  }

  /** Starts to pass new messages to the actors that are open, or stops it. */
  watch(isOn: boolean): void {
    if (isOn)
      this.#stop ??= this.#mail.watch((ids) => {
        for (const id of ids) if (this.#host.isOpen(id)) void this.take(id);
      });
    else this.#stop?.();
    if (!isOn) this.#stop = null;
  }

  /** Calls `onDue` when messages wait for actors that no process holds. Returns a function that stops it. */
  watchDue(onDue: () => void): () => void {
    let known: ReadonlySet<string> = new Set();
    let knownRemovals = 0;
    this.#onDue.add(onDue);
    const stop = this.#mail.watch((ids) => {
      const removals = this.#removals;
      void this.#free(ids).then(
        (free) => {
          const before: ReadonlySet<string> = removals > knownRemovals ? new Set() : known;
          known = new Set(free.map(({ id }) => id));
          knownRemovals = removals;
          // Messages that stay are reported again and again. A worker also polls.
          if (free.some(({ id }) => !before.has(id))) onDue();
        },
        () => {},
      );
    });
    return () => {
      this.#onDue.delete(onDue);
      stop();
    };
  }

  /** Returns those with messages that wait or have ended. Those that were interrupted are due anyway. */
  async due(receivers: readonly string[]): Promise<readonly DueActor[]> {
    const free = await this.#free(receivers);
    return free.filter(({ status }) => status !== 'interrupted').map(({ id }) => ({ id, crashes: 0 }));
  }

  /** Returns those with messages that no process holds, without those that are quarantined or queued. */
  async #free(receivers: readonly string[]): Promise<readonly Pick<ActorSummary, 'id' | 'status'>[]> {
    const ids: string[] = [];
    for (const id of receivers)
      if (!this.#host.isOpen(id) && (!this.#unreadable.has(id) || (await this.#waiting(id)).length > 0)) ids.push(id);
    const free: Pick<ActorSummary, 'id' | 'status'>[] = [];
    if (ids.length === 0) return free;
    for await (const found of this.#host.journals.bounds?.({ ids }) ?? []) {
      const { machine, status, reason } = durableFormat.summarize(listedJournal(found));
      const isBlocked =
        ['running', 'queued', 'damaged'].includes(status) || (status === 'interrupted' && reason !== null);
      if (machine?.id === this.#host.machineId && !isBlocked) free.push({ id: found.id, status });
    }
    return free;
  }

  /** Passes the messages that wait for an open actor to it, and removes them. Never rejects. */
  take(id: string): Promise<void> {
    const running = this.#taking.get(id);
    if (running !== undefined) {
      running.again = true;
      return running.taken;
    }
    const taken = this.#take(id)
      .catch((error: unknown) => this.#host.log(`actor ${id}: its messages could not be taken:`, error))
      .then(() => {
        const { again } = this.#taking.get(id) ?? {};
        this.#taking.delete(id);
        return again && this.#host.isOpen(id) ? this.take(id) : undefined;
      });
    this.#taking.set(id, { again: false, taken });
    return taken;
  }

  async #take(id: string): Promise<void> {
    const actor = await this.#host.opened(id);
    while (actor !== undefined) {
      const messages = await this.#waiting(id);
      if (messages.length === 0) return;
      const waiting = new Set(messages.map((message) => message.id));
      const taken: string[] = [];
      for (const message of messages) {
        const isTaken = await this.#pass(id, actor, message, waiting);
        if (isTaken) taken.push(message.id);
        else if (actor.isClosed) break;
      }
      if (taken.length > 0) {
        await this.#mail.remove(id, [...taken, ...taken.map(setAsideId)]);
        this.#removals += 1;
      }
      if (taken.length < messages.length && actor.isClosed) break;
    }
    // It was closed before it received them.
    await actor?.closed;
    await nextTurn();
    for (const onDue of this.#onDue) onDue();
  }

  /** Returns the messages for an actor that were not found to be unreadable. */
  async #waiting(id: string): Promise<readonly Message[]> {
    const messages = await this.#mail.read(id);
    return messages.filter((each) => !each.id.startsWith(SET_ASIDE) && !this.#unreadable.get(id)?.has(each.id));
  }

  /** Returns whether the actor has processed a message, or ignores it. Sets aside one that cannot be decoded. */
  async #pass(id: string, actor: Receiver, message: Message, waiting: ReadonlySet<string>): Promise<boolean> {
    try {
      await actor.receive(message, waiting);
      return true;
    } catch (error) {
      if (actor.isClosed) return false;
      this.#unreadable.set(id, (this.#unreadable.get(id) ?? new Set()).add(message.id));
      this.#host.log(`actor ${id}: the message ${message.id} stays in the store:`, error);
      const reason = error instanceof Error ? error.message : String(error);
      const mark = setAsideId(message.id);
      await this.#mail.post(id, mark, { id: mark, type: 'unreadable', reason });
      return false;
    }
  }

  /** Stores a message for an actor that another process holds. If that process closes the actor, continues it here. */
  async post(to: string, message: Message): Promise<void> {
    await this.#mail.post(to, message.id, message);
    const posted = this.#posted.get(to);
    if (posted !== undefined) return void posted.add(message.id);
    const ids = new Set([message.id]);
    this.#posted.set(to, ids);
    const end = (): void => {
      stop();
      this.#posted.delete(to);
    };
    const check = unlessRunning(async () => {
      const known = [...ids];
      const waiting = new Set((await this.#mail.read(to)).map(({ id }) => id));
      for (const id of known) if (!waiting.has(id) || waiting.has(setAsideId(id))) ids.delete(id);
      if (ids.size === 0) return end();
      await this.#host.advance(to).catch((error: unknown) => {
        if (isRaceLost(error)) return;
        end();
        this.#host.log(`actor ${to}: it could not be continued to process a message:`, error);
      });
    });
    const stop = repeat(check);
    check();
  }

  /**
   * Resolves when the actor has processed an event, or ignores it. Rejects with `invalid_journal` if the process that holds the actor cannot
   * decode the event. Keeps the process alive.
   */
  async processed(to: string, messageId: string): Promise<void> {
    const { follow } = this.#host.journals;
    const taken = new AbortController();
    let setAside: Message | undefined;
    const stop = repeat(
      unlessRunning(async () => {
        const messages = await this.#mail.read(to);
        setAside = messages.find(({ id }) => id === setAsideId(messageId));
        if (setAside !== undefined || !messages.some(({ id }) => id === messageId)) taken.abort();
      }),
    );
    try {
      for await (const entry of follow?.call(this.#host.journals, to, { signal: taken.signal }) ?? [])
        if (entry.type === 'delivery' && entry.id === messageId) return;
    } catch (error) {
      if (setAside !== undefined) throw setAsideError(to, messageId, setAside);
      if (!taken.signal.aborted) throw error;
    } finally {
      stop();
    }
  }
}

const setAsideId = (id: string): string => `${SET_ASIDE}${id}`;

function setAsideError(to: string, messageId: string, message: Message): PostChainError {
  const { reason = 'it cannot be decoded' } = message as { readonly reason?: string };
  return new PostChainError(
    'invalid_journal',
    `actor ${to}: the process that holds it could not read the message ${messageId}: ${reason}. It stays in the store, for a process that can.`,
  );
}
