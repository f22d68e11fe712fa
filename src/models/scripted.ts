import { PostChainError } from '../../machines/contracts/error.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { ChatModel, FinishReason, ModelPart, ModelRequest, ReplyForm } from '../../machines/contracts/model.ts';
import { TASKS, type Task } from '../../machines/contracts/phase.ts';
import type { PhaseInput } from '../../machines/contracts/phase-io.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { describeValue } from '../internal/describe-value.ts';
import { editDistance } from '../internal/edit-distance.ts';
import { oneLine } from '../internal/printable.ts';
import { requireKnownOptions } from '../internal/require-known.ts';
import { areValid, briefReply } from './brief-reply.ts';

/** How a scripted reply is sent, and how it ends. */
interface Delivery {
  readonly reasoning?: string;
  readonly reason?: FinishReason;
  readonly usage?: TokenUsage | null;
  /** After this many characters of the reply the connection breaks (a retryable `stream_cut`). */
  readonly cut?: number;
  /** The form of the reply, if it differs from the requested one. */
  readonly replyForm?: ReplyForm;
}

type Directive =
  /** Raw text, for example invalid JSON. */
  | ({ readonly text: string } & Delivery)
  /** A reply object with delivery options. */
  | ({ readonly reply: unknown } & Delivery)
  /** A call of the reply's tool, or of the tool `name`. A string is sent as it is, for example invalid JSON. `text` precedes the call. */
  | ({ readonly toolCall: unknown; readonly name?: string; readonly text?: string } & Omit<Delivery, 'replyForm'>)
  /** A failed call, by default a retryable transport failure. */
  | { readonly failure: Partial<Failure>; readonly usage?: TokenUsage | null; readonly reasoning?: string }
  /** Sends `text`, if any, and then nothing until the call is aborted. */
  | { readonly hang: true; readonly text?: string; readonly reasoning?: string };

/**
 * The reply to one call: a directive, or any other object, which is the reply itself. If the request asks for a tool call, a reply or
 * `text` is sent as the arguments of one call, so that a script works for every reply form.
 */
export type ScriptedReply = Directive | Readonly<Record<string, unknown>>;

/** A reply, or a function that returns it. */
export type ScriptEntry = ScriptedReply | ((request: ModelRequest) => ScriptedReply);

const DIRECTIVE_KEYS = [
  'text',
  'reply',
  'toolCall',
  'failure',
  'hang',
  'reasoning',
  'reason',
  'usage',
  'cut',
  'replyForm',
];

/** A directive has one of the five leading keys, and no other keys than a directive's. */
function isDirective(reply: ScriptedReply): reply is Directive {
  const { text, failure, hang }: Readonly<Record<string, unknown>> = { ...reply };
  const isFailure = typeof failure === 'object' && failure !== null;
  const leads = typeof text === 'string' || isFailure || hang === true || 'reply' in reply || 'toolCall' in reply;
  const isKnown = (key: string): boolean => DIRECTIVE_KEYS.includes(key) || (key === 'name' && 'toolCall' in reply);
  return leads && Object.keys(reply).every(isKnown);
}

/** The replies to the calls of a task, in order, or one for all of them. */
type Entries = Always | readonly (ScriptEntry | Always)[];

/** A value per task: one of the chain's, or any other. */
type PerTask<Value> = { readonly [T in Task]?: Value } & { readonly [task: string]: Value | undefined };

/** The replies for each task, or a function of the request and the number of its call (from 1). */
export type Script = PerTask<Entries> | ((request: ModelRequest, call: number) => ScriptedReply | undefined);

export interface ScriptedModel extends ChatModel {
  /** All requests so far, in order, including those without a scripted reply. */
  readonly calls: readonly ModelRequest[];
}

export interface ScriptedModelOptions {
  readonly id?: string;
  /** Default 128,000. */
  readonly contextWindowTokens?: number;
  /** The most tokens of a reply. Default: `contextWindowTokens`. */
  readonly maxOutputTokens?: number;
  /** Media types of the files that the model accepts. Default none. */
  readonly accepts?: readonly string[];
  /** Whether capabilities are offered as native tools, for a `toolCall` by name. Default false. */
  readonly nativeTools?: boolean;
  /** Characters per delta. Default 16. */
  readonly chunkChars?: number;
  /** The replies for tasks that are not in the script, for example `replies` of postchain/testing. */
  readonly otherwise?: PerTask<unknown>;
  /** The usage of replies without their own. Default null: not reported. */
  readonly usage?: TokenUsage | null;
}

class Always {
  readonly entry: ScriptEntry;

  constructor(entry: ScriptEntry) {
    this.entry = entry;
  }
}

/** Repeats an entry for every further call of the task. */
export function always(entry: ScriptEntry): Always {
  return new Always(entry);
}

