import type { StandardSchemaV1 } from '@standard-schema/spec';
import { createActor } from 'xstate';
import * as z from 'zod/mini';
import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { systemClock } from '../../durable/clock.ts';
import { withResolvers } from '../../internal/async.ts';
import { nullRemover } from '../../internal/json-schema.ts';
import { parseOption, signalSchema } from '../../internal/options.ts';
import { itemSchemaOf } from '../../internal/standard-schema.ts';
import type { AttemptOptions, AttemptPrompt } from './attempt-options.ts';
import { resolveAttempt } from './create-attempt.ts';
import { ElementFeed } from './element-feed.ts';
import { createUpdateFeed, type Feed } from './feed.ts';
import { createAttemptRun, OutputHandle, type StructuredOutput } from './output-handle.ts';
import type { CallObserver } from './provide-attempt.ts';
import type { StructuredUpdate } from './updates.ts';

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
      : new ElementFeed({ schema: itemSchema, name: input.task, itemIn, executionNow: () => executionNow() });
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
