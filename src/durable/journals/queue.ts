/** At most `starts` actors begin in any period of `everyMs`. */
interface BeginRate {
  readonly starts: number;
  readonly everyMs: number;
}

export interface BeginLimits {
  /** How many may have begun and not ended; by default any number. */
  readonly concurrency?: number | undefined;
  readonly rate?: BeginRate | undefined;
}

/** Limits which queued actors of a machine may begin. All programs with the same store need the same limits. */
export interface QueueOptions<Input = never> extends BeginLimits {
  /** Returns the key of an actor from its input when it is enqueued; undefined for none. */
  readonly key?: (input: Input) => string | undefined;
  /** The limits of actors with the same key. */
  readonly perKey?: BeginLimits;
}

/** Which queued journals to begin. */
export interface ClaimQuery {
  readonly machine: string;
  /** In milliseconds since the epoch. */
  readonly nowMs: number;
  /** At most this many. */
  readonly count: number;
  readonly limits: BeginLimits;
  /** For journals with the same key. */
  readonly keyLimits: BeginLimits;
}

/** The place of a journal in the queue of its machine: the highest priority first, then the earliest due time, then in order of arrival. */
export interface QueuePlace {
  readonly priority: number;
  readonly key: string | null;
  /** The earliest time at which it begins, in milliseconds since the epoch. */
  readonly dueMs: number;
}

/** A journal that was claimed. */
export interface ClaimedJournal {
  readonly key: string | null;
  readonly begunMs: number;
  readonly hasEnded: boolean;
}

/** Returns the limits as numbers. A limit that is not set is infinite. */
export const limitNumbers = ({ concurrency, rate }: BeginLimits) => ({
  concurrency: concurrency ?? Number.POSITIVE_INFINITY,
  starts: rate?.starts ?? Number.POSITIVE_INFINITY,
  everyMs: rate?.everyMs ?? 0,
});

/** Whether a claimed journal no longer counts toward any limit. */
export function isForgotten({ begunMs, hasEnded }: ClaimedJournal, { nowMs, limits, keyLimits }: ClaimQuery): boolean {
  const [all, ofKey] = [limitNumbers(limits), limitNumbers(keyLimits)];
  const counts = !hasEnded && Math.min(all.concurrency, ofKey.concurrency) < Number.POSITIVE_INFINITY;
  return !counts && begunMs <= nowMs - Math.max(all.everyMs, ofKey.everyMs);
}

/** Counts what was claimed of all journals, or of those with one key. */
class Tally {
  readonly #most: ReturnType<typeof limitNumbers>;
  #active = 0;
  #recent = 0;

  constructor(limits: BeginLimits) {
    this.#most = limitNumbers(limits);
  }

  add({ begunMs, hasEnded }: ClaimedJournal, nowMs: number): void {
    if (!hasEnded) this.#active += 1;
    if (begunMs > nowMs - this.#most.everyMs) this.#recent += 1;
  }

  get isFull(): boolean {
    return this.#active >= this.#most.concurrency || this.#recent >= this.#most.starts;
  }
}

/** Counts the claimed journals, and compares them with the limits. */
export class ClaimLimits {
  readonly #query: ClaimQuery;
  readonly #all: Tally;
  readonly #byKey = new Map<string, Tally>();

  constructor(query: ClaimQuery, claimed: readonly ClaimedJournal[]) {
    this.#query = query;
    this.#all = new Tally(query.limits);
    for (const each of claimed) this.#count(each);
  }

  get isFull(): boolean {
    return this.#all.isFull;
  }

  /** The keys that have reached their limits. */
  get fullKeys(): readonly string[] {
    return [...this.#byKey].filter(([, { isFull }]) => isFull).map(([key]) => key);
  }

  add(key: string | null): void {
    this.#count({ key, begunMs: this.#query.nowMs, hasEnded: false });
  }

  #count(claimed: ClaimedJournal): void {
    const { nowMs, keyLimits } = this.#query;
    this.#all.add(claimed, nowMs);
    if (claimed.key === null) return;
    const tally = this.#byKey.get(claimed.key) ?? new Tally(keyLimits);
    this.#byKey.set(claimed.key, tally);
    tally.add(claimed, nowMs);
  }
}
