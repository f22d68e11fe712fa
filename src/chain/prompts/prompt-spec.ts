import * as z from 'zod/mini';
import type { Validation } from '../../../machines/contracts/attempt.ts';
import { answerGradesSchema } from '../../../machines/contracts/grading.ts';
import type { TextTurn } from '../../../machines/contracts/model.ts';
import { PHASES, type Phase, type PromptName, type Task } from '../../../machines/contracts/phase.ts';
import { type PhaseInput, replySchemas } from '../../../machines/contracts/phase-io.ts';
import { mapMaybePromise } from '../../internal/async.ts';
import { isJsonNode, nullRemover } from '../../internal/json-schema.ts';
import { zodJsonSchema } from '../../internal/zod-json-schema.ts';
import type { PromptSpec } from '../../llm/request.ts';
import { type OutputShape, outputShape, validate } from '../../llm/schemas/output-shape.ts';
import type { Prompt } from './prompt.ts';
import { phaseContext, phaseSystem } from './registry.ts';

/** Whether a prompt begins like the built-in phase prompts and has their reply, so that providers cache what precedes its task. */
export const hasSharedReply = ({ name, system, user, output }: Prompt): boolean =>
  system === phaseSystem && user === phaseContext && output === replySchemas[name as Phase];

const specs = new WeakMap<Prompt, PromptSpec>();

/** Cached, because it converts the schema to JSON Schema. */
export function promptSpec(prompt: Prompt): PromptSpec {
  const known = specs.get(prompt);
  if (known !== undefined) return known;
  const spec: PromptSpec = {
    ...replyOf(prompt),
    turns: (input) => turnsOf(prompt, input),
    tools: prompt.tools && ((input) => prompt.tools?.(input as never) ?? []),
    fromProse: prompt.fromProse,
    fromToolCalls: prompt.fromToolCalls,
    toolTurns: prompt.toolTurns && ((input) => prompt.toolTurns?.(input as never) ?? null),
    toolsInWords: prompt.toolsInWords && ((input) => prompt.toolsInWords?.(input as never) ?? ''),
  };
  specs.set(prompt, spec);
  return spec;
}

/**
 * Returns the spec of one call that replies to several phases, whose prompts have the shared reply. The value is an object with the
 * first phase's reply, which must be valid, and the valid replies of the others.
 */
function sharedSpec(first: Prompt, others: readonly Prompt[]): PromptSpec {
  const { fromProse } = first;
  const all = [first, ...others];
  return {
    ...replyOf(first),
    shape: sharedShapeOf(first.name as Phase, others.map(({ name }) => name) as Phase[]),
    phases: all.map(({ name }) => name) as Phase[],
    turns: (input) => {
      requireInput(first, input);
      const asked = [{ prompt: first, task: first.task?.(input as never) ?? '' }];
      for (const prompt of others) {
        const task = laterTask(prompt, input as PhaseInput);
        if (task !== null) asked.push({ prompt, task });
      }
      const tasks = asked.map(({ task }) => task).join('\n\n');
      return turnsWithTask(first, input, `${tasks}\n${replyWith(asked.map(({ prompt }) => prompt))}`);
    },
    fromProse: fromProse && ((text) => ({ [first.name]: fromProse(text) })),
  };
}

/**
 * Returns the task of a later phase in a shared call, without the current task, which the first phase already states. Returns null if the
 * template throws: the phase then makes its own call, so that only that phase fails.
 */
function laterTask({ name, task }: Prompt, input: PhaseInput): string | null {
  try {
    return task?.({ ...input, phase: name, prompt: input.request } as never) ?? '';
  } catch {
    return null;
  }
}

export function createSpecs(
  prompts: Readonly<Record<PromptName, Prompt>>,
): (call: { readonly task: string; readonly sharedWith?: readonly Phase[] | undefined }) => PromptSpec {
  const shared = new Map<string, PromptSpec>();
  return ({ task, sharedWith = [] }) => {
    const prompt = prompts[task as Task];
    if (sharedWith.length === 0) return promptSpec(prompt);
    const key = [task, ...sharedWith].join();
    const spec =
      shared.get(key) ??
      sharedSpec(
        prompt,
        sharedWith.map((phase) => prompts[phase]),
      );
    shared.set(key, spec);
    return spec;
  };
}

function turnsOf(prompt: Prompt, input: unknown): readonly TextTurn[] {
  requireInput(prompt, input);
  return turnsWithTask(prompt, input, taskOf(prompt, input));
}

function requireInput(prompt: Prompt, input: unknown): void {
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
  return hasSharedReply(prompt) ? `${task}\n${replyWith([prompt])}` : task;
}

function replyWith(prompts: readonly Prompt[]): string {
  const members = prompts.map(({ name }) => `"${name}"`);
  const last = members.pop();
  return members.length === 0
    ? `Reply with the member ${last} only.`
    : `Reply with the members ${members.join(', ')} and ${last} only.`;
}

function replyOf(prompt: Prompt): Pick<PromptSpec, 'schemaName' | 'shape'> {
  return hasSharedReply(prompt)
    ? { schemaName: 'chain_reply', shape: phaseShape(prompt.name as Phase) }
    : { schemaName: `${prompt.name}_reply`, shape: ownShape(prompt) };
}

const builtInSchemas = { ...replySchemas, grading: answerGradesSchema };

/** The reply to a user's prompt must match the built-in schema too, because the chain reads its fields. */
function ownShape({ name, output }: Prompt): OutputShape {
  const shape = outputShape(output, name, zodJsonSchema(output));
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

/**
 * Returns the shape of one reply to several phases: the reply to the first must be valid, and the others are left out if they are invalid.
 */
function sharedShapeOf(first: Phase, others: readonly Phase[]): OutputShape {
  const own = phaseShape(first);
  const parts = others.map((phase) => ({ phase, validate: phaseShape(phase).validate }));
  const withParts = (validation: Validation, value: unknown): Validation => {
    if (!validation.ok || !hasMembers(value))
      return validation.ok ? { ok: true, value: { [first]: validation.value } } : validation;
    const valid = parts.flatMap(({ phase, validate: check }) => {
      const part = check({ [phase]: value[phase] });
      return part instanceof Promise || !part.ok ? [] : [[phase, part.value]];
    });
    return { ok: true, value: Object.fromEntries([[first, validation.value], ...valid]) };
  };
  return {
    ...own,
    validate: (value) => mapMaybePromise(own.validate(value), (validation) => withParts(validation, value)),
  };
}

const hasMembers = (value: unknown): value is Partial<Record<Phase, unknown>> =>
  isJsonNode(value) && PHASES.some((phase) => Object.hasOwn(value, phase));

const isEmpty = (value: unknown): boolean => isJsonNode(value) && Object.keys(value).length === 0;
