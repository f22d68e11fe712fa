import { PostChainError } from '../../machines/contracts/error.ts';
import { type DurableEntry, hasEnded } from '../durable/entries.ts';
import type { ActorSummary, JournalStore, ListOptions, StoredEntry } from '../durable/journals/journal-store.ts';
import { FINAL, HttpError, unknownId } from './http-error.ts';
import type { Owner } from './owners.ts';
import type { UsageLimits } from './usage-limits.ts';

/** A journal store with `follow`, such as any store of PostChain. */
export type FollowableJournals = JournalStore & Required<Pick<JournalStore, 'follow'>>;

/** What the server stores with a run or an actor and never changes: its `owner`, the digest of its `request`, and those of a protocol. */
export type Labels = Readonly<Record<string, unknown>>;

/** Which of an owner's runs or actors to list. */
export interface ListPage {
  readonly limit: number;
  /** Only those that started before this time, in ISO 8601. */
  readonly before?: string | undefined;
  /** Only those with these attributes. */
  readonly where?: NonNullable<ListOptions['where']> | undefined;
}

interface OwnJournalsOptions {
  readonly journals: FollowableJournals;
  /** The id of the machine. */
  readonly machine: string;
  readonly noun: 'run' | 'actor';
  /** The path at which clients list their own. */
  readonly path: string;
  readonly usage: UsageLimits;
  readonly eventsPerRun: number;
  /** Returns the labels in the first entry. Empty if the journal is not one of those served. */
  readonly labelsIn: (first: DurableEntry) => Labels;
}

/** The number of journals whose labels are cached, for lists. */
const MAX_REMEMBERED = 10_000;
/** The minimum number of journals to list at a time, so that a search for a few does not list them one by one. */
const LEAST_PAGE = 100;

/** The codes of a store whose journal another process is writing. */
const HELD: readonly string[] = ['journal_held', 'journal_exists', 'journal_fenced'];

/** Gives owners access to their runs of a chain, or their actors of a durable machine: for anyone else, these do not exist. */
export class OwnJournals {
  readonly #options: OwnJournalsOptions;
  readonly #labels = new Map<string, Labels>();
  /** Those in the memory of this process, by id. */
  readonly #inMemory = new Set<string>();
  readonly #starts = createQueues();
  readonly #sends = createQueues();

  constructor(options: OwnJournalsOptions) {
    this.#options = options;
  }

