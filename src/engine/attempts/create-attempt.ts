import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActorLogic, ActorSystem, ActorSystemInfo, Snapshot, SnapshotFrom } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptInput, AttemptOutcome, ReplyEvent } from '../../../machines/contracts/attempt.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';

import type { RetryHooks } from '../../../machines/policies/retry-hooks.ts';
import { type JsonSchema, jsonSchemaOf } from '../../internal/standard-schema.ts';
import { wireName } from '../../internal/wire-name.ts';
import { systemClock } from '../clock.ts';
import type { PromptSpec } from '../prompts/prompt.ts';
import { outputShape } from '../schemas/output-shape.ts';
import { type AttemptOptions, type AttemptPrompt, parseAttemptOptions, promptTurns } from './attempt-options.ts';
import { type CallObserver, noopCallObserver, provideAttempt } from './provide-attempt.ts';
import type { DeepPartial } from './updates.ts';

export interface CreateAttemptOptions<Schema extends StandardSchemaV1> extends AttemptOptions<Schema> {
  /** The value as far as it is there: a live, read-only view. Void when its attempt fails. */
  readonly onPartial?: (partial: {
    readonly attemptId: string;
    readonly attempt: number;
    readonly value: DeepPartial<StandardSchemaV1.InferInput<Schema>>;
  }) => void;
}

/** The attempt machine with its ports filled, for a chart of your own; its output is the outcome, and it never fails. */
export type AttemptLogic<Output> = ActorLogic<
  Snapshot<AttemptOutcome<Output>> & Pick<SnapshotFrom<typeof attemptMachine>, 'value' | 'context'>,
  ReplyEvent,
  AttemptInput,
  ActorSystem<ActorSystemInfo>
>;

export interface Attempt<Output> {
  readonly machine: AttemptLogic<Output>;
  /** What the machine is started with to get one value. Throws `invalid_option` for a prompt that is none. */
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/**
 * Structured output as a machine to invoke in a chart of your own, where it is inspected, stopped and tested like any other actor.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`.
 * @example
 * const extract = createAttempt({ model, schema: Recipe });
 * setup({ actors: { extract: extract.machine } }).createMachine({
 *   invoke: { src: 'extract', input: ({ context }) => extract.input(context.question), onDone: … },
 * });
 */
export function createAttempt<Schema extends StandardSchemaV1>({
  onPartial,
  ...options
}: CreateAttemptOptions<Schema>): Attempt<StandardSchemaV1.InferOutput<Schema>> {
  const observer: CallObserver = {
    ...noopCallObserver,
    onPartial: ({ attemptId, attempt }, value) => onPartial?.({ attemptId, attempt, value: value as never }),
  };
  const { machine, input } = resolveAttempt(options, observer, ['onPartial']);
  return { machine: machine as unknown as AttemptLogic<StandardSchemaV1.InferOutput<Schema>>, input };
}

interface AttemptParts {
  readonly machine: typeof attemptMachine;
  /** As the user's schema says it, unwrapped. */
  readonly jsonSchema: JsonSchema;
  /** What a rule of the retry policy threw, if one did. */
  readonly thrown: HookError;
  /** What the machine is started with to get one value. */
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/** The attempt machine joined to what the options say. Throws `invalid_option` or `invalid_schema`. */
export function resolveAttempt<Schema extends StandardSchemaV1>(
  options: AttemptOptions<Schema>,
  observer: CallObserver,
  others: readonly string[],
): AttemptParts {
  const { name, replyForm, policy } = parseAttemptOptions(options, others);
  const { model, schema, system, jsonSchema, clock = systemClock, newId = () => crypto.randomUUID() } = options;
  const told = jsonSchema ?? jsonSchemaOf(schema);
  const ask: PromptSpec = {
    schemaName: wireName(name),
    shape: outputShape(schema, name, told),
    turns: (input) => input as readonly ChatTurn[],
  };
  const { fallbackModels = [], ...rules } = options.policy ?? {};
  const thrown: HookError = { error: undefined };
  const hooks = captureHookErrors(rules, thrown);
  const models = [model, ...fallbackModels];
  return {
    jsonSchema: told,
    thrown,
    machine: provideAttempt({ models, specFor: () => ask, replyForm, clock, observer, hooks }),
    input: (prompt) => ({ id: newId(), task: name, input: promptTurns(prompt, system), policy }),
  };
}

/** What a rule of the user's own threw last: the machine keeps only its words, as it keeps nothing that is no JSON. */
export interface HookError {
  error: unknown;
}

/** The same rules, whose errors are remembered on their way. */
export function captureHookErrors(
  { shouldRetry, recordFailure, prepareRetry }: RetryHooks,
  thrown: HookError,
): RetryHooks {
  return {
    ...(shouldRetry && { shouldRetry: remembered(shouldRetry, thrown) }),
    ...(recordFailure && { recordFailure: remembered(recordFailure, thrown) }),
    ...(prepareRetry && { prepareRetry: remembered(prepareRetry, thrown) }),
  };
}

function remembered<Args extends readonly unknown[], Value>(rule: (...args: Args) => Value, thrown: HookError) {
  return (...args: Args): Value => {
    try {
      return rule(...args);
    } catch (error) {
      thrown.error = error;
      throw error;
    }
  };
}
