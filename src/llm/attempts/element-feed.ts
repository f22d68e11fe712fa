import type { Feed } from './feed.ts';
import type { ItemObserver } from './provide-attempt.ts';
import type { ElementUpdate, ResetUpdate } from './updates.ts';

/** The items of an array, as each is complete. */
export interface ElementFeed extends ItemObserver {
  readonly feed: Feed<ElementUpdate>;
  /** Sets the array so far, for readers who start when some items are already complete. */
  setPartial(list: unknown): void;
  reset(update: ResetUpdate): void;
  /** Pushes the remaining items of the validated array, and ends the feed. */
  finish(attempt: number, value: unknown): void;
  fail(error: Error): void;
}
