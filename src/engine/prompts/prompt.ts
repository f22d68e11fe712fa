import type * as z from 'zod';
import type { Feedback } from '../../../machines/contracts/attempt.ts';
import { answerGradesSchema } from '../../../machines/contracts/grading.ts';
import type { ChatTurn, ModelRequest, ReplyForm, ToolOffer } from '../../../machines/contracts/model.ts';
import type { PromptName } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { type OutputShape, outputShape, validate } from '../schemas/output-shape.ts';

/** One call of an offered tool. `arguments` is JSON text as the model wrote it, neither parsed nor validated. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

/** How a prompt offers tools that a model may call instead of replying. */
interface ToolUse<Input> {
  /** The tools offered to a model with native tool calls. */
  readonly tools?: ((input: Input) => readonly ToolOffer[]) | undefined;
  /** Converts a call, and the text before it, to the reply's value. Without it no tools are offered. */
  readonly fromToolCall?: ((call: ToolCall, text: string) => unknown) | undefined;
  /** Describes the tools for any other model, which names a call in its reply. Appended to the system turn. */
  readonly toolsInWords?: ((input: Input) => string) | undefined;
}

/** The confidence of a reply that a model gave in prose: nothing states how sure it is. */
export const PROSE_CONFIDENCE = 0.2;

/** A prompt: the schemas of its input and output, and two templates. The reply's JSON Schema is appended to the system template. */
export interface Prompt<Input = never> extends ToolUse<Input> {
  readonly name: PromptName;
  /** Raised with every change of the wording. */
  readonly version: number;
  /** One sentence. */
  readonly purpose: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** If the prompt has `tools`, leaves them out. */
  readonly system: (input: Input) => string;
  readonly user: (input: Input) => string;
  /** Returns the reply for a model that answers in prose: the text in the main field. Without it, prose is not accepted. */
  readonly fromProse?: ((text: string) => unknown) | undefined;
}

export function definePrompt<Input>(prompt: Prompt<Input>): Prompt<Input> {
  return prompt;
}

/** What a model is asked for: turns rendered from an input, and the shape of the reply. */
export interface PromptSpec extends ToolUse<unknown> {
  readonly schemaName: string;
  readonly shape: OutputShape;
  /** Throws a TypeError for an invalid input. */
  readonly turns: (input: unknown) => readonly ChatTurn[];
  readonly fromProse?: ((text: string) => unknown) | undefined;
}

const specs = new WeakMap<Prompt, PromptSpec>();

/** Returns the spec of a prompt. Cached, because it converts the schema to JSON Schema. */
export function promptSpec(prompt: Prompt): PromptSpec {
  const known = specs.get(prompt);
  if (known !== undefined) return known;
  const spec: PromptSpec = {
    schemaName: `${prompt.name}_reply`,
    shape: replyShape(prompt),
    turns: (input) => turnsOf(prompt, input),
    tools: prompt.tools && ((input) => prompt.tools?.(input as never) ?? []),
    fromProse: prompt.fromProse,
    fromToolCall: prompt.fromToolCall,
    toolsInWords: prompt.toolsInWords && ((input) => prompt.toolsInWords?.(input as never) ?? ''),
  };
  specs.set(prompt, spec);
  return spec;
}

function turnsOf(prompt: Prompt, input: unknown): readonly ChatTurn[] {
  const read = prompt.input.safeParse(input);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue?.path.join('.') || 'the input';
    throw new TypeError(`The prompt "${prompt.name}" received an invalid input: ${where}: ${issue?.message}`);
  }
  return [
    { role: 'system', content: prompt.system(input as never) },
    { role: 'user', content: prompt.user(input as never) },
  ];
}

const builtInSchemas = { ...replySchemas, grading: answerGradesSchema };

