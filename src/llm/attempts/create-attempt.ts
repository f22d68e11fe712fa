import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActorLogic, ActorSystem, ActorSystemInfo, AnyActorRef, Snapshot, SnapshotFrom } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptInput, AttemptOutcome, ReplyEvent } from '../../../machines/contracts/attempt.ts';
import type { ReplyForm, TextTurn } from '../../../machines/contracts/model.ts';
import type { RetryHooks } from '../../../machines/policies/retry.ts';
import { type Clock, systemClock } from '../../durable/clock.ts';
import type { Json } from '../../durable/codec.ts';
import { addNote, isHosted } from '../../durable/hosted-call.ts';
import { type JsonSchema, jsonSchemaOf } from '../../internal/standard-schema.ts';
import { wireName } from '../../internal/wire-name.ts';
import { copyPrompt, journalPrompts } from '../recorded-prompts.ts';
import type { PromptSpec } from '../request.ts';
import { outputShape } from '../schemas/output-shape.ts';
import { type AttemptOptions, type AttemptPrompt, parseAttemptOptions, promptTurns } from './attempt-options.ts';
import { callNotes } from './call-notes.ts';
import { type CallObserver, noopCallObserver, provideAttempt, type SpecSource } from './provide-attempt.ts';
import { hooksOf } from './retry-policy.ts';
import type { DeepPartial } from './updates.ts';

export interface CreateAttemptOptions<Schema extends StandardSchemaV1> extends AttemptOptions<Schema> {
  /** Called with the value received so far: a live, read-only view. It is void if the attempt fails. */
  readonly onPartial?: (partial: {
    readonly attemptId: string;
    readonly attempt: number;
    readonly value: DeepPartial<StandardSchemaV1.InferInput<Schema>>;
  }) => void;
}

/** The attempt machine with its actors provided, to invoke in your own chart. Its output is the outcome; it never fails. */
export type AttemptLogic<Output> = ActorLogic<
  Snapshot<AttemptOutcome<Output>> & Pick<SnapshotFrom<typeof attemptMachine>, 'value' | 'context'>,
  ReplyEvent,
  AttemptInput,
  ActorSystem<ActorSystemInfo>
>;

export interface Attempt<Output> {
  readonly machine: AttemptLogic<Output>;
  /** Returns the machine's input for one value. Throws `invalid_option` for an invalid prompt. */
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/**
 * Returns structured output as a machine to invoke in your own chart, where it is inspected, stopped and tested like any other actor.
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
  const observerOf = observerIn(options.clock, ({ attemptId, attempt }, value) =>
    onPartial?.({ attemptId, attempt, value: value as never }),
  );
  const { machine, input } = resolveAttempt(options, observerOf, ['onPartial']);
  return {
    machine: withCopiedPrompts(machine) as unknown as AttemptLogic<StandardSchemaV1.InferOutput<Schema>>,
    input,
  };
}

/** Returns the machine with calls that copy the prompts of another journal together with their texts. */
export function withCopiedPrompts(machine: typeof attemptMachine): typeof attemptMachine {
  Object.assign(Object(machine.implementations.actors).readReply, { copyNote: copyPrompt });
  return machine;
}

/** Returns the observer of a call: it notes the call in the journal of its durable actor, if it has one. */
export const observerIn =
  (clock: Clock = systemClock, onPartial: CallObserver['onPartial']) =>
  (self: AnyActorRef): CallObserver => ({
    ...(isHosted({ self })
      ? callNotes({
          note: (note) => addNote({ self }, note as unknown as Json),
          clock,
          prompts: journalPrompts({ self }),
        })
      : noopCallObserver),
    onPartial,
  });

interface AttemptParts {
  readonly machine: typeof attemptMachine;
  /** The user's schema, not wrapped in an object. */
  readonly jsonSchema: JsonSchema;
  readonly thrown: HookError;
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/** Throws `invalid_option` or `invalid_schema`. */
export function resolveAttempt<Schema extends StandardSchemaV1>(
  options: AttemptOptions<Schema>,
  observerOf: (self: AnyActorRef) => CallObserver,
  others: readonly string[],
): AttemptParts {
  const { name, replyForm, policy } = parseAttemptOptions(options, others);
  const { schema, system, jsonSchema = jsonSchemaOf(schema), newId = () => crypto.randomUUID() } = options;
  const spec: PromptSpec = {
    schemaName: wireName(name),
    shape: outputShape(schema, name, jsonSchema),
    turns: (input) => input as readonly TextTurn[],
  };
  const { models, ...calls } = provideCalls(options, replyForm, () => spec, observerOf);
  return {
    ...calls,
    jsonSchema,
    input: (prompt) => ({ id: newId(), task: name, input: promptTurns(prompt, system, models), policy }),
  };
}

/** Returns the attempt machine with its model calls, the models in the order in which they are called, and the errors of the retry rules. */
export function provideCalls<Schema extends StandardSchemaV1>(
  { model, policy = {}, clock = systemClock }: AttemptOptions<Schema>,
  replyForm: ReplyForm,
  specFor: SpecSource,
  observerOf: (self: AnyActorRef) => CallObserver,
) {
  const thrown: HookError = { error: undefined, final: undefined };
  const models = [model, ...(policy.fallbackModels ?? [])];
  const machine = provideAttempt({
    models,
    specFor,
    replyForm,
    callScope: (self) => ({ clock, observer: observerOf(self) }),
    hooks: captureHookErrors(hooksOf(policy), thrown),
  });
  return { machine, thrown, models };
}

/** The errors of custom retry rules: the machine itself keeps only their messages, because its state is JSON. */
export interface HookError {
  /** The last error of a rule before the end. */
  error: unknown;
  /** The error of `finalizeOrThrow`. */
  final: unknown;
}

/** Returns the same rules; errors they throw are also stored in `thrown`. */
function captureHookErrors(hooks: RetryHooks, thrown: HookError): RetryHooks {
  const capturing = ([name, rule]: [string, (...args: unknown[]) => unknown]) => [
    name,
    (...args: unknown[]): unknown => {
      try {
        return rule(...args);
      } catch (error) {
        thrown[name === 'finalizeOrThrow' ? 'final' : 'error'] = error;
        throw error;
      }
    },
  ];
  return Object.fromEntries(Object.entries(hooks).map(capturing));
}
