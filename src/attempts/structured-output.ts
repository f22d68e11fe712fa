import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Actor, createActor } from 'xstate';
import type { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import type { AttemptExecution } from '../../machines/contracts/attempt.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { spell } from '../refusal.ts';
import { itemSchemaOf } from '../schemas/standard-schema.ts';
import type { AttemptOptions, AttemptPrompt } from './attempt-options.ts';
import { attemptParts } from './attempt-parts.ts';
import { createAttemptRun } from './attempt-run.ts';
import { AttemptsExhausted } from './attempts-exhausted.ts';
import { systemClock } from './clock.ts';
import { createElementFeed } from './element-feed.ts';
import { iterableOf, type Reader } from './feed.ts';
import type { CallWatcher } from './read-reply.ts';
import type { ElementUpdate, StructuredUpdate } from './updates.ts';
import { createValueFeed } from './value-feed.ts';

export interface StructuredOutputOptions<Schema extends StandardSchemaV1> extends AttemptOptions<Schema> {
  readonly prompt: AttemptPrompt;
  /** Cancels the attempts when it aborts. */
  readonly signal?: AbortSignal;
}

/** A value under way, or done. Nothing is called before somebody asks for the value, an update or an element. */
export interface StructuredOutput<Input, Output> extends AsyncIterable<StructuredUpdate<Input, Output>> {
  /** The validated value. Rejects with `AttemptsExhausted`, or with PostChainError `cancelled`. */
  readonly value: Promise<Output>;
  /**
   * The items of a list, each validated as it is complete. The schema is `listOf(item)` or zod's `z.array(item)`; asked of any other,
   * this throws PostChainError `invalid_option`.
   */
  readonly elements: AsyncIterable<ElementUpdate<Output extends readonly (infer Item)[] ? Item : never>>;
  /** Step by step [A7]: whether `next` has something to give, which waits until that is known. */
  hasNext(): Promise<boolean>;
  /** The next update. Rejects where there is no value in the end, and when there is no update left. */
  next(): Promise<StructuredUpdate<Input, Output>>;
  /** All attempts so far: immutable and serialisable. */
  readonly execution: AttemptExecution;
  /** Ends everything at once and closes the connection; `value` rejects with `cancelled`. */
  cancel(reason?: string): void;
  /** The XState actor that runs: to inspect, and to hear facts (`actor.on('attempt-end', …)`). */
  readonly actor: Actor<typeof attemptMachine>;
}

/**
 * One typed value out of a language model: streamed, validated, and tried again while that can help. It is the machine that runs in
 * every phase of a chain, by itself.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`, here and nowhere later.
 * @example
 * const recipe = createStructuredOutput({ model, schema: z.object({ title: z.string() }), prompt: 'A recipe for pancakes' });
 * for await (const update of recipe) if (update.type === 'partial') show(update.value.title);
 * const { title } = await recipe.value;
 */
export function createStructuredOutput<Schema extends StandardSchemaV1>(
  given: StructuredOutputOptions<Schema>,
): StructuredOutput<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>> {
  type Output = StandardSchemaV1.InferOutput<Schema>;
  type Update = StructuredUpdate<StandardSchemaV1.InferInput<Schema>, Output>;

  const { prompt, signal, ...options } = given;
  requireSignal(signal);
  const updates = createValueFeed();
  const watcher: CallWatcher = {
    onText: () => {},
    onPartial({ attempt }, value) {
      items?.see(value);
      updates.push({ type: 'partial', attempt, value: value as never, execution: executionNow() });
    },
    get items() {
      return items ?? undefined;
    },
  };
  const parts = attemptParts(options, watcher);
  const input = parts.input(prompt);
  const itemSchema = itemSchemaOf(options.schema);
  const items = itemSchema === null ? null : createElementFeed(itemSchema, input.task, () => executionNow());
  const actor = createActor(parts.machine, { input, clock: options.clock ?? systemClock });
  const executionNow = (): AttemptExecution => actor.getSnapshot().context.execution;
  const promised = withResolvers<Output>();

  const run = createAttemptRun(
    actor,
    {
      onReset(update) {
        updates.push(update);
        items?.reset(update);
      },
      onValue(value, execution) {
        const attempt = execution.attempts.length;
        updates.push({ type: 'value', attempt, value, execution });
        updates.end();
        items?.finish(attempt, value);
        promised.resolve(value as Output);
      },
      onError(met) {
        const error = lastWord(options, met);
        updates.end(error);
        items?.fail(error);
        promised.reject(error);
      },
    },
    { signal, thrown: parts.thrown },
  );

  let isAwaited = false;
  /** The last one to leave stops the call: nobody would see what it costs. */
  const leave = (): void => {
    if (updates.readers === 0 && !items?.isWanted && !isAwaited) run.cancel('nobody reads it any more');
  };
  let stepper: Reader<StructuredUpdate> | null = null;
  const steps = (): Reader<StructuredUpdate> => {
    stepper ??= updates.open();
    run.start();
    return stepper;
  };

  return {
    get value() {
      isAwaited = true;
      run.start();
      return promised.promise;
    },
    get elements() {
      if (items === null) throw noElements();
      return iterableOf(items.feed, run.start, leave) as AsyncIterable<never>;
    },
    hasNext: () => steps().hasNext(),
    async next() {
      const step = await steps().next();
      if (!step.done) return step.value as Update;
      throw new PostChainError('invalid_option', 'next: there is no update left; ask hasNext before it.');
    },
    [Symbol.asyncIterator]: () =>
      iterableOf(updates, run.start, leave)[Symbol.asyncIterator]() as AsyncIterator<Update>,
    get execution() {
      return executionNow();
    },
    cancel: run.cancel,
    actor,
  };
}

/** The error to end with: that of the policy's last rule, if it throws one of its own. */
function lastWord({ policy }: Pick<AttemptOptions<StandardSchemaV1>, 'policy'>, error: Error): Error {
  if (!(error instanceof AttemptsExhausted)) return error;
  try {
    policy?.finalizeOrThrow?.(error);
    return error;
  } catch (own) {
    return own instanceof Error ? own : error;
  }
}

/** Whoever awaits the promise hears that it was rejected; that nobody does is no crash. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function requireSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new PostChainError('invalid_option', `signal: got ${spell(signal)}; wanted an AbortSignal.`);
}

function noElements(): PostChainError {
  return new PostChainError(
    'invalid_option',
    'elements: got a schema that does not tell its items; wanted listOf(item), or z.array(item) of zod.',
  );
}
