import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AnyActorRef } from 'xstate';
import * as z from 'zod/mini';
import type { Validation } from '../../../machines/contracts/attempt.ts';
import { answerGradesSchema } from '../../../machines/contracts/grading.ts';
import type { TextTurn } from '../../../machines/contracts/model.ts';
import { PHASES, type Phase, type PromptName, type Task } from '../../../machines/contracts/phase.ts';
import {
  type BriefReply,
  briefReplySchema,
  type PhaseInput,
  replySchemas,
} from '../../../machines/contracts/phase-io.ts';
import type { ValueInput } from '../../../machines/contracts/synthesis.ts';
import { expandReply } from '../../../machines/policies/brief-reply.ts';
import { memoize } from '../../../machines/text/memoize.ts';
import { mapMaybePromise } from '../../internal/async.ts';
import { asStandardSchema } from '../../internal/check-json-schema.ts';
import { isJsonNode, nullRemover } from '../../internal/json-schema.ts';
import { wholeJsonSchema, zodJsonSchema } from '../../internal/zod-json-schema.ts';
import type { SpecSource } from '../../llm/attempts/provide-attempt.ts';
import type { PromptSpec } from '../../llm/request.ts';
import { type OutputShape, outputShape, validate } from '../../llm/schemas/output-shape.ts';
import { withOfferedTools } from '../../llm/streaming/offered-tools.ts';
import { writtenCalls } from '../../llm/written-calls.ts';
import type { Prompt } from './prompt.ts';
import { prompts as builtIn, ownSystem, phaseContext, phaseSystem } from './registry.ts';

/** Whether a prompt begins like the built-in phase prompts and has their reply, so that providers cache what precedes its task. */
const hasSharedReply = ({ name, system, user, output }: Prompt): boolean =>
  system === phaseSystem && user === phaseContext && output === replySchemas[name as Phase];

/** The schema is converted to JSON Schema once. */
export const promptSpec = memoize((prompt: Prompt): PromptSpec => {
  return {
    ...replyOf(prompt),
    turns: (input) => turnsOf(prompt, input),
    tools: prompt.tools && ((input) => prompt.tools?.(input as never) ?? []),
    fromProse: prompt.fromProse,
    fromToolCalls: prompt.fromToolCalls,
    callsInText: prompt.fromToolCalls && writtenCalls,
    withToolCalls: withOfferedTools,
    toolTurns: prompt.toolTurns && ((input) => prompt.toolTurns?.(input as never) ?? null),
    toolsInWords: prompt.toolsInWords && ((input) => prompt.toolsInWords?.(input as never) ?? ''),
  };
});

/**
 * Returns the spec of a call whose reply has only the fields of its own phase. A reply in the form of the shared
 * schema, an object with a member for the phase, is accepted too.
 */
function ownSpec(prompt: Prompt): PromptSpec {
  const spec = promptSpec(prompt);
  if (!hasSharedReply(prompt)) return spec;
  const { jsonSchema } = ownShape(prompt);
  return {
    ...spec,
    schemaName: `${prompt.name}_reply`,
    shape: { ...spec.shape, jsonSchema },
    turns: (input) => {
      requireInput(prompt, input);
      return turnsWithTask({ ...prompt, system: ownSystem }, input, prompt.task?.(input as never) ?? '');
    },
  };
}

/** Returns the spec of a brief reply. Its value is the reply of the phase or, for several phases, an object with the reply of each. */
function briefSpec(prompt: Prompt, phases: readonly Phase[]): PromptSpec {
  const spec = promptSpec(prompt);
  const [only, ...others] = phases;
  return {
    ...spec,
    phases,
    turns: (input) => spec.turns({ ...(input as PhaseInput), replyTo: phases }),
    expand: (value, input) => {
      const parts = expandReply(value as BriefReply, phases, input as PhaseInput);
      return only === undefined || others.length > 0 ? parts : parts[only];
    },
  };
}

function valueSpec(prompt: Prompt, input: ValueInput, schema: StandardSchemaV1): PromptSpec {
  return { ...promptSpec(prompt), shape: outputShape(jsonOnly(schema), 'answer', input.schema) };
}

