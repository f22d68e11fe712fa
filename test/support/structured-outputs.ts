import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type } from 'arktype';
import { SimulatedClock } from 'xstate';
import * as z from 'zod';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { ReplyForm } from '../../machines/contracts/model.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import type { AttemptLimits } from '../../src/llm/attempts/attempt-options.ts';
import type { AttemptsExhausted } from '../../src/llm/attempts/attempts-exhausted.ts';
import type { StructuredOutput } from '../../src/llm/attempts/output-handle.ts';
import type { RetryPolicy } from '../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput, type StructuredOutputOptions } from '../../src/llm/attempts/structured-output.ts';
import type { ElementUpdate, StructuredUpdate } from '../../src/llm/attempts/updates.ts';
import { settle } from '../../src/testing/settle.ts';
import {
  type CallScript,
  chunkedReply,
  type ManualModel,
  manualModel,
  type PartModel,
  partModel,
} from './scripted-models.ts';
import { TestClock } from './simulated-clock.ts';

/** How a structured output went, watched to its end. */
export interface SettledOutput<Output> {
  readonly value?: Output;
  readonly error?: AttemptsExhausted;
  readonly endedAtMs: number;
  /** Each update but the partials, and when it came. */
  readonly updates: readonly { readonly atMs: number; readonly update: StructuredUpdate }[];
}

/** Moves the clock from timer to timer until there is a value, or none. */
export async function settleOutput<Input, Output>(
  output: StructuredOutput<Input, Output>,
  clock: TestClock,
): Promise<SettledOutput<Output>> {
  let played: SettledOutput<Output> | null = null;
  const told: { atMs: number; update: StructuredUpdate }[] = [];
  output.value.then(
    (value) => {
      played = { value, endedAtMs: clock.now(), updates: told };
    },
    (error: AttemptsExhausted) => {
      played = { error, endedAtMs: clock.now(), updates: told };
    },
  );
  void (async () => {
    for await (const update of output) if (update.type !== 'partial') told.push({ atMs: clock.now(), update });
  })().catch(() => {});
  for (let steps = 0; steps < 10_000; steps += 1) {
    await settle(1);
    if (played !== null) return played;
    const { nextAt } = clock;
    if (nextAt === null) throw new Error(`nothing will happen any more, at ${clock.now()} ms`);
    clock.set(nextAt);
  }
  throw new Error('it does not end');
}

/** The waits that were told, in order; null is the end. */
const waitsOf = ({ updates }: SettledOutput<unknown>): readonly (number | null)[] =>
  updates.flatMap(({ update }) => (update.type === 'reset' ? [update.retryInMs] : []));

export const Answer = z.object({ yes: z.boolean() });
export const validCall: CallScript = chunkedReply({ yes: true }, 1_000);
export const invalidCall: CallScript = chunkedReply({ yes: 'perhaps' }, 1_000);
/** Wrong in another way than `wrong`. */
export const missingFieldCall: CallScript = chunkedReply({}, 1_000);

/** A call that fails in transport and may be tried again. */
export const failingCall = (known: Partial<Failure> = {}): CallScript => [
  { type: 'failure', failure: { ...failureOf('transport', 'server_error', 'It is down.'), ...known } },
];
/** A call that fails without hope. */
export const unauthorizedCall: CallScript = failingCall({ code: 'unauthorized', status: 401, retryable: false });

/** A model with a name of its own. */
export const namedModel = (id: string, ...scripts: readonly CallScript[]): PartModel => ({
  ...partModel(...scripts),
  id,
});

interface RunWithPolicyOptions extends Pick<StructuredOutputOptions<typeof Answer>, 'signal' | 'newId'> {
  readonly limits?: AttemptLimits;
  readonly clock?: TestClock;
}

