import type { Feedback } from '../../machines/contracts/attempt.ts';
import type { ChatTurn, ModelRequest, ReplyForm } from '../../machines/contracts/model.ts';
import type { OutputShape } from '../schemas/output-shape.ts';

/** What is asked of a model: turns made from an input, and the shape of the reply, by name. */
export interface Ask {
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
export function requestOf(ask: Ask, { task, input, feedback }: Asked, replyForm: ReplyForm): ModelRequest {
  const { schemaName, shape } = ask;
  return {
    task,
    turns: [...withRule(ask.turns(input), ruleFor(ask, replyForm)), ...correction(feedback, shape)],
    schemaName,
    outputSchema: shape.jsonSchema,
    replyForm,
    input,
  };
}

/** How long a request is: its turns, and the schema of the tool where it is not in them. */
export function charsOf({ shape }: Ask, { turns, replyForm }: ModelRequest): number {
  const told = replyForm === 'text' ? 0 : textRule(shape).length;
  return turns.reduce((sum, { content }) => sum + content.length, told);
}

function ruleFor(ask: Ask, form: ReplyForm): string {
  return form === 'text'
    ? textRule(ask.shape)
    : `Reply by calling the tool "${ask.schemaName}" once, and with nothing else.`;
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

function withRule(turns: readonly ChatTurn[], rule: string): readonly ChatTurn[] {
  const [first, ...others] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: rule }, ...turns];
  return [{ role: 'system', content: `${first.content}\n\n${rule}` }, ...others];
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
