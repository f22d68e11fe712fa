import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod/mini';
import { functionSchema, parseOption } from '../internal/options.ts';
import { type JsonSchema, jsonSchemaOf } from '../internal/standard-schema.ts';
import { wireName } from '../internal/wire-name.ts';
import type { AttemptPrompt } from '../llm/attempts/attempt-options.ts';
import type { DeepPartial } from '../llm/attempts/updates.ts';
import type { PromptSpec } from '../llm/request.ts';
import { type OutputShape, outputShape } from '../llm/schemas/output-shape.ts';
import { createProseDriver } from '../llm/streaming/prose-driver.ts';
import {
  exampleOutcomes,
  type ModelActor,
  type ModelOptions,
  modelActor,
  type PromptFor,
  turnsFor,
} from './model-actor.ts';

/** Options of `generate`. */
export interface GenerateOptions<Input, Schema extends StandardSchemaV1> extends ModelOptions {
  /** The schema of the value, as for `createAttempt`. Without it, the value is the model's text, and `replyForm` has no effect. */
  readonly schema?: Schema | undefined;
  /** The schema as JSON Schema (draft 7), if it cannot convert itself. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** Returns the prompt for the actor's input. Without it, the input is the prompt. */
  readonly prompt?: PromptFor<Input>;
  /** Called with the value received so far: a live, read-only view, which is void if the attempt fails. `id` is that of the attempt. */
  readonly onPartial?:
    | ((partial: { readonly id: string; readonly value: DeepPartial<StandardSchemaV1.InferInput<Schema>> }) => void)
    | undefined;
}

/**
 * Returns an actor that gets one value from a language model, to invoke in your own chart. Its input is that of `prompt`; its output is the
 * validated value. Invalid replies are corrected and failed calls are repeated, as by `createAttempt`. Without a valid value, it fails with
 * `AttemptsExhausted`, or with `budget_exhausted`: handle that in `onError`.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`.
 * @example
 * const triage = generate({ model, schema: Ticket, prompt: (mail: string) => `Summarize this mail:\n${mail}` });
 * setup({ actors: { triage } }).createMachine({
 *   invoke: { src: 'triage', input: ({ context }) => context.mail, onDone: { … event.output.summary … }, onError: 'failed' },
 * });
 */
export function generate<Input = AttemptPrompt, Schema extends StandardSchemaV1 = StandardSchemaV1<string>>(
  options: GenerateOptions<Input, Schema>,
): ModelActor<Input, StandardSchemaV1.InferOutput<Schema>> {
  const { prompt, schema, jsonSchema, onPartial, ...others } = options;
  parseOption(optionsSchema, { prompt, onPartial }, 'options');
  const isText = schema === undefined;
  const turns = turnsFor(prompt, others) as PromptSpec['turns'];
  const json = () => (isText ? { type: 'string' } : (jsonSchema ?? jsonSchemaOf(schema)));
  return modelActor({
    options: { ...others, schema: schema ?? z.string() },
    others: ['prompt', 'onPartial'],
    specFor: (name) => {
      const asked = isText ? TEXT : { shape: outputShape(schema, name, json()) };
      const spec: PromptSpec = { schemaName: wireName(name), turns, ...asked };
      return () => spec;
    },
    isText,
    values: () => exampleOutcomes(json()),
    onPartial: onPartial && (({ attemptId: id }, value) => onPartial({ id, value: value as never })),
  });
}

const optionsSchema = z.object({ prompt: z.optional(functionSchema), onPartial: z.optional(functionSchema) });

const same = (value: unknown): unknown => value;

const TEXT_SHAPE: OutputShape = {
  jsonSchema: {},
  isWrapped: false,
  mayBeList: false,
  unwrap: same,
  unwrapPartial: same,
  itemAt: () => null,
  validate: (value) => ({ ok: true, value }),
};

const TEXT = { shape: TEXT_SHAPE, prose: () => createProseDriver() } as const;
