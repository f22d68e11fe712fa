import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  type ActorLogic,
  type ActorSystem,
  type ActorSystemInfo,
  type AnyActorRef,
  assign,
  enqueueActions,
  type Snapshot,
  type SnapshotFrom,
} from 'xstate';
import * as z from 'zod/mini';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { attemptSetup } from '../../machines/attempt/setup.ts';
import { callInput, initialAttemptState, usageInFlight } from '../../machines/attempt/state.ts';
import type { ReplyEvent } from '../../machines/contracts/attempt.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { EmittedEvent } from '../../machines/contracts/events.ts';
import { type PriceTable, priceTableSchema } from '../../machines/contracts/usage.ts';
import { NO_FAILURE } from '../../machines/policies/failures.ts';
import { declareOutcomes } from '../internal/declared-outcomes.ts';
import { isJsonNode } from '../internal/json-schema.ts';
import { parseOption } from '../internal/options.ts';
import {
  type AttemptOptions,
  type AttemptPrompt,
  parseAttemptOptions,
  promptTurns,
} from '../llm/attempts/attempt-options.ts';
import { AttemptsExhausted } from '../llm/attempts/attempts-exhausted.ts';
import { observerIn, provideCalls, withCopiedPrompts } from '../llm/attempts/create-attempt.ts';
import type { CallObserver, SpecSource } from '../llm/attempts/provide-attempt.ts';
import { type BudgetUse, budgetFailure, budgetOf, REFUSED } from './budget.ts';
import { examplesOf } from './examples.ts';

/** What every actor with a model accepts. */
export interface ModelOptions extends Omit<AttemptOptions<StandardSchemaV1>, 'schema' | 'jsonSchema' | 'newId'> {
  /** Prices by model id, for costs in `attempt-end` and in the budget of the actor system. */
  readonly prices?: PriceTable | undefined;
}

/** The emitted events of an actor with a model: each call with its usage, each retry. */
type ModelEvents = Extract<EmittedEvent, { type: 'attempt-start' | 'attempt-end' | 'attempt-retry' | 'model-status' }>;

/** An actor that calls a model until it has a valid value, which is its output. Otherwise it fails: handle that in `onError`. */
export type ModelActor<Input, Output> = ActorLogic<
  Snapshot<Output> & Pick<SnapshotFrom<typeof attemptMachine>, 'value' | 'context'>,
  ReplyEvent,
  Input,
  ActorSystem<ActorSystemInfo>,
  ModelEvents
>;

interface ModelActorParts {
  readonly options: AttemptOptions<StandardSchemaV1> & Pick<ModelOptions, 'prices'>;
  /** The names of options that are not those of an attempt. */
  readonly others: readonly string[];
  /** Returns the spec of a call, given the name of the task. Its prompt is rendered from the input of the actor. */
  readonly specFor: (name: string) => SpecSource;
  readonly onPartial?: CallObserver['onPartial'] | undefined;
  /** Whether any reply may be prose. */
  readonly isText?: boolean;
  /** The values that it may end with, for the testing kit. */
  readonly values?: () => ReturnType<typeof exampleOutcomes>;
}

/**
 * Returns the attempt machine as an actor whose input is that of the prompt, whose output is the value, and which fails if there is none. Its
 * calls count toward the budget of the actor system.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`.
 */
export function modelActor<Input, Output>({
  options,
  others,
  specFor,
  onPartial = () => {},
  isText = false,
  values = () => [],
}: ModelActorParts) {
  const { prices: table, ...attempt } = options;
  parseOption(pricesSchema, { prices: table }, 'options');
  const { name, replyForm, policy } = parseAttemptOptions(attempt, [...others, 'prices']);
  const observerOf = observerIn(options.clock, onPartial);
  const { machine, models } = provideCalls(attempt, replyForm, specFor(name), observerOf);
  const prices = models.map(({ id }) => table?.models[id] ?? null);
  const { states = {}, ...config } = attemptMachine.config;
  const { calling, succeeded, failed } = states;
  const logic = attemptSetup.createMachine({
    ...config,
    context: ({ input }: { readonly input: unknown }) =>
      initialAttemptState({ id: crypto.randomUUID(), task: name, input, policy: { ...policy, prices } }),
    output: ({ context }: { readonly context: { readonly value: unknown } }) => context.value,
    states: {
      ...states,
      calling: { ...calling, invoke: { ...calling?.invoke, input: inputOfCall(isText) } },
      succeeded: { ...succeeded, entry: 'reportUsage' },
      failed: {
        description: failed?.description,
        entry: failNext,
        on: { 'attempt.failed': { actions: raiseFailure } },
      },
    },
  } as never);
  const provided = logic.provide(withCopiedPrompts(machine).implementations as never).provide({
    actions: { reportUsage: reportToBudget as never },
  });
  return declareOutcomes(provided, () => [...values(), ...FAILURES]) as unknown as ModelActor<Input, Output>;
}