/** Plays the scripts under a policy, from the first call to the value or its lack. */
export async function runWithPolicy(
  scripts: readonly CallScript[],
  policy: RetryPolicy,
  given: RunWithPolicyOptions = {},
) {
  const model = partModel(...scripts);
  const clock = given.clock ?? new TestClock();
  const output = createStructuredOutput({
    model,
    schema: Answer,
    prompt: 'Is it so?',
    policy,
    newId: () => 'o1',
    ...given,
    clock,
  });
  const played = await settleOutput(output, clock);
  const { attempts } = output.execution;
  const models = attempts.map(({ model: index }) => index);
  return { ...played, waits: waitsOf(played), model, clock, output, attempts, models };
}

/** What the model was told beside the prompt, in one of its calls. */
export function feedbackIn(model: PartModel, call: number): readonly string[] {
  return (model.calls[call]?.turns ?? []).slice(2).map(({ content }) => content);
}

export const Recipe = z.object({ title: z.string(), minutes: z.int(), steps: z.array(z.string()) });
export const pancakes = { title: 'Pancakes', minutes: 25, steps: ['Mix', 'Wait', 'Fry'] };
export const invalidRecipe = { ...pancakes, minutes: 'soon' };

type RecipeOptions = Partial<StructuredOutputOptions<typeof Recipe>>;

/** A recipe from a model that plays these scripts, on a clock that stands still. */
export function recipeFrom(scripts: readonly CallScript[], more: RecipeOptions = {}) {
  const model = partModel(...scripts);
  const clock = new SimulatedClock();
  const output = createStructuredOutput({ model, schema: Recipe, prompt: 'How?', clock, newId: () => 'o1', ...more });
  return { model, clock, output };
}

/** Everything that one reader sees: partial values as they were when they came. */
export async function readUpdates(updates: AsyncIterable<StructuredUpdate>): Promise<StructuredUpdate[]> {
  const seen: StructuredUpdate[] = [];
  for await (const update of updates) seen.push(structuredClone(update));
  return seen;
}

export const City = z.object({ name: z.string(), size: z.int().positive() });
export const osaka = { name: 'Osaka', size: 3 };
export const quito = { name: 'Quito', size: 2 };
export const paris = { name: 'Paris', size: 11 };
export const cities = [osaka, quito, paris];
export const ArkCity = type({ name: 'string', size: 'number.integer > 0' });
/** A list as the reply that a model gives it in. */
export const wrappedList = (value: unknown): string => JSON.stringify({ value });

/** A list that is asked for, and the model that says it by hand. */
export function listFrom<Schema extends StandardSchemaV1>(
  schema: Schema,
  more: Partial<StructuredOutputOptions<Schema>> = {},
) {
  const form: ReplyForm = more.replyForm ?? 'text';
  const model = manualModel(form);
  const clock = new SimulatedClock();
  const output = createStructuredOutput({ model, schema, prompt: 'Which?', clock, newId: () => 'o1', ...more });
  return { model, clock, output };
}

/** Reads elements as they arrive, and notes each in short: `1:0 {"name":…}` for the first one of attempt 1, `1:reset`. */
export function readElements(elements: AsyncIterable<ElementUpdate>) {
  const seen: string[] = [];
  let isOver = false;
  let error: unknown;
  void (async () => {
    for await (const update of elements) seen.push(describeUpdate(update));
  })()
    .catch((met: unknown) => {
      error = met;
    })
    .finally(() => {
      isOver = true;
    });
  return { seen, isOver: () => isOver, error: () => error };
}

export const describeUpdate = (update: ElementUpdate): string =>
  update.type === 'reset'
    ? `${update.attempt}:reset`
    : `${update.attempt}:${update.index} ${JSON.stringify(update.value)}`;

/** As `short` says an element. */
export const describeElement = (attempt: number, index: number, value: unknown): string =>
  `${attempt}:${index} ${JSON.stringify(value)}`;

/** Says a text character by character, and calls `look` after each with what has been said by then. */
export async function streamCharacters(model: ManualModel, text: string, look: (said: string) => void): Promise<void> {
  for (let at = 0; at < text.length; at += 1) {
    await model.write(text.charAt(at));
    look(text.slice(0, at + 1));
  }
}