/**
 * Returns a model that sends scripted replies, for tests. It uses no timer and no randomness, so its runs are reproducible.
 *
 * A call for a brief reply gets one that stands for the next reply of each of its phases.
 *
 * Unlike other models it throws, from the iterator, for a call without a scripted reply: PostChainError `unscripted_call`. That is a
 * mistake in the test, not a failure of a model.
 *
 * @example
 * scriptedModel({ action: [{ response: 'Hi', confidence: 1, calls: [] }], yield: [{ text: 'not JSON' }, always(goodReply)] });
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const known = 'id contextWindowTokens maxOutputTokens accepts nativeTools chunkChars otherwise usage';
  requireKnownOptions('scriptedModel', options, known);
  const calls: ModelRequest[] = [];
  const counts = new Map<string, number>();
  const chunkChars = options.chunkChars ?? 16;
  if (!Number.isSafeInteger(chunkChars) || chunkChars < 1)
    throw new PostChainError(
      'invalid_option',
      `chunkChars: expected an integer of at least 1; received ${chunkChars}.`,
    );
  requireValidScript(script, options.otherwise);
  return {
    id: options.id ?? 'scripted',
    contextWindowTokens: options.contextWindowTokens ?? 128_000,
    maxOutputTokens: options.maxOutputTokens,
    accepts: options.accepts ?? [],
    nativeTools: options.nativeTools ?? false,
    calls,
    stream(request, { signal }) {
      calls.push(request);
      const numbered = (task: string): (() => ScriptedReply) => {
        const call = (counts.get(task) ?? 0) + 1;
        counts.set(task, call);
        return () => replyTo(script, { ...request, task }, call, options);
      };
      const own = numbered(request.task);
      return send(
        () => {
          const reply = withParts(own(), request, (phase) => numbered(phase)());
          return transmissionOf(reply, request, options.usage ?? null);
        },
        chunkChars,
        signal,
      );
    },
  };
}

/** Rejects a reply that is not in a list, and a misspelled task. With `otherwise`, all unknown tasks are: their calls would get its replies. */
function requireValidScript(script: Script, otherwise: ScriptedModelOptions['otherwise']): void {
  const tasks = [...new Set([...TASKS, 'grading', ...Object.keys(otherwise ?? {})])];
  for (const [task, entries] of typeof script === 'function' ? [] : Object.entries(script)) {
    if (entries !== undefined && !Array.isArray(entries) && !(entries instanceof Always))
      throw new PostChainError(
        'invalid_option',
        `script.${task}: expected a list of replies, or always(reply); received ${describeValue(entries)}.`,
      );
    if (
      !tasks.includes(task) &&
      (otherwise || tasks.some((known) => editDistance(task, known, MAX_TYPOS) <= MAX_TYPOS))
    )
      throw new PostChainError(
        'invalid_option',
        `script.${task}: unknown task; expected one of ${tasks.join(', ')} (tasks of the chain and of "otherwise").`,
      );
  }
}

/** An unknown task with at most this edit distance from one of the chain is misspelled. */
const MAX_TYPOS = 2;

/** Matches the correction prompt after an invalid reply. */
const CORRECTION = /^That reply is invalid:\n(.*)\nReply again/su;

function replyTo(
  script: Script,
  request: ModelRequest,
  call: number,
  { otherwise = {} }: ScriptedModelOptions,
): ScriptedReply {
  const { task } = request;
  const entries = typeof script === 'function' ? undefined : ownValue(script, task);
  const entry = typeof script === 'function' ? script(request, call) : entryAt(entries, call);
  if (entry !== undefined) return typeof entry === 'function' ? entry(request) : entry;
  const reply = ownValue(otherwise, task);
  if (typeof script !== 'function' && entries === undefined && reply !== undefined) return { reply };
  const [, problem] = CORRECTION.exec(request.turns.at(-1)?.content ?? '') ?? [];
  const invalid = problem === undefined ? '' : ` The previous reply was invalid: ${oneLine(problem)}`;
  throw new PostChainError(
    'unscripted_call',
    `scriptedModel: call ${call} of the task "${task}" has no reply; add one to the script, or use ${task}: always(reply).${invalid}`,
  );
}

/**
 * Returns the reply to a call. For a brief reply, this is the scripted one, or one that stands for the next reply of each phase. If the
 * first phase's reply is text or a failure, it is the whole reply. If a phase's reply is invalid, so is the whole reply.
 */
function withParts(
  first: ScriptedReply,
  { task, phases = [], input }: ModelRequest,
  replyOf: (phase: string) => ScriptedReply,
): ScriptedReply {
  const own = replyIn(first);
  if (phases.length === 0 || own === undefined || Object.hasOwn(own, 'enough')) return first;
  const others = phases.filter((phase) => phase !== task);
  const parts = [[task, own], ...others.map((phase) => [phase, replyIn(replyOf(phase))])];
  const given = Object.fromEntries(parts.filter(([, part]) => part !== undefined));
  const reply = areValid(given) ? briefReply(given, input as PhaseInput) : given;
  return isDirective(first) ? { ...first, reply } : { reply };
}

/** Returns the object that a scripted reply sends; undefined if it is text or a failure. */
function replyIn(scripted: ScriptedReply): object | undefined {
  if (!isDirective(scripted)) return scripted;
  return 'reply' in scripted ? Object(scripted.reply) : undefined;
}