/** The reply to a user's prompt must match the built-in schema too, because the chain reads its fields. */
function replyShape({ name, output }: Prompt): OutputShape {
  const shape = outputShape(output, name);
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

/** What one request is rendered from. `feedback` is set if the previous reply was invalid. */
interface RequestInput {
  readonly task: string;
  readonly input: unknown;
  readonly feedback: Feedback | null;
}

/**
 * Returns the request of one model call. The reply instructions end the first system turn, so that they also reach servers without
 * structured output. After an invalid reply, that reply and its errors follow as further turns.
 */
export function requestOf(
  spec: PromptSpec,
  { task, input, feedback }: RequestInput,
  replyForm: ReplyForm,
  nativeTools = false,
): ModelRequest {
  const { shape } = spec;
  const turns = spec.turns(input);
  const tools = nativeTools && spec.fromToolCall !== undefined ? (spec.tools?.(input) ?? []) : [];
  const schemaName = unusedName(spec.schemaName, tools);
  const toolText = spec.toolsInWords?.(input) ?? '';
  const complete = (rendered: readonly ChatTurn[], offersTools: boolean): readonly ChatTurn[] => [
    ...appendToSystemTurn(rendered, '\n\n', replyInstructions(schemaName, shape, replyForm, offersTools)),
    ...correctionTurns(feedback, shape),
  ];
  const request = {
    task,
    turns: complete(toolText === '' ? turns : appendToSystemTurn(turns, '\n', toolText), false),
    schemaName,
    outputSchema: shape.jsonSchema,
    replyForm,
    input,
  };
  return tools.length === 0
    ? request
    : { ...request, turns: complete(turns, true), tools, turnsWithoutTools: request.turns };
}

/** The reply's own tool must not have the name of an offered one. */
function unusedName(name: string, tools: readonly ToolOffer[]): string {
  return tools.some((tool) => tool.name === name) ? unusedName(`${name}_`, tools) : name;
}

/** The paths in the errors are those of the user's schema, without the object around it. */
function correctionTurns(feedback: Feedback | null, { isWrapped }: OutputShape): readonly ChatTurn[] {
  if (feedback === null) return [];
  const wrapped = isWrapped ? 'These paths are inside "value", the only property of the reply.\n' : '';
  return [
    { role: 'assistant', content: feedback.previousReply || '(nothing)' },
    {
      role: 'user',
      content: `That reply is invalid:\n${feedback.problem}\n${wrapped}Reply again with these errors corrected.`,
    },
  ];
}

function replyInstructions(schemaName: string, shape: OutputShape, form: ReplyForm, offersTools: boolean): string {
  if (form !== 'tool-call')
    return `${jsonInstruction(shape)}${offersTools ? '\nIf one of the tools would help, call it instead of replying.' : ''}`;
  const others = offersTools ? ', or of one of the other tools if that would help' : '';
  return `Reply with one call of the tool "${schemaName}"${others}, and nothing else.`;
}

/** Returns the length of a request: its turns, the schema of the reply's tool, and the offered tools. */
export function requestChars({ shape }: PromptSpec, { turns, replyForm, tools = [] }: ModelRequest): number {
  const schemaChars = replyForm !== 'tool-call' ? 0 : jsonInstruction(shape).length;
  const toolChars = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return turns.reduce((sum, { content }) => sum + content.length, schemaChars + toolChars);
}

const jsonInstructions = new WeakMap<OutputShape, string>();

/** Cached, because a schema may be long. */
function jsonInstruction(shape: OutputShape): string {
  const known =
    jsonInstructions.get(shape) ??
    `Reply with one JSON object that matches this JSON Schema, and nothing else:\n${JSON.stringify(shape.jsonSchema)}`;
  jsonInstructions.set(shape, known);
  return known;
}

/** Appends text to the first system turn, or adds a system turn if there is none. */
function appendToSystemTurn(turns: readonly ChatTurn[], separator: string, text: string): readonly ChatTurn[] {
  const [first, ...others] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...turns];
  return [{ role: 'system', content: `${first.content}${separator}${text}` }, ...others];
}