const pricesSchema = z.object({ prices: z.optional(priceTableSchema) });

/** How every actor with a model may fail. */
export const FAILURES = [
  { kind: 'error', name: 'no valid value', error: { name: 'AttemptsExhausted', code: 'attempts_exhausted' } },
  { kind: 'error', name: 'budget used up', error: { name: 'PostChainError', code: 'budget_exhausted' } },
] as const;

/** Returns an outcome for each example of a JSON Schema. The name is the start of the example. */
export const exampleOutcomes = (schema: unknown, outputOf: (example: unknown) => unknown = (example) => example) =>
  examplesOf(schema).map((example, _, [first]) => ({
    kind: 'done' as const,
    name: nameOf(example, first),
    output: outputOf(example),
  }));

/** Returns an example as JSON, cut at the end. A long one begins with its type and the members that differ from the first example. */
function nameOf(example: unknown, first: unknown): string {
  const text = JSON.stringify(example);
  if (text.length <= MAX_NAME_CHARS || !isJsonNode(example) || !isJsonNode(first)) return excerpt(text);
  const { type, ...members } = example;
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(first[name]);
  const sorted = Object.entries(members).toSorted((one, other) => Number(differs(other)) - Number(differs(one)));
  return excerpt(JSON.stringify({ type, ...Object.fromEntries(sorted) }));
}

const excerpt = (text: string): string =>
  text.length > MAX_NAME_CHARS ? `${text.slice(0, MAX_NAME_CHARS - 1)}…` : text;

const MAX_NAME_CHARS = 60;

/** A prompt for the input of an actor. Without a function, the input is the prompt. */
export type PromptFor<Input> = ((input: Input) => AttemptPrompt) | undefined;

/** Returns the turns of a prompt. They throw for an invalid one, which fails the call. */
export function turnsFor<Input>(
  prompt: PromptFor<Input>,
  { model, policy, system }: Pick<ModelOptions, 'model' | 'policy' | 'system'>,
) {
  const models = [model, ...(policy?.fallbackModels ?? [])];
  return (input: Input) => promptTurns(prompt === undefined ? (input as AttemptPrompt) : prompt(input), system, models);
}

type Args = { readonly context: Parameters<typeof callInput>[0]; readonly self: AnyActorRef };

/** Returns the input of a call. Text may be the answer of any reply, not only of the last one. */
const inputOfCall =
  (isText: boolean) =>
  ({ context, self }: Args) => {
    const call = callInput(context);
    return { ...call, mayBeProse: isText || call.mayBeProse, notCalled: call.notCalled ?? budgetFailure(self) };
  };

const reportToBudget = enqueueActions(({ context, self, enqueue }) => {
  const budget = budgetOf(self);
  if (budget === undefined) return;
  const state = context as Args['context'];
  const { finished, call } = usageInFlight(state);
  const isRefused = state.failure?.code === REFUSED && call === null;
  const made = isRefused ? { ...finished, modelCalls: finished.modelCalls - 1 } : finished;
  enqueue.sendTo(budget, { type: 'budget.used', id: state.id, isRefused, finished: made, call } satisfies BudgetUse);
});

/** A transition that throws loses what it has sent: the actor reports its usage first, and fails in the next transition. */
const failNext = enqueueActions(({ enqueue, self }) => enqueue.sendTo(self, { type: 'attempt.failed' }));

/** Fails the actor within its step: a replay computes an `assign` again. */
const raiseFailure = assign(({ context }) => {
  const { failure, execution } = context as Args['context'];
  if (failure?.code === REFUSED) throw new PostChainError(REFUSED, failure.message);
  throw new AttemptsExhausted(failure ?? NO_FAILURE, execution);
});
