import type { StandardSchemaV1 } from '@standard-schema/spec';
import { createActor } from 'xstate';
import * as z from 'zod/mini';
import type { AttemptExecution, Validation } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { systemClock } from '../../durable/clock.ts';
import { withResolvers } from '../../internal/async.ts';
import { nullRemover } from '../../internal/json-schema.ts';
import { parseOption, signalSchema } from '../../internal/options.ts';
import { itemSchemaOf } from '../../internal/standard-schema.ts';
import { validate } from '../schemas/output-shape.ts';
import type { AttemptOptions, AttemptPrompt } from './attempt-options.ts';
import { resolveAttempt } from './create-attempt.ts';
import type { ElementFeed } from './element-feed.ts';
import type { UpdateQueue } from './feed.ts';
import { createUpdateFeed, type Feed } from './feed.ts';
import { createAttemptRun, OutputHandle, type StructuredOutput } from './output-handle.ts';
import type { CallObserver } from './provide-attempt.ts';
import type { ElementUpdate, StructuredUpdate } from './updates.ts';

interface ElementSource {
  /** Returns the item in the value that the model gave for it. */
  readonly itemIn: (given: unknown) => unknown;
  readonly executionNow: () => AttemptExecution;
}

const OTHER_ARRAY = failureOf('extraction', 'no_json', 'The items so far are void: another array may be the value.');

/**
 * Returns a feed of validated items.
 *
 * - Items come in order and without gaps.
 * - An invalid item and all after it are withheld: the attempt fails at the end of the reply.
 * - If another array in the reply may be the value, the items so far are void.
 * - After a reset no earlier item is pushed, even if its validation was still pending.
 */
function createElementFeed(
  schema: StandardSchemaV1,
  name: string,
  { itemIn, executionNow }: ElementSource,
): ElementFeed {
  const feed = createUpdateFeed<ElementUpdate>(
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
  /** The items as the model gave them. */
  let given: unknown[] = [];
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
    given = [];
  }

  function check(attempt: number, index: number, item: unknown): void {
    given.push(item);
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
    feed.push({ type: 'reset', attempt, failure: OTHER_ARRAY, retryInMs: 0, execution: executionNow() });
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
    onRepaired({ attempt }, value) {
      const items = Array.isArray(value) ? value.slice(0, given.length) : [];
      if (JSON.stringify(items) !== JSON.stringify(given)) begin(attempt);
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

export interface StructuredOutputOptions<Schema extends StandardSchemaV1> extends AttemptOptions<Schema> {
  readonly prompt: AttemptPrompt;
  /** Cancels the attempts when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns one typed value from a language model: streamed, validated, and retried while that can help. It runs the same attempt machine
 * as every phase of a chain.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`, before anything starts.
 * @example
 * const recipe = createStructuredOutput({ model, schema: z.object({ title: z.string() }), prompt: 'A recipe for pancakes' });
 * for await (const update of recipe) if (update.type === 'partial') show(update.value.title);
 * const { title } = await recipe.value;
 */
export function createStructuredOutput<Schema extends StandardSchemaV1>(
  given: StructuredOutputOptions<Schema>,
): StructuredOutput<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>> {
  type Output = StandardSchemaV1.InferOutput<Schema>;
  const { prompt, signal, ...options } = given ?? ({} as typeof given);
  const caller = captureCaller(createStructuredOutput);
  parseOption(z.optional(signalSchema), signal, 'signal');
  const updates = createValueFeed();
  const observer: CallObserver = {
    onText: () => {},
    onPartial({ attempt }, value) {
      items?.setPartial(value);
      updates.push({ type: 'partial', attempt, value: value as never, execution: executionNow() });
    },
    get items() {
      return items ?? undefined;
    },
  };
  const parts = resolveAttempt(options, () => observer, ['prompt', 'signal']);
  const input = parts.input(prompt);
  const itemIn = nullRemover(parts.jsonSchema['items'], parts.jsonSchema) ?? ((given) => given);
  const itemSchema = itemSchemaOf(options.schema, parts.jsonSchema);
  const items =
    itemSchema === null
      ? null
      : createElementFeed(itemSchema, input.task, { itemIn, executionNow: () => executionNow() });
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
      onError(cause) {
        const error = cause instanceof PostChainError ? withCallerStack(caller, cause) : cause;
        updates.end(error);
        items?.fail(error);
        promised.reject(error);
      },
    },
    { signal, thrown: parts.thrown },
  );

  return new OutputHandle({ actor, run, updates, items, value: promised.promise });
}

interface Caller {
  readonly stack?: string;
}

/** Captures the caller's stack; V8 formats the frames only when they are read. */
function captureCaller(callee: (...args: never) => unknown): Caller {
  const caller: { stack?: string } = {};
  Error.captureStackTrace?.(caller, callee);
  return caller;
}

/** Replaces the error's frames, which point into a timer or a socket, with the caller's. */
function withCallerStack<Thrown extends Error>({ stack }: Caller, error: Thrown): Thrown {
  const frames = stack?.split('\n').slice(1).join('\n');
  if (frames) error.stack = `${error.name}: ${error.message}\n${frames}`;
  return error;
}

/**
 * Returns the feed of a value's updates. A slow reader gets one partial per attempt, the newest, since it is the same growing object,
 * and none of an attempt that has failed. A reader that starts late begins with the current partial, or with the value.
 */
function createValueFeed(): Feed<StructuredUpdate> {
  return createUpdateFeed(
    (waiting, update) => {
      if (update.type !== 'value' && waiting.last?.type === 'partial') waiting.dropLast();
      waiting.add(update);
    },
    (late, update) => {
      late.clear();
      if (update.type !== 'reset') late.add(update);
    },
  );
}
