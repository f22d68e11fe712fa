import type { z } from 'zod';
import type { Feedback } from '../../../machines/contracts/attempt.ts';
import type { ChatTurn, ModelRequest, ReplyForm, ToolOffer } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { type OutputShape, outputShape, validate } from '../schemas/output-shape.ts';

/**
 * A prompt [E8]: a name, a version that goes up with every change of its words, a purpose, the schemas of what goes in and what must come
 * out, and two templates. The reply's JSON Schema is put under the system template, so that it also reaches servers without
 * structured output. One that says its `tools` is answered by a call of one of them too, where the model takes tools; its system
 * template then leaves them out.
 */
export interface Prompt<Input = never> extends ToolUse<Input> {
  readonly name: Task;
  readonly version: number;
  /** What it is for, in a sentence. */
  readonly purpose: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly system: (input: Input) => string;
  readonly user: (input: Input) => string;
}

export function definePrompt<Input>(prompt: Prompt<Input>): Prompt<Input> {
  return prompt;
}

const asks = new WeakMap<Prompt, PromptSpec>();

/** What a prompt asks of a model; made once, as its JSON Schema is. */
export function promptSpec(prompt: Prompt): PromptSpec {
  const known = asks.get(prompt);
  if (known !== undefined) return known;
  const made: PromptSpec = {
    schemaName: `${prompt.name}_reply`,
    shape: replyShape(prompt),
    turns: (input) => turnsOf(prompt, input),
    tools: prompt.tools && ((input) => prompt.tools?.(input as never) ?? []),
    fromToolCall: prompt.fromToolCall,
    toolsInWords: prompt.toolsInWords && ((input) => prompt.toolsInWords?.(input as never) ?? ''),
  };
  asks.set(prompt, made);
  return made;
}

function turnsOf(prompt: Prompt, input: unknown): readonly ChatTurn[] {
  const checked = prompt.input.safeParse(input);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const where = issue?.path.join('.') || 'the input';
    throw new TypeError(`The input of "${prompt.name}" does not fit: ${where}: ${issue?.message ?? 'misfit'}`);
  }
  return [
    { role: 'system', content: prompt.system(input as never) },
    { role: 'user', content: prompt.user(input as never) },
  ];
}

/** A prompt of the user's may have a schema of its own: its value must fit the chain's too, which reads it. */
function replyShape({ name, output }: Prompt): OutputShape {
  const shape = outputShape(output, name);
  const own = replySchemas[name];
  if (output === own) return shape;
  return {
    ...shape,
    validate: async (value) => {
      const checked = await shape.validate(value);
      if (!checked.ok) return checked;
      const read = await validate(own, name, checked.value);
      return read.ok ? checked : read;
    },
  };
}

/** One call of an offered tool. `arguments` is JSON text as the model gave it, neither parsed nor checked. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

/**
 * What an ask or a prompt says of tools. `tools` are those that a model with native tool calling may call in place of its reply, and
 * `fromToolCall` makes the reply's value of such a call and of what was said before it. `toolsInWords` is told to every other model,
 * under the system turn: its call then is a part of its reply.
 */
interface ToolUse<Input> {
  readonly tools?: ((input: Input) => readonly ToolOffer[]) | undefined;
  readonly fromToolCall?: ((call: ToolCall, text: string) => unknown) | undefined;
  readonly toolsInWords?: ((input: Input) => string) | undefined;
}

/** What is asked of a model: turns made from an input, and the shape of the reply, by name. */
export interface PromptSpec extends ToolUse<unknown> {
  readonly schemaName: string;
  readonly shape: OutputShape;
  /** Throws for an input that does not fit. */
  readonly turns: (input: unknown) => readonly ChatTurn[];
}

interface Asked {
  readonly task: string;
  readonly input: unknown;
  readonly feedback: Feedback | null;
}

/**
 * One call of a model. How to reply is the end of the first system turn, so that it also reaches servers without structured output;
 * after a reply that was not good stand that reply and what was wrong with it [A9].
 */