/** The value is part of the answer, which is JSON. */
function jsonOnly({ '~standard': standard }: StandardSchemaV1): StandardSchemaV1 {
  const toJson = (result: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<unknown> =>
    result.issues || z.json().safeParse(result.value).success
      ? result
      : { issues: [{ message: 'the schema transforms it to a value that is not JSON' }] };
  return { '~standard': { ...standard, validate: (value) => mapMaybePromise(standard.validate(value), toJson) } };
}

/** `valueSchemaOf` returns the schema of the value of the run that an actor belongs to; without it, that of the call's input counts. */
export function createSpecs(
  prompts: Readonly<Record<PromptName, Prompt>>,
  valueSchemaOf: (self: AnyActorRef) => StandardSchemaV1 | undefined = () => undefined,
): SpecSource {
  const cache = new Map<string, PromptSpec>();
  return ({ task, phases = [], policy, input }, self) => {
    if (task === 'value') {
      const given = input as ValueInput;
      return valueSpec(prompts.value, given, (self && valueSchemaOf(self)) ?? asStandardSchema(given.schema));
    }
    const isOwn = policy?.ownSchema ?? false;
    if (phases.length === 0 && !isOwn) return promptSpec(prompts[task as Task]);
    const key = `${isOwn ? task : ''}:${phases.join()}`;
    const spec =
      cache.get(key) ?? (phases.length > 0 ? briefSpec(prompts.brief, phases) : ownSpec(prompts[task as Task]));
    cache.set(key, spec);
    return spec;
  };
}

function turnsOf(prompt: Prompt, input: unknown): readonly TextTurn[] {
  requireInput(prompt, input);
  return turnsWithTask(prompt, input, taskOf(prompt, input));
}

/** The inputs of the built-in phase prompts come from the policies, which are typed. */
const isChecked = (prompt: Prompt): boolean =>
  prompt !== builtIn[prompt.name] || !(hasSharedReply(prompt) || prompt.name === 'brief');

function requireInput(prompt: Prompt, input: unknown): void {
  if (!isChecked(prompt)) return;
  const read = z.safeParse(prompt.input, input);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue?.path.join('.') || 'the input';
    throw new TypeError(`The prompt "${prompt.name}" received an invalid input: ${where}: ${issue?.message}`);
  }
}

function turnsWithTask(prompt: Prompt, input: unknown, task: string): readonly TextTurn[] {
  const system = prompt.system(input as never);
  const user = prompt.user(input as never);
  return [
    { role: 'system', content: system },
    task === ''
      ? { role: 'user', content: user }
      : { role: 'user', content: `${user}\n\n${task}`, cachedChars: user.length },
  ];
}

/** Returns the end of the user turn: the task of the prompt, and the member of the reply to answer with. */
function taskOf(prompt: Prompt, input: unknown): string {
  const task = prompt.task?.(input as never) ?? '';
  return hasSharedReply(prompt) ? `${task}\nReply with the member "${prompt.name}" only.` : task;
}

function replyOf(prompt: Prompt): Pick<PromptSpec, 'schemaName' | 'shape'> {
  return hasSharedReply(prompt)
    ? { schemaName: 'chain_reply', shape: phaseShape(prompt.name as Phase) }
    : { schemaName: `${prompt.name}_reply`, shape: ownShape(prompt) };
}

const builtInSchemas = { ...replySchemas, grading: answerGradesSchema };

/** The reply to a user's prompt must match the built-in schema too, because the chain reads its fields. */
function ownShape({ name, output }: Prompt): OutputShape {
  const shape = outputShape(
    output,
    name,
    output === briefReplySchema ? wholeJsonSchema(output) : zodJsonSchema(output),
  );
  const builtIn = builtInSchemas[name];
  if (output === builtIn) return shape;
  return {
    ...shape,
    validate: async (value) => {
      const validation = await shape.validate(value);
      if (!validation.ok) return validation;
      const readable = await validate(builtIn, name, validation.value);
      return readable.ok ? validation : readable;
    },
  };
}

/** The reply to every phase: an object with a member for each phase that replies. One schema for all, because providers cache it. */
const phaseReplies = z.object({
  action: z.optional(replySchemas.action),
  experience: z.optional(replySchemas.experience),
  intention: z.optional(replySchemas.intention),
  observation: z.optional(replySchemas.observation),
  understanding: z.optional(replySchemas.understanding),
  yield: z.optional(replySchemas.yield),
});

let sharedShape: OutputShape | null = null;

/** Many models leave out the object around the only member, so its value alone is accepted too. */
function phaseShape(phase: Phase): OutputShape {
  sharedShape ??= outputShape(phaseReplies, 'reply', zodJsonSchema(phaseReplies));
  const own = replySchemas[phase];
  const withoutNulls = nullRemover(zodJsonSchema(own)) ?? ((value: unknown) => value);
  const reply = z.object({ [phase]: own });
  const partOf = (validation: Validation): Validation =>
    validation.ok ? { ok: true, value: (validation.value as Record<string, unknown>)[phase] } : validation;
  const { unwrap } = sharedShape;
  return {
    ...sharedShape,
    unwrap: (given) => (hasMembers(given) ? unwrap(given) : withoutNulls(given)),
    unwrapPartial: (given) => (hasMembers(given) ? given[phase] : isEmpty(given) ? undefined : given),
    validate: (value) =>
      hasMembers(value) ? mapMaybePromise(validate(reply, phase, value), partOf) : validate(own, phase, value),
  };
}

const hasMembers = (value: unknown): value is Partial<Record<Phase, unknown>> =>
  isJsonNode(value) && PHASES.some((phase) => Object.hasOwn(value, phase));

const isEmpty = (value: unknown): boolean => isJsonNode(value) && Object.keys(value).length === 0;
