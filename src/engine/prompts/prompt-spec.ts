import type { Feedback } from '../../../machines/contracts/attempt.ts';
import type { ChatTurn, ModelRequest, ReplyForm, ToolOffer } from '../../../machines/contracts/model.ts';
import type { OutputShape } from '../schemas/output-shape.ts';
import { ruleFor, withWords } from './reply-rule.ts';

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
export interface ToolUse<Input> {
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
    ...withWords(asking, '\n\n', ruleFor({ schemaName, shape }, replyForm, offersTools)),
    ...correction(feedback, shape),
  ];
  const request = {
    task,
    turns: whole(words === '' ? turns : withWords(turns, '\n', words), false),
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
