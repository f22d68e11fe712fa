import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import type { AttemptInput } from '../../machines/contracts/attempt.ts';
import type { ChatTurn } from '../../machines/contracts/model.ts';
import type { Ask } from '../prompts/ask.ts';
import { outputShape } from '../schemas/output-shape.ts';
import { type AttemptOptions, type AttemptPrompt, readAttemptOptions, turnsOf } from './attempt-options.ts';
import { systemClock } from './clock.ts';
import { joinAttempt } from './join-attempt.ts';
import type { CallWatcher } from './read-reply.ts';
import { rememberedHooks, type Thrown } from './remembered-hooks.ts';

interface AttemptParts {
  readonly machine: typeof attemptMachine;
  /** What a rule of the retry policy threw, if one did. */
  readonly thrown: Thrown;
  /** What the machine is started with to get one value. */
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/** The attempt machine joined to what the options say. Throws `invalid_option` or `invalid_schema`. */
export function attemptParts<Schema extends StandardSchemaV1>(
  options: AttemptOptions<Schema>,
  watcher: CallWatcher,
): AttemptParts {
  const { name, replyForm, policy } = readAttemptOptions(options);
  const { model, schema, system, jsonSchema, clock = systemClock, newId = () => crypto.randomUUID() } = options;
  const ask: Ask = {
    schemaName: toolNameOf(name),
    shape: outputShape(schema, name, jsonSchema),
    turns: (input) => input as readonly ChatTurn[],
  };
  const { fallbackModels = [], ...rules } = options.policy ?? {};
  const thrown: Thrown = { error: undefined };
  const hooks = rememberedHooks(rules, thrown);
  const models = [model, ...fallbackModels];
  return {
    thrown,
    machine: joinAttempt({ models, askFor: () => ask, replyForm, clock, watcher, hooks }),
    input: (prompt) => ({ id: newId(), task: name, input: turnsOf(prompt, system), policy }),
  };
}

/** As function calling takes it: letters, digits, `_` and `-`, 64 of them at most. */
function toolNameOf(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/gu, '_').slice(0, 64);
}
