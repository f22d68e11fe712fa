import { PostChainError } from '../../machines/contracts/error.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { ChatModel, FinishReason, ModelPart, ModelRequest, ReplyForm } from '../../machines/contracts/model.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';

/**
 * What any scripted reply may have beside. `reasoning`: thought aloud before all else. `cut`: after that many characters of the
 * reply the connection breaks (a retryable `stream_cut`). `replyForm`: the form that the model answers in, whatever was asked for.
 */
interface Ending {
  readonly reasoning?: string;
  readonly reason?: FinishReason;
  readonly usage?: TokenUsage | null;
  readonly cut?: number;
  readonly replyForm?: ReplyForm;
}

type Directive =
  /** Raw text, say broken JSON. */
  | ({ readonly text: string } & Ending)
  /** A reply object, with an ending of its own. */
  | ({ readonly reply: unknown } & Ending)
  /** A call of the tool asked for, or of another by `name`, one offered beside the reply say; text is sent as it is, say broken JSON. `text`: said before the call. */
  | ({ readonly toolCall: unknown; readonly name?: string; readonly text?: string } & Omit<Ending, 'replyForm'>)
  /** A failed call; what is left out is a retryable failure of transport. `usage`: what it cost all the same. */
  | { readonly failure: Partial<Failure>; readonly usage?: TokenUsage | null; readonly reasoning?: string }
  /** Says `text`, if any, and then nothing until the call is aborted. */
  | { readonly hang: true; readonly text?: string; readonly reasoning?: string };

/**
 * What one call gives: a directive, or any other object, which is the reply itself. Where the request wants a tool call, a reply
 * and a `text` are the arguments of one call of its tool, so the same script does for both forms.
 */
type ScriptedReply = Directive | Readonly<Record<string, unknown>>;

/** A reply, or one made from the request. */
type ScriptEntry = ScriptedReply | ((request: ModelRequest) => ScriptedReply);

const WORDS = ['text', 'reply', 'toolCall', 'failure', 'hang', 'reasoning', 'reason', 'usage', 'cut', 'replyForm'];

/** A directive has one of the five leading words and no word that is not a directive's. */
function isDirective(reply: ScriptedReply): reply is Directive {
  const { text, failure, hang }: Readonly<Record<string, unknown>> = { ...reply };
  const isFailing = typeof failure === 'object' && failure !== null;
  const leads = typeof text === 'string' || isFailing || hang === true || 'reply' in reply || 'toolCall' in reply;
  return leads && Object.keys(reply).every((word) => WORDS.includes(word) || (word === 'name' && 'toolCall' in reply));
}

export type { ScriptEntry, ScriptedReply };

/** What the calls of a task give: one entry always, or entries in order. */
type Entries = Always | readonly (ScriptEntry | Always)[];

/** Something for each task: the chain's eight, or one of your own. */
type PerTask<Value> = { readonly [T in Task]?: Value } & { readonly [task: string]: Value | undefined };

/** For each task what its calls give, in order; or one function of the request and the number of its call (from 1). */
export type Script = PerTask<Entries> | ((request: ModelRequest, call: number) => ScriptedReply | undefined);

export interface ScriptedModel extends ChatModel {
  /** Every request so far, in order; unscripted ones too. */
  readonly calls: readonly ModelRequest[];
}

export interface ScriptedModelOptions {
  readonly id?: string;
  /** Default 128,000. */
  readonly contextWindowTokens?: number;
  /** Whether it is given capabilities as tools, for a `toolCall` by name. Default false: they are told in words. */
  readonly nativeTools?: boolean;
  /** Characters in a delta. Default 16. */
  readonly chunkChars?: number;
  /** What a task that the script leaves out says, every time: say `replies` of postchain/testing. */
  readonly otherwise?: PerTask<unknown>;
  /** What replies that say nothing else cost. Default null, as from a server that does not tell. */
  readonly usage?: TokenUsage | null;
}

class Always {
  readonly entry: ScriptEntry;

  constructor(entry: ScriptEntry) {
    this.entry = entry;
  }
}