/** A task may have the name of a member of Object.prototype. */
function ownValue<Value>(perTask: PerTask<Value>, task: string): Value | undefined {
  return Object.hasOwn(perTask, task) ? perTask[task] : undefined;
}

function entryAt(entries: Entries | undefined, call: number): ScriptEntry | undefined {
  if (entries instanceof Always) return entries.entry;
  const index = entries?.findIndex((entry) => entry instanceof Always) ?? -1;
  const entry = entries?.[index === -1 ? call - 1 : Math.min(call - 1, index)];
  return entry instanceof Always ? entry.entry : entry;
}

async function* send(
  transmission: () => Transmission,
  chunkChars: number,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  const { segments, hangs, last } = transmission();
  for (const { text, delta, sendsEmpty = false } of segments) {
    if (text === '' && sendsEmpty && !signal.aborted) yield delta('');
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

/** Text that is sent in deltas of one kind. */
interface Segment {
  readonly text: string;
  readonly delta: (piece: string) => ModelPart;
  /** Whether an empty text is sent as one delta. */
  readonly sendsEmpty?: boolean;
}

interface Transmission {
  readonly segments: readonly Segment[];
  readonly hangs: boolean;
  readonly last: ModelPart;
}

/** `usage` is that of a reply without its own. */
function transmissionOf(scripted: ScriptedReply, request: ModelRequest, usage: TokenUsage | null): Transmission {
  const directive: Directive = isDirective(scripted) ? scripted : { reply: scripted };
  const { reasoning } = directive;
  const before: Segment[] =
    reasoning === undefined ? [] : [{ text: reasoning, delta: (text) => ({ type: 'reasoning-delta', text }) }];
  if ('failure' in directive)
    return { segments: before, hangs: false, last: failurePart(directive.failure, directive.usage) };
  if ('hang' in directive) {
    const { text } = directive;
    const sent = text === undefined ? [] : [segment(request.replyForm, text, request.schemaName)];
    return { segments: [...before, ...sent], hangs: true, last: { type: 'finish', reason: 'stop', usage } };
  }
  const { form, preamble, text, name = request.schemaName } = messageOf(directive, request);
  const segments = [...before, ...preamble, segment(form, text.slice(0, directive.cut), name)];
  if (directive.cut !== undefined) return { segments, hangs: false, last: failurePart(CUT, directive.usage) };
  const reason = directive.reason ?? (form === 'tool-call' ? 'tool-calls' : 'stop');
  const ownUsage = directive.usage === undefined ? usage : directive.usage;
  return { segments, hangs: false, last: { type: 'finish', reason, usage: ownUsage } };
}

interface ScriptedMessage {
  readonly form: ModelRequest['replyForm'];
  readonly preamble: readonly Segment[];
  readonly text: string;
  readonly name?: string | undefined;
}

function messageOf(
  directive: Exclude<Directive, { failure: unknown } | { hang: true }>,
  request: ModelRequest,
): ScriptedMessage {
  if ('toolCall' in directive) {
    const { toolCall, name, text: before } = directive;
    const preamble = before === undefined ? [] : [segment('text', before, '')];
    return { form: 'tool-call', preamble, text: typeof toolCall === 'string' ? toolCall : jsonOf(toolCall), name };
  }
  const text = 'text' in directive ? directive.text : replyText(directive.reply, request);
  return { form: directive.replyForm ?? request.replyForm, preamble: [], text };
}

function replyText(reply: unknown, request: ModelRequest): string {
  return request.replyForm === 'prose' && typeof reply === 'string' ? reply : jsonOf(wrapped(reply, request));
}

/** A value that is not an object is requested, and therefore sent, as the only property of an object. */
function wrapped(reply: unknown, { outputSchema }: ModelRequest): unknown {
  const { properties = {} } = outputSchema as { properties?: object };
  const [only, ...others] = Object.keys(properties);
  const isScalar = typeof reply !== 'object' || reply === null;
  return isScalar && only !== undefined && others.length === 0 ? { [only]: reply } : reply;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

function segment(form: ModelRequest['replyForm'], text: string, name: string): Segment {
  if (form !== 'tool-call') return { text, delta: (piece) => ({ type: 'text-delta', text: piece }) };
  const delta = (piece: string): ModelPart => ({ type: 'tool-call-delta', index: 0, name, arguments: piece });
  return { text, delta, sendsEmpty: true };
}

const CUT = { code: 'stream_cut', message: 'the script breaks the connection here' };

function failurePart(failure: Partial<Failure>, usage: TokenUsage | null | undefined): ModelPart {
  const { stage = 'transport', code = 'scripted_failure', message = 'the script fails this call' } = failure;
  const { retryable = true, retryAfterMs = null, status = null, issues = [] } = failure;
  const complete: Failure = { stage, code, message, retryable, retryAfterMs, status, issues };
  return { type: 'failure', failure: complete, ...(usage !== undefined && { usage }) };
}
