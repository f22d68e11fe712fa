import type { EffectEnd } from './actor-system.ts';
import type { DurableEntry, DurableEvent, ExternalEvent } from './entries.ts';

/** An external event, a note of a reused call, or effects that have ended after the events that they sent. */
export interface Item {
  /** When it arrived, by the actor's clock. */
  readonly atMs: number;
  readonly event: ExternalEvent | Extract<DurableEvent, { type: 'note' }> | EffectEnd;
  /** Whether its receiver still waits for it. */
  readonly isOpen?: (() => boolean) | undefined;
  /** Of an event that a caller waits for. */
  readonly sender?: Sender | undefined;
}

export type StepListener = (entries: readonly DurableEntry[]) => void;

/** A caller that waits until its event is processed. Most events are processed at once: these need no promise. */
export class Sender {
  /** Receives the entries of the event's step, directly after the step. */
  readonly onStep: StepListener | undefined;
  #isAccepted: boolean | undefined;
  #failure: { readonly error: unknown } | undefined;
  #waiting: { readonly resolve: (isAccepted: boolean) => void; readonly reject: (error: unknown) => void } | undefined;

  constructor(onStep?: StepListener) {
    this.onStep = onStep;
  }

  resolve(isAccepted: boolean): void {
    this.#isAccepted = isAccepted;
    this.#waiting?.resolve(isAccepted);
  }

  reject(error: unknown): void {
    this.#failure = { error };
    this.#waiting?.reject(error);
  }

  /** Whether the event changed something. Throws or rejects with the reason if it cannot be processed. */
  result(): boolean | Promise<boolean> {
    if (this.#failure !== undefined) throw this.#failure.error;
    return (
      this.#isAccepted ??
      new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
      })
    );
  }
}

/** What an actor has received and not processed, in the order of arrival. */
export class Inbox {
  #items: Item[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** When the next item arrived; undefined if there is none. */
  get nextAtMs(): number | undefined {
    return this.#items[0]?.atMs;
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  take(): Item | undefined {
    return this.#items.shift();
  }

  /** Takes out the events that callers wait for, and returns the callers. What calls and effects have reported stays. */
  takeSenders(): readonly Sender[] {
    const senders = this.#items.flatMap(({ sender }) => sender ?? []);
    this.#items = this.#items.filter(({ sender }) => sender === undefined);
    return senders;
  }
}
