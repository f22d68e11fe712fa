import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AttemptExecution, Validation } from '../../../machines/contracts/attempt.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { validate } from '../schemas/output-shape.ts';
import { createFeed, type Feed, type UpdateQueue } from './feed.ts';
import type { ItemObserver } from './provide-attempt.ts';
import type { ElementUpdate, ResetUpdate } from './updates.ts';

interface ElementSource {
  /** Returns the item in the value that the model gave for it. */
  readonly itemIn: (given: unknown) => unknown;
  readonly executionNow: () => AttemptExecution;
}

const NO_LIST = failureOf('extraction', 'no_json', 'The array in the reply was not the value; another array started.');

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

/**
 * Returns a feed of validated items.
 *
 * - Items come in order and without gaps.
 * - An invalid item is withheld, and so are all after it: its attempt fails at the end of the reply.
 * - If what looked like the array turns out not to be it, its items are void.
 * - After a reset no earlier item is pushed, even if its validation was still pending.
 */
export function createElementFeed(
  schema: StandardSchemaV1,
  name: string,
  { itemIn, executionNow }: ElementSource,
): ElementFeed {
  const feed = createFeed<ElementUpdate>(
    (waiting, update) => {
      if (update.type === 'reset') dropElements(waiting);
      waiting.add(update);
    },
    (late, update) => {
      if (update.type === 'reset') late.clear();
      else late.add(update);
    },
  );
  /** How many items were validated or are being validated, and how many were pushed. */
  let validated = 0;
  let pushed = 0;
  let list: readonly unknown[] = [];
  let generation = {};
  let previous: Promise<void> | null = null;

  function push(attempt: number, index: number, { ok, ...checked }: Validation): void {
    if (!ok || index !== pushed) return;
    pushed += 1;
    feed.push({ type: 'element', attempt, index, value: (checked as { value: unknown }).value });
  }

  function restart(): void {
    generation = {};
    previous = null;
    validated = 0;
    pushed = 0;
    list = [];
  }

  function check(attempt: number, index: number, item: unknown): void {
    const checked = validate(schema, name, itemIn(item));
    if (previous === null && !(checked instanceof Promise)) {
      push(attempt, index, checked);
      return;
    }
    const current = generation;
    previous = Promise.all([checked, previous]).then(([validation]) => {
      if (current === generation) push(attempt, index, validation);
    });
  }

  function begin(attempt: number): void {
    const hadPushed = pushed > 0;
    restart();
    if (!hadPushed) return;
    feed.push({ type: 'reset', attempt, failure: NO_LIST, retryInMs: 0, execution: executionNow() });
  }

  return {
    feed,
    get hasReaders() {
      return feed.readers > 0;
    },
    setPartial(partial) {
      if (Array.isArray(partial)) list = partial;
    },
    onStart: ({ attempt }) => begin(attempt),
    onItem({ attempt }, index, item) {
      // A duplicate member: the later array counts, as in JSON.parse.
      if (index < validated) begin(attempt);
      for (; validated < index; validated += 1) check(attempt, validated, list[validated]);
      validated += 1;
      check(attempt, index, item);
    },
    reset(update) {
      restart();
      feed.push(update);
    },
    finish(attempt, value) {
      const items = Array.isArray(value) ? value : [];
      if (pushed > items.length) begin(attempt);
      const missing = pushed;
      restart();
      for (let index = missing; index < items.length; index += 1)
        feed.push({ type: 'element', attempt, index, value: items[index] });
      feed.end();
    },
    fail(error) {
      restart();
      feed.end(error);
    },
  };
}

/** Unread items of a failed attempt are void. */
function dropElements(waiting: UpdateQueue<ElementUpdate>): void {
  while (waiting.last?.type === 'element') waiting.dropLast();
}