  remember(id: string, labels: Labels): Labels {
    if (this.#labels.size >= MAX_REMEMBERED) this.#labels.delete(this.#labels.keys().next().value as string);
    this.#labels.set(id, labels);
    return labels;
  }

  async has(owner: Owner, id: string): Promise<boolean> {
    const first = await this.#firstEntry(id);
    return first !== null && this.#options.labelsIn(first)['owner'] === owner;
  }

  async labelsOf(id: string): Promise<Labels> {
    const known = this.#labels.get(id);
    if (known !== undefined) return known;
    const first = await this.#firstEntry(id);
    return first === null ? {} : this.remember(id, this.#options.labelsIn(first));
  }

  /** Reads the labels again: other code may have deleted the journal, and started another owner's with the same id. */
  #requireOwner(owner: Owner, id: string, first: DurableEntry | undefined): void {
    const labels = first === undefined ? {} : this.remember(id, this.#options.labelsIn(first));
    if (labels['owner'] !== owner) throw this.unknown();
  }

  async entries(owner: Owner, id: string): Promise<readonly DurableEntry[]> {
    const entries: DurableEntry[] = [];
    try {
      for await (const entry of this.#options.journals.read(id)) {
        if (entries.length === 0) this.#requireOwner(owner, id, entry);
        entries.push(entry);
      }
    } catch (error) {
      // It may not exist, or have been deleted meanwhile.
      throw error instanceof HttpError || (await this.#firstEntry(id)) !== null ? error : this.unknown();
    }
    if (entries.length === 0) throw this.unknown();
    return entries;
  }

  /** Returns the items of a journal. */
  async read<Item>(owner: Owner, id: string, items: AsyncGenerator<Item, void>): Promise<AsyncGenerator<Item, void>> {
    this.#requireOwner(owner, id, (await this.#firstEntry(id)) ?? undefined);
    return items;
  }

  /** Returns whether the request with this digest has started the run or actor. Throws an `HttpError` 422 if another request has. */
  async isStarted(id: string, digest: string | undefined): Promise<boolean> {
    const first = await this.#firstEntry(id);
    if (first === null) return false;
    if (this.#options.labelsIn(first)['request'] === digest) return true;
    const message = 'Idempotency-Key: this key was used for a different request. Use a new key for each request.';
    throw new HttpError(422, 'idempotency_key_reused', message);
  }

  /** A second request with the same id waits for the first one, and then finds what it has started. */
  start<Result>(id: string, act: () => Promise<Result>): Promise<Result> {
    return this.#starts(id, act);
  }

  /** Sends one event at a time, so that several requests do not exceed the limit together. */
  send<Result>(owner: Owner, id: string, act: (entries: readonly DurableEntry[]) => Promise<Result>): Promise<Result> {
    return this.#sends(id, async () => act(await this.entries(owner, id)));
  }

  requireFewEvents(entries: readonly StoredEntry[]): void {
    const { noun, eventsPerRun } = this.#options;
    if (entries.filter(({ type }) => type === 'delivery').length >= eventsPerRun)
      throw new HttpError(
        429,
        'too_many_events',
        `This ${noun} has reached its limit of ${eventsPerRun} client events.`,
      );
  }

  /** Opens a run or actor, and counts it unless it is in memory. With `mustFit`, throws an `HttpError` if the owner may have no more. */
  async opening<Result>(owner: Owner, id: string, mustFit: boolean, open: () => Promise<Result>): Promise<Result> {
    const { usage } = this.#options;
    usage.requireOpen();
    if (this.#inMemory.has(id)) return open().catch(this.busy);
    if (mustFit) usage.requireRun(owner);
    const opened = usage.startRun(owner);
    return open()
      .catch(this.busy)
      .finally(() => opened(0));
  }

  /** Counts a run or actor until it leaves memory; `left` resolves to its cost. Returns false if it is counted already. */
  track(owner: Owner, id: string, left: Promise<number>): boolean {
    if (this.#inMemory.has(id)) return false;
    this.#inMemory.add(id);
    const end = this.#options.usage.startRun(owner);
    const leave = (cost: number): void => {
      this.#inMemory.delete(id);
      end(cost);
    };
    left.then(leave, () => leave(0));
    return true;
  }

  /** Returns the owner's runs or actors that `isListed` accepts, newest first. */
  async list(
    owner: Owner,
    { limit, before, where }: ListPage,
    isListed: (labels: Labels) => boolean = () => true,
  ): Promise<readonly ActorSummary[]> {
    const { journals, machine } = this.#options;
    const found: ActorSummary[] = [];
    const size = Math.max(limit, LEAST_PAGE);
    let place: ListOptions['after'] = before === undefined ? undefined : { startedAt: before };
    for (;;) {
      const after = place === undefined ? {} : { after: place };
      const page = await journals.list({ machine, limit: size, where: { ...where, owner }, ...after });
      // A user's store may ignore `where`.
      for (const summary of page) {
        const labels = await this.labelsOf(summary.id);
        const isFound = Object.entries(where ?? {}).every(([name, values]) =>
          [values].flat().includes(summary.attributes[name] as never),
        );
        if (labels['owner'] === owner && isFound && isListed(labels)) found.push(summary);
        if (found.length === limit) return found;
      }
      place = page.at(-1);
      if (place === undefined) return found;
    }
  }

  /** Deletes a run or actor that has ended. Throws an `HttpError` if it has not, or if the store cannot delete journals. */
  async delete(owner: Owner, id: string, remove: ((id: string) => Promise<void>) | undefined): Promise<void> {
    const { noun } = this.#options;
    const entries = await this.entries(owner, id);
    if (!hasEnded(entries))
      throw new HttpError(
        409,
        `${noun}_active`,
        `The ${noun} has not ended, so it cannot be deleted. ${noun === 'run' ? 'Cancel' : 'Stop'} it first.`,
        FINAL,
      );
    if (remove === undefined)
      throw new HttpError(501, 'not_supported', `The journal store of this server cannot delete ${noun}s.`, FINAL);
    await remove(id).catch(this.busy);
    this.#labels.delete(id);
  }

  unknown(): HttpError {
    return unknownId(this.#options.noun, this.#options.path);
  }

  /** Rethrows an error: as an `HttpError` if another process is executing the run or actor. */
  readonly busy = (error: unknown): never => {
    const { noun } = this.#options;
    if (!PostChainError.isInstance(error) || !HELD.includes(error.code)) throw error;
    throw new HttpError(
      409,
      `${noun}_busy`,
      `Another process is executing this ${noun}. Try again when the ${noun} is waiting.`,
      { 'retry-after': '1' },
    );
  };

  unlessBusy<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      return this.busy(error);
    }
  }

  /** Returns the first entry; null if the journal does not exist. */
  async #firstEntry(id: string): Promise<DurableEntry | null> {
    try {
      for await (const entry of this.#options.journals.read(id)) return entry;
    } catch (error) {
      // A store that cannot be used does not show whether the journal exists.
      if (!PostChainError.isInstance(error) || error.code === 'invalid_path') throw error;
    }
    return null;
  }
}

/** Returns the store of what an option names, if it can be followed. Throws `invalid_option`. */
export function followable(journals: JournalStore | undefined, option: string, what: string): FollowableJournals {
  if (typeof Object(journals).follow === 'function') return journals as FollowableJournals;
  throw new PostChainError(
    'invalid_option',
    `${option}: expected ${what} with a journal store, for example memoryJournals(); received ${journals === undefined ? `${what} without journals` : 'a store without the method "follow"'}.`,
  );
}

/** Returns a function that calls the functions of each key one after another. */
function createQueues() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, act: () => Promise<Result>): Promise<Result> => {
    const turn = (last.get(key) ?? Promise.resolve()).catch(() => {}).then(act);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}