export function requestOf(ask: PromptSpec, asked: Asked, replyForm: ReplyForm, nativeTools = false): ModelRequest {
  const { shape } = ask;
  const { task, input, feedback } = asked;
  const turns = ask.turns(input);
  const tools = nativeTools ? offersOf(ask, input) : [];
  const schemaName = nameBeside(tools, ask.schemaName);
  const words = ask.toolsInWords?.(input) ?? '';
  const whole = (asking: readonly ChatTurn[], offersTools: boolean): readonly ChatTurn[] => [
    ...appendToSystemTurn(asking, '\n\n', replyInstructions({ schemaName, shape }, replyForm, offersTools)),
    ...correction(feedback, shape),
  ];
  const request = {
    task,
    turns: whole(words === '' ? turns : appendToSystemTurn(turns, '\n', words), false),
    schemaName,
    outputSchema: shape.jsonSchema,
    replyForm,
    input,
  };
  return tools.length === 0
    ? request
    : { ...request, turns: whole(turns, true), tools, turnsWithoutTools: request.turns };
}

/** None where nobody could read a call. */
function offersOf({ tools, fromToolCall }: PromptSpec, input: unknown): readonly ToolOffer[] {
  return fromToolCall === undefined ? [] : (tools?.(input) ?? []);
}

/** The reply's own tool must not have the name of one that is offered. */
function nameBeside(tools: readonly ToolOffer[], name: string): string {
  return tools.some((tool) => tool.name === name) ? nameBeside(tools, `${name}_`) : name;
}

/** Places are told as in the user's schema: where that is wrapped, from its one member on. */
function correction(feedback: Feedback | null, { isWrapped }: OutputShape): readonly ChatTurn[] {
  if (feedback === null) return [];
  return [
    { role: 'assistant', content: feedback.previousReply || '(nothing)' },
    {
      role: 'user',
      content: `That reply cannot be used:\n${feedback.problem}\n${isWrapped ? 'These places are within "value", the one member of the object to reply with. ' : ''}Reply again, corrected.`,
    },
  ];
}

/** The shape of a reply, and its name. */
interface Wanted {
  readonly schemaName: string;
  readonly shape: OutputShape;
}

/** How a reply is to be given, and whether a call of a tool may stand for it. */
function replyInstructions({ schemaName, shape }: Wanted, form: ReplyForm, offersTools: boolean): string {
  if (form === 'text')
    return `${textRule(shape)}${offersTools ? '\nWhere one of the tools would help, call it in place of that reply.' : ''}`;
  const instead = offersTools ? ', or one of the other tools where that would help' : '';
  return `Reply by calling the tool "${schemaName}" once${instead}, and with nothing else.`;
}

/** How long a request is: its turns, and what of it is not in them, the schema of the reply's tool and the tools offered. */
export function requestChars({ shape }: Pick<Wanted, 'shape'>, { turns, replyForm, tools = [] }: ModelRequest): number {
  const told = replyForm === 'text' ? 0 : textRule(shape).length;
  const offered = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return turns.reduce((sum, { content }) => sum + content.length, told + offered);
}

const rules = new WeakMap<OutputShape, string>();

/** Made once: a schema may be long. */
function textRule(shape: OutputShape): string {
  const known = rules.get(shape);
  if (known !== undefined) return known;
  const schema = JSON.stringify(shape.jsonSchema);
  const rule = `Reply with one JSON object that fits this JSON Schema, and with nothing else:\n${schema}`;
  rules.set(shape, rule);
  return rule;
}

/** The turns with more words at the end of the first system turn, which begins them where there is none. */
function appendToSystemTurn(turns: readonly ChatTurn[], between: string, words: string): readonly ChatTurn[] {
  const [first, ...others] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...turns];
  return [{ role: 'system', content: `${first.content}${between}${words}` }, ...others];
}
