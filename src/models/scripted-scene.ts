import type { TokenUsage } from '../../machines/contracts/budget.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { ModelPart, ModelRequest, ReplyForm } from '../../machines/contracts/model.ts';
import { type Directive, isDirective, type ScriptedReply } from './scripted-reply.ts';

/** What is said in deltas, a piece of `text` in each. */
interface Speech {
  readonly text: string;
  readonly delta: (text: string) => ModelPart;
  /** Whether even an empty text is told, by one delta. */
  readonly isTold?: boolean;
}

/** One call, played out: what is said, then silence, a failure or the finish. */
export interface Scene {
  readonly speeches: readonly Speech[];
  readonly hangs: boolean;
  readonly last: ModelPart;
}

/** What a reply comes to, for this request. `usage` is what a reply that says nothing of it costs. */
export function sceneOf(scripted: ScriptedReply, request: ModelRequest, usage: TokenUsage | null): Scene {
  const directive: Directive = isDirective(scripted) ? scripted : { reply: scripted };
  const before = aloud(directive.reasoning);
  if ('failure' in directive)
    return { speeches: before, hangs: false, last: failing(directive.failure, directive.usage) };
  if ('hang' in directive) {
    const said = directive.text === undefined ? [] : [inForm(request.replyForm, directive.text, request.schemaName)];
    return { speeches: [...before, ...said], hangs: true, last: { type: 'finish', reason: 'stop', usage } };
  }
  const { form, said, text, name = request.schemaName } = spokenBy(directive, request);
  const speeches = [...before, ...said, inForm(form, text.slice(0, directive.cut), name)];
  if (directive.cut !== undefined) return { speeches, hangs: false, last: failing(CUT, directive.usage) };
  const reason = directive.reason ?? (form === 'tool-call' ? 'tool-calls' : 'stop');
  const cost = directive.usage === undefined ? usage : directive.usage;
  return { speeches, hangs: false, last: { type: 'finish', reason, usage: cost } };
}

interface Spoken {
  readonly form: ReplyForm;
  readonly said: readonly Speech[];
  readonly text: string;
  readonly name?: string | undefined;
}

function spokenBy(directive: Exclude<Directive, { failure: unknown } | { hang: true }>, request: ModelRequest): Spoken {
  if ('toolCall' in directive) {
    const { toolCall, name, text: words } = directive;
    const said = words === undefined ? [] : [inForm('text', words, '')];
    return { form: 'tool-call', said, text: typeof toolCall === 'string' ? toolCall : json(toolCall), name };
  }
  const text = 'text' in directive ? directive.text : json(asAsked(directive.reply, request));
  return { form: directive.replyForm ?? request.replyForm, said: [], text };
}

/** A text, a number, a truth or null is asked for in an object, so it is given in one. */
function asAsked(reply: unknown, { outputSchema }: ModelRequest): unknown {
  const { properties = {} } = outputSchema as { properties?: object };
  const [only, ...others] = Object.keys(properties);
  const isScalar = typeof reply !== 'object' || reply === null;
  return isScalar && only !== undefined && others.length === 0 ? { [only]: reply } : reply;
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

function aloud(reasoning: string | undefined): readonly Speech[] {
  return reasoning === undefined ? [] : [{ text: reasoning, delta: (text) => ({ type: 'reasoning-delta', text }) }];
}

function inForm(form: ReplyForm, text: string, name: string): Speech {
  if (form !== 'tool-call') return { text, delta: (piece) => ({ type: 'text-delta', text: piece }) };
  const delta = (piece: string): ModelPart => ({ type: 'tool-call-delta', index: 0, name, arguments: piece });
  return { text, delta, isTold: true };
}

const CUT = { code: 'stream_cut', message: 'the script says that the connection breaks here' };

function failing(failure: Partial<Failure>, usage: TokenUsage | null | undefined): ModelPart {
  const { stage = 'transport', code = 'scripted_failure', message = 'the script says that this call fails' } = failure;
  const { retryable = true, retryAfterMs = null, status = null, issues = [] } = failure;
  const whole: Failure = { stage, code, message, retryable, retryAfterMs, status, issues };
  return { type: 'failure', failure: whole, ...(usage !== undefined && { usage }) };
}
