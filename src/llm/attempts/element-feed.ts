import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AttemptExecution, Validation } from '../../../machines/contracts/attempt.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { validate } from '../schemas/output-shape.ts';
import { createUpdateFeed, type UpdateQueue } from './feed.ts';
import type { AttemptCall, ItemObserver } from './provide-attempt.ts';
import type { ElementUpdate, ResetUpdate } from './updates.ts';

const OTHER_ARRAY = failureOf('extraction', 'no_json', 'Another array may be the value.');

interface ElementSource {
  /** The schema of an item, and the name of that of the array. */
  readonly schema: StandardSchemaV1;
  readonly name: string;
  /** Returns the item in the value that the model gave for it. */
  readonly itemIn: (given: unknown) => unknown;
  readonly executionNow: () => AttemptExecution;
}

/**
 * A feed of the validated items of an array, as each is complete.
 *
 * - Items come in order and without gaps.
 * - An invalid item and all after it are withheld: the attempt fails at the end of the reply.
 * - If another array in the reply may be the value, the items so far are void.
 * - After a reset no earlier item is pushed, even if its validation was still pending.
 */
export class ElementFeed implements ItemObserver {
  readonly feed = createUpdateFeed<ElementUpdate>(
    (waiting, update) => {
      if (update.type === 'reset') dropElements(waiting);
      waiting.add(update);
    },
    (late, update) => {
      if (update.type === 'reset') late.clear();
      else late.add(update);
    },
  );
  readonly #source: ElementSource;
  /** How many items were validated or are being validated, and how many were pushed. */
  #validated = 0;
  #pushed = 0;
  #list: readonly unknown[] = [];
  /** The items as the model gave them; another array after a reset. */
  #given: unknown[] = [];
  #previous: Promise<void> | null = null;

  constructor(source: ElementSource) {
    this.#source = source;
  }

  get hasReaders(): boolean {
    return this.feed.readers > 0;
  }

  /** Sets the array so far, for readers who start when some items are already complete. */
  setPartial(partial: unknown): void {
    if (Array.isArray(partial)) this.#list = partial;
  }

  onStart({ attempt }: AttemptCall): void {
    this.#begin(attempt);
  }

  onItem({ attempt }: AttemptCall, index: number, item: unknown): void {
    // A duplicate member: the later array counts, as in JSON.parse.
    if (index < this.#validated) this.#begin(attempt);
    for (; this.#validated < index; this.#validated += 1)
      this.#check(attempt, this.#validated, this.#list[this.#validated]);
    this.#validated += 1;
    this.#check(attempt, index, item);
  }

  onRepaired({ attempt }: AttemptCall, value: unknown): void {
    const items = Array.isArray(value) ? value.slice(0, this.#given.length) : [];
    if (JSON.stringify(items) !== JSON.stringify(this.#given)) this.#begin(attempt);
  }

  reset(update: ResetUpdate): void {
    this.#restart();
    this.feed.push(update);
  }

  /** Pushes the remaining items of the validated array, and ends the feed. */
  finish(attempt: number, value: unknown): void {
    const items = Array.isArray(value) ? value : [];
    if (this.#pushed > items.length) this.#begin(attempt);
    const missing = this.#pushed;
    this.#restart();
    for (let index = missing; index < items.length; index += 1)
      this.feed.push({ type: 'element', attempt, index, value: items[index] });
    this.feed.end();
  }

  fail(error: Error): void {
    this.#restart();
    this.feed.end(error);
  }

  #begin(attempt: number): void {
    const hadPushed = this.#pushed > 0;
    this.#restart();
    if (!hadPushed) return;
    const execution = this.#source.executionNow();
    this.feed.push({ type: 'reset', attempt, failure: OTHER_ARRAY, retryInMs: 0, execution });
  }

  #restart(): void {
    this.#previous = null;
    this.#validated = 0;
    this.#pushed = 0;
    this.#list = [];
    this.#given = [];
  }

  #check(attempt: number, index: number, item: unknown): void {
    this.#given.push(item);
    const { schema, name, itemIn } = this.#source;
    const checked = validate(schema, name, itemIn(item));
    if (this.#previous === null && !(checked instanceof Promise)) {
      this.#push(attempt, index, checked);
      return;
    }
    const current = this.#given;
    this.#previous = Promise.all([checked, this.#previous]).then(([validation]) => {
      if (current === this.#given) this.#push(attempt, index, validation);
    });
  }

  #push(attempt: number, index: number, { ok, ...checked }: Validation): void {
    if (!ok || index !== this.#pushed) return;
    this.#pushed += 1;
    this.feed.push({ type: 'element', attempt, index, value: (checked as { value: unknown }).value });
  }
}

/** Unread items of a failed attempt are void. */
function dropElements(waiting: UpdateQueue<ElementUpdate>): void {
  while (waiting.last?.type === 'element') waiting.dropLast();
}