/** This entry for every further call of the task. */
export function always(entry: ScriptEntry): Always {
  return new Always(entry);
}

/**
 * A model that says what it is told to: for tests, yours and ours. It has no timer and no randomness, so a run over it is the
 * same each time.
 *
 * One exception to the port's failure contract: a call that nothing is scripted for gives no part and **throws** PostChainError
 * `unscripted_call` from the iterator, because that is a mistake in the test and no failure of a model.
 *
 * @example
 * scriptedModel({ action: [{ response: 'Hi', confidence: 1, call: null }], yield: [{ text: 'no JSON' }, always(goodReply)] });
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const calls: ModelRequest[] = [];
  const counts = new Map<string, number>();
  const chunkChars = options.chunkChars ?? 16;
  if (!Number.isSafeInteger(chunkChars) || chunkChars < 1) {
    throw new PostChainError('invalid_option', `chunkChars: got ${chunkChars}; give a whole number, at least 1`);
  }
  return {
    id: options.id ?? 'scripted',
    contextWindowTokens: options.contextWindowTokens ?? 128_000,
    nativeTools: options.nativeTools ?? false,
    calls,
    stream(request, { signal }) {
      calls.push(request);
      const call = (counts.get(request.task) ?? 0) + 1;
      counts.set(request.task, call);
      return play(
        () => sceneOf(replyTo(script, request, call, options), request, options.usage ?? null),
        chunkChars,
        signal,
      );
    },
  };
}

function replyTo(
  script: Script,
  request: ModelRequest,
  call: number,
  { otherwise = {} }: ScriptedModelOptions,
): ScriptedReply {
  const { task } = request;
  const entries = typeof script === 'function' ? undefined : own(script, task);
  const entry = typeof script === 'function' ? script(request, call) : entryAt(entries, call);
  if (entry !== undefined) return typeof entry === 'function' ? entry(request) : entry;
  const reply = own(otherwise, task);
  if (typeof script !== 'function' && entries === undefined && reply !== undefined) return { reply };
  const todo = `script it, say scriptedModel({ ${task}: [/* ${call} replies */] }) or ${task}: always(reply)`;
  throw new PostChainError(
    'unscripted_call',
    `scriptedModel: got call ${call} of '${task}', which has no reply; ${todo}`,
  );
}

/** Not what every object has: a task may have any name. */
function own<Value>(perTask: PerTask<Value>, task: string): Value | undefined {
  return Object.hasOwn(perTask, task) ? perTask[task] : undefined;
}

function entryAt(entries: Entries | undefined, call: number): ScriptEntry | undefined {
  if (entries instanceof Always) return entries.entry;
  const index = entries?.findIndex((entry) => entry instanceof Always) ?? -1;
  const entry = entries?.[index === -1 ? call - 1 : Math.min(call - 1, index)];
  return entry instanceof Always ? entry.entry : entry;
}

async function* play(
  sceneOfCall: () => Scene,
  chunkChars: number,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  const { speeches, hangs, last } = sceneOfCall();
  for (const { text, delta, isTold = false } of speeches) {
    if (text === '' && isTold && !signal.aborted) yield delta('');
    for (let at = 0; at < text.length && !signal.aborted; at += chunkChars)
      yield delta(text.slice(at, at + chunkChars));
  }
  if (hangs) await untilAborted(signal);
  if (!signal.aborted) yield last;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** What is said in deltas, a piece of `text` in each. */
interface Speech {
  readonly text: string;
  readonly delta: (text: string) => ModelPart;
  /** Whether even an empty text is told, by one delta. */
  readonly isTold?: boolean;
}

/** One call, played out: what is said, then silence, a failure or the finish. */
interface Scene {
  readonly speeches: readonly Speech[];
  readonly hangs: boolean;
  readonly last: ModelPart;
}

/** What a reply comes to, for this request. `usage` is what a reply that says nothing of it costs. */
function sceneOf(scripted: ScriptedReply, request: ModelRequest, usage: TokenUsage | null): Scene {
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
