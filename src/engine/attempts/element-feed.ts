import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AttemptExecution, Validation } from '../../../machines/contracts/attempt.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { validate } from '../schemas/output-shape.ts';
import { createFeed, type Feed, type UpdateQueue } from './feed.ts';
import type { ItemObserver } from './provide-attempt.ts';
import type { ElementUpdate, ResetUpdate } from './updates.ts';

interface ElementSource {
  /** The item in what a model gave for it. */
  readonly itemIn: (given: unknown) => unknown;
  readonly executionNow: () => AttemptExecution;
}

const NO_LIST = failureOf('extraction', 'no_json', 'What looked like the list in the reply was none; another began.');

/** The items of a list as they are complete. */
export interface ElementFeed extends ItemObserver {
  readonly feed: Feed<ElementUpdate>;
  /** The list so far: for who comes when some of its items are complete already. */
  see(list: unknown): void;
  reset(update: ResetUpdate): void;
  /** The whole list is valid: what is missing of it is given, and that was all. */
  finish(attempt: number, value: unknown): void;
  fail(error: Error): void;
}

/**
 * 1. Items come in order and without a gap. 2. One that does not fit is not given, nor any after it: its attempt has failed, which
 * the end of its reply will show. 3. Where what looked like the list was none, its items are void too. 4. After a reset nothing of
 * what was before it comes, even where it is still being validated.
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
  /** How many items have been held against their schema, and how many were given. */
  let taken = 0;
  let given = 0;
  let list: readonly unknown[] = [];
  let round = {};
  let before: Promise<void> | null = null;

  function give(attempt: number, index: number, { ok, ...checked }: Validation): void {
    if (!ok || index !== given) return;
    given += 1;
    feed.push({ type: 'element', attempt, index, value: (checked as { value: unknown }).value });
  }

  function restart(): void {
    round = {};
    before = null;
    taken = 0;
    given = 0;
    list = [];
  }

  function check(attempt: number, index: number, item: unknown): void {
    const checked = validate(schema, name, itemIn(item));
    if (before === null && !(checked instanceof Promise)) {
      give(attempt, index, checked);
      return;
    }
    const mine = round;
    before = Promise.all([checked, before]).then(([verdict]) => {
      if (mine === round) give(attempt, index, verdict);
    });
  }

  function begin(attempt: number): void {
    const wasGiven = given > 0;
    restart();
    if (!wasGiven) return;
    feed.push({ type: 'reset', attempt, failure: NO_LIST, retryInMs: 0, execution: executionNow() });
  }

  return {
    feed,
    get isWanted() {
      return feed.readers > 0;
    },
    see(seen) {
      if (Array.isArray(seen)) list = seen;
    },
    begin: ({ attempt }) => begin(attempt),
    take({ attempt }, index, item) {
      // A member named twice: the later list counts, as in JSON.parse.
      if (index < taken) begin(attempt);
      for (; taken < index; taken += 1) check(attempt, taken, list[taken]);
      taken += 1;
      check(attempt, index, item);
    },
    reset(update) {
      restart();
      feed.push(update);
    },
    finish(attempt, value) {
      const items = Array.isArray(value) ? value : [];
      if (given > items.length) begin(attempt);
      const missing = given;
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

/** What nobody has read yet of an attempt that failed is void before it was seen. */
function dropElements(waiting: UpdateQueue<ElementUpdate>): void {
  while (waiting.last?.type === 'element') waiting.dropLast();
}
