import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptInput } from '../../../machines/contracts/attempt.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import { type JsonSchema, jsonSchemaOf } from '../../internal/schemas/standard-schema.ts';
import { wireName } from '../../internal/schemas/wire-name.ts';
import type { PromptSpec } from '../prompts/prompt-spec.ts';
import { outputShape } from '../schemas/output-shape.ts';
import { type AttemptOptions, type AttemptPrompt, readAttemptOptions, turnsOf } from './attempt-options.ts';
import { systemClock } from './clock.ts';
import { provideAttempt } from './provide-attempt.ts';
import type { CallObserver } from './read-reply.ts';
import { rememberedHooks, type Thrown } from './remembered-hooks.ts';

interface AttemptParts {
  readonly machine: typeof attemptMachine;
  /** As the user's schema says it, unwrapped. */
  readonly jsonSchema: JsonSchema;
  /** What a rule of the retry policy threw, if one did. */
  readonly thrown: Thrown;
  /** What the machine is started with to get one value. */
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/** The attempt machine joined to what the options say. Throws `invalid_option` or `invalid_schema`. */
export function attemptParts<Schema extends StandardSchemaV1>(
  options: AttemptOptions<Schema>,
  observer: CallObserver,
  others: readonly string[],
): AttemptParts {
  const { name, replyForm, policy } = readAttemptOptions(options, others);
  const { model, schema, system, jsonSchema, clock = systemClock, newId = () => crypto.randomUUID() } = options;
  const told = jsonSchema ?? jsonSchemaOf(schema);
  const ask: PromptSpec = {
    schemaName: wireName(name),
    shape: outputShape(schema, name, told),
    turns: (input) => input as readonly ChatTurn[],
  };
  const { fallbackModels = [], ...rules } = options.policy ?? {};
  const thrown: Thrown = { error: undefined };
  const hooks = rememberedHooks(rules, thrown);
  const models = [model, ...fallbackModels];
  return {
    jsonSchema: told,
    thrown,
    machine: provideAttempt({ models, askFor: () => ask, replyForm, clock, observer, hooks }),
    input: (prompt) => ({ id: newId(), task: name, input: turnsOf(prompt, system), policy }),
  };
}
