import type { Actor } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { AttemptRun } from './attempt-run.ts';
import type { ElementFeed } from './element-feed.ts';
import { type Feed, iterableOf, type Reader } from './feed.ts';
import type { ElementUpdate, StructuredUpdate } from './updates.ts';

/** A value under way, or done. Nothing is called before somebody asks for the value, an update or an element. */
export interface StructuredOutput<Input, Output> extends AsyncIterable<StructuredUpdate<Input, Output>> {
  /** The validated value. Rejects with `AttemptsExhausted`, or with PostChainError `cancelled`. */
  readonly value: Promise<Output>;
  /** The items of a list, each validated as it is complete. Of any other schema, reading this throws `invalid_option`. */
  readonly elements: Output extends readonly (infer Item)[] ? AsyncIterable<ElementUpdate<Item>> : never;
  /** Step by step: whether `next` has something to give, an update or the error; waits until that is known. */
  readonly hasNext: () => Promise<boolean>;
  /** The next update. Rejects where there is no value in the end, and when there is no update left. */
  readonly next: () => Promise<StructuredUpdate<Input, Output>>;
  /** All attempts so far: immutable and serialisable. */
  readonly execution: AttemptExecution;
  /** Ends everything at once and closes the connection; `value` rejects with `cancelled`. */
  readonly cancel: (reason?: string) => void;
  /** The XState actor that runs: to inspect, and to hear facts (`actor.on('attempt-end', …)`). */
  readonly actor: Actor<typeof attemptMachine>;
}

interface HandleParts<Output> {
  readonly actor: Actor<typeof attemptMachine>;
  readonly run: AttemptRun;
  readonly updates: Feed<StructuredUpdate>;
  readonly items: ElementFeed | null;
  readonly value: Promise<Output>;
}

/** What the user holds. What begins a call stands on the prototype, so that to spread, log or serialise it begins none. */
export class OutputHandle<Input, Output> implements StructuredOutput<Input, Output> {
  readonly #parts: HandleParts<Output>;
  #isAwaited = false;
  #stepper: Reader<StructuredUpdate> | null = null;

  constructor(parts: HandleParts<Output>) {
    this.#parts = parts;
  }

  get value(): Promise<Output> {
    this.#isAwaited = true;
    this.#parts.run.start();
    return this.#parts.value;
  }

  get elements(): StructuredOutput<Input, Output>['elements'] {
    const { items, run } = this.#parts;
    if (items === null)
      throw new PostChainError(
        'invalid_option',
        'elements: got a schema that is no list; wanted one; await the value.',
      );
    return iterableOf(items.feed, run.start, this.#leave) as never;
  }

  get execution(): AttemptExecution {
    return this.#parts.actor.getSnapshot().context.execution;
  }

  get actor(): Actor<typeof attemptMachine> {
    return this.#parts.actor;
  }

  readonly hasNext = (): Promise<boolean> => this.#steps().hasNext();

  readonly next = async (): Promise<StructuredUpdate<Input, Output>> => {
    const step = await this.#steps().next();
    if (!step.done) return step.value as StructuredUpdate<Input, Output>;
    throw new PostChainError('invalid_option', 'next: there is no update left; ask hasNext before it.');
  };

  readonly cancel = (reason?: string): void => this.#parts.run.cancel(reason);

  [Symbol.asyncIterator](): AsyncIterator<StructuredUpdate<Input, Output>> {
    const { updates, run } = this.#parts;
    return iterableOf(updates, run.start, this.#leave)[Symbol.asyncIterator]() as never;
  }

  toJSON(): { readonly execution: AttemptExecution } {
    return { execution: this.execution };
  }

  #steps(): Reader<StructuredUpdate> {
    this.#stepper ??= this.#parts.updates.open();
    this.#parts.run.start();
    return this.#stepper;
  }

  /** The last one to leave stops the call: nobody would see what it costs. */
  readonly #leave = (): void => {
    const { updates, items, run } = this.#parts;
    if (updates.readers === 0 && !items?.isWanted && !this.#isAwaited) run.cancel('nobody reads it any more');
  };
}
