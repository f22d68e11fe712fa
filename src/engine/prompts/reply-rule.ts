import type { ChatTurn, ModelRequest, ReplyForm } from '../../../machines/contracts/model.ts';
import type { OutputShape } from '../schemas/output-shape.ts';

/** The shape of a reply, and its name. */
interface Wanted {
  readonly schemaName: string;
  readonly shape: OutputShape;
}

/** How a reply is to be given, and whether a call of a tool may stand for it. */
export function ruleFor({ schemaName, shape }: Wanted, form: ReplyForm, offersTools: boolean): string {
  if (form === 'text')
    return `${textRule(shape)}${offersTools ? '\nWhere one of the tools would help, call it in place of that reply.' : ''}`;
  const instead = offersTools ? ', or one of the other tools where that would help' : '';
  return `Reply by calling the tool "${schemaName}" once${instead}, and with nothing else.`;
}

/** How long a request is: its turns, and what of it is not in them, the schema of the reply's tool and the tools offered. */
export function charsOf({ shape }: Pick<Wanted, 'shape'>, { turns, replyForm, tools = [] }: ModelRequest): number {
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
export function withWords(turns: readonly ChatTurn[], between: string, words: string): readonly ChatTurn[] {
  const [first, ...others] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...turns];
  return [{ role: 'system', content: `${first.content}${between}${words}` }, ...others];
}
