import type OpenAI from 'openai';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { linkSignals } from '../../internal/async.ts';
import { BracketBalance } from '../../internal/json-text.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { chatReader } from './chat-chunk.ts';
import { lazyClient } from './client.ts';
import { countTokens, encodingOf } from './count-tokens.ts';
import { failure, failureOf, toolCallFailure } from './failures.ts';
import { negotiateDialect } from './negotiation.ts';
import { type OpenAIModelOptions, type OpenAISettings, openaiSettings } from './options.ts';
import { END_GRACE_MS, type ReplyBody } from './reply-body.ts';
import { MAX_CALLS, type ReplyChunk, type ReplyReader, type ToolCallEntry } from './reply-chunk.ts';
import { type ToolNames, toolNames } from './request-body.ts';
import { responsesReader } from './response-event.ts';

type ToolCallDelta = Extract<ModelPart, { type: 'tool-call-delta' }>;

/** One entry of `tool_calls`, with arguments as text: a few servers send them parsed. */
interface Entry {
  readonly at: number | null;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** `at` and `id` are the server's. `buffered` are arguments received before the name. `changesId`: each delta has a new id. */
interface Call {
  readonly index: number;
  readonly at: number | null;
  readonly extent: JsonExtent;
  id: string;
  name: string;
  buffered: string;
  changesId: boolean;
}

/**
 * Assembles the tool calls of one reply. Servers differ: the index may be missing (Mistral) or the same for every call (vLLM, SGLang,
 * Gemini); the id may be missing, empty or new in every delta (older vLLM); the name may come once, repeatedly or be empty.
 */
class ToolCalls {
  readonly #names: Pick<ToolNames, 'nameOf'>;
  readonly #calls: Call[] = [];

  constructor(names: Pick<ToolNames, 'nameOf'>) {
    this.#names = names;
  }

  /** A call is reported once its name is known. */
  read(entries: readonly (ToolCallEntry | null)[]): ToolCallDelta[] {
    return entries.flatMap((entry) => (entry === null ? [] : this.#readOne(this.#entryOf(entry))));
  }

  /** Returns the arguments of calls that never got a name. */
  rest(): ToolCallDelta[] {
    return this.#calls.filter(({ name }) => name === '').map((call) => delta(call, call.buffered));
  }

  #readOne(entry: Entry): ToolCallDelta[] {
    // Each delta searches all calls.
    if (this.#calls.length > MAX_CALLS) return [];
    const known = this.#find(entry);
    const isKnown = known !== undefined && continues(known, entry);
    if (!isKnown && entry.id + entry.name + entry.text === '') return [];
    const call = isKnown ? known : this.#begin(entry);
    const isNew = call !== known || call.name === '';
    call.changesId ||= entry.id !== '' && call.id !== '' && entry.id !== call.id;
    call.id ||= entry.id;
    call.name ||= entry.name;
    call.extent.add(entry.text);
    call.buffered += entry.text;
    if (call.name === '' || (call.buffered === '' && !isNew)) return [];
    const text = call.buffered;
    call.buffered = '';
    return [delta(call, text)];
  }

  /** Finds a call by its id if known, otherwise by the server's index, otherwise the last one. */
  #find({ at, id }: Entry): Call | undefined {
    const isHere = (call: Call): boolean => at === null || call.at === null || call.at === at;
    const byId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id && isHere(call));
    return byId ?? (at === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.at === at));
  }

  #entryOf({ index, id, function: called }: ToolCallEntry): Entry {
    const { name, arguments: args } = called;
    const text = typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args);
    return { at: index ?? null, id, name: this.#names.nameOf(name), text };
  }

  #begin({ at }: Entry): Call {
    const index = this.#calls.length;
    const call = { index, at, extent: new JsonExtent(), id: '', name: '', buffered: '', changesId: false };
    this.#calls.push(call);
    return call;
  }
}

/** Whether an entry continues this call. A new id starts a new call, unless this call's JSON is incomplete. */
function continues(call: Call, { id, name, text }: Entry): boolean {
  if (id !== '' && id === call.id) return true;
  if (name !== '' && call.name !== '' && name !== call.name) return false;
  const isOtherId = id !== '' && call.id !== '';
  if (call.extent.state === 'open') return true;
  if (call.extent.state === 'none') return !isOtherId || name === '';
  const isBlank = text.trim() === '';
  return isOtherId ? call.changesId && isBlank : name === '' || isBlank;
}

function delta({ index, id, name }: Call, text: string): ToolCallDelta {
  return { type: 'tool-call-delta', index, ...(id !== '' && { id }), name, arguments: text };
}

/** Tracks whether JSON text that arrives in pieces is complete. */
class JsonExtent {
  readonly #brackets = new BracketBalance();
  #hasStarted = false;

  /** `none`: only white space so far. `open`: a string, object or array is not closed yet. */
  get state(): 'none' | 'open' | 'closed' {
    if (!this.#hasStarted) return 'none';
    return this.#brackets.isOpen ? 'open' : 'closed';
  }

  add(text: string): void {
    this.#brackets.add(text);
    this.#hasStarted ||= text.trim() !== '';
  }
}

/** Whether a value is an event of the Responses API, or a whole response. A chat completion has no `type`. */
function isResponseEvent(value: unknown): boolean {
  const { type, object } = (value ?? {}) as { type?: unknown; object?: unknown };
  return object === 'response' || (typeof type === 'string' && /^(response\.|error$)/u.test(type));
}

export interface OpenAIModel extends ChatModel {
  /** Checks before a run, at no cost, whether the server rejects the key. Resolves to a failure for 401 and 403, otherwise null. */
  checkKey(options: { readonly signal: AbortSignal }): Promise<Failure | null>;
  /**
   * Counts tokens with OpenAI's encoding for this model, or its newest encoding for other vendors' models, which is more accurate than
   * four characters per token. Requires the package `gpt-tokenizer`. To use another tokenizer: `{ ...openaiModel(options), countTokens }`.
   */
  countTokens(texts: readonly string[]): Promise<readonly number[]>;
}

/**
 * Returns a model for OpenAI's chat completions API or its Responses API (`api`): OpenAI, or any compatible server (Ollama, llama.cpp,
 * vLLM, OpenRouter …).
 *
 * 1. Any error becomes the last part of the stream, a `failure`. No message contains the key.
 * 2. One `stream` is one attempt without retries. Only if the server rejects a feature (JSON schema, a forced tool call, tools in addition
 *    to a reply, usage, chat completions for this model), the request is repeated without it, and that is remembered.
 * 3. An abort, a `break` and the end of the stream close the connection and leave no listener on the caller's signal.
 *
 * @throws PostChainError `invalid_key` or `invalid_option`
 * @example
 * const model = openaiModel({ model: 'gpt-4o-mini' });
 * const reasoning = openaiModel({ model: 'gpt-5-mini', api: 'responses', reasoningEffort: 'low' });
 * const local = openaiModel({ model: 'llama3.2', baseURL: 'http://localhost:11434/v1', contextWindowTokens: 8_192 });
 */
export function openaiModel(options: OpenAIModelOptions): OpenAIModel {
  const settings = openaiSettings(options);
  const client = lazyClient(settings);
  const send = negotiateDialect(settings, client);

  return {
    id: `openai:${settings.model}`,
    contextWindowTokens: settings.contextWindowTokens,
    maxOutputTokens: settings.maxOutputTokens,
    accepts: settings.accepts,
    nativeTools: settings.nativeTools,
    checkKey: ({ signal }) => checkKey(settings, client, signal),
    countTokens: (texts) => countTokens(texts, encodingOf(settings.model)),
    async *stream(request, { signal: caller }): AsyncGenerator<ModelPart, void> {
      if (caller.aborted) return;
      // The openai client and `fetch` never remove their listeners, so they must not get the caller's signal.
      const { signal, abort, forget } = linkSignals(caller);
      const failureIn = (thrown: unknown): Failure => {
        const failure = failureOf(thrown, settings);
        return request.replyForm === 'tool-call' ? toolCallFailure(failure) : failure;
      };
      try {
        for await (const part of replyParts(await send(request, signal), toolNames(request), failureIn)) {
          // A body may end on an abort as if it were complete.
          if (caller.aborted) return;
          yield part;
        }
      } catch (thrown) {
        if (!caller.aborted) yield { type: 'failure', failure: failureIn(thrown) };
      } finally {
        forget();
        abort();
      }
    },
  };
}

/**
 * Requests the model's description, which is free, and returns a failure if the server rejects the key (401, 403). Returns null otherwise,
 * because nothing else is evidence against the key: a server without this endpoint, a missing network, an abort, or a restricted key that
 * may not list models.
 */
async function checkKey(
  settings: OpenAISettings,
  client: () => Promise<OpenAI>,
  caller: AbortSignal,
): Promise<Failure | null> {
  const { signal, abort, forget } = linkSignals(caller);
  try {
    await (await client()).models.retrieve(settings.model, { signal });
    return null;
  } catch (thrown) {
    const failure = failureOf(thrown, settings);
    const restricted = /missing scopes|insufficient permissions/iu.test(failure.message);
    return failure.code === 'unauthorized' && !restricted ? failure : null;
  } finally {
    forget();
    abort();
  }
}

/** Each value decides which API it is from: some gateways translate a request to the other API. */
function replyReader(): ReplyReader {
  const readers = { chat: chatReader(), responses: responsesReader() };
  return (value) => (isResponseEvent(value) ? readers.responses : readers.chat)(value);
}

/** The state of a reply. `usageAt`: the first chunk with usage, counted from 1. `hasContent`: it had text, reasoning or a tool call. */
interface Progress {
  readonly calls: ToolCalls;
  count: number;
  usageAt: number;
  hasContent: boolean;
  refusal: string;
  reason: FinishReason | null;
  usage: TokenUsage | null;
}

/** How long a reply with a finish reason waits for its usage, or for more text: some servers send a finish reason with every chunk. */
const USAGE_GRACE_MS = 500;

/**
 * Converts chunks to model parts: deltas, then one `finish` or `failure`. A finish reason or `[DONE]` makes a reply whole: an error after
 * it is ignored, and the connection need not end. Tool calls have the original names of their tools.
 */
async function* replyParts(
  body: ReplyBody,
  names: Pick<ToolNames, 'nameOf'>,
  failureOf: (thrown: unknown) => Failure,
): AsyncGenerator<ModelPart, void> {
  const read = replyReader();
  const calls = new ToolCalls(names);
  const progress: Progress = { calls, count: 0, usageAt: 0, hasContent: false, refusal: '', reason: null, usage: null };
  try {
    for await (const data of body) {
      const { reason, usage } = progress;
      const parts = deltas(read(data), progress);
      yield* parts;
      const isNews = parts.length > 0 || reason === null || usage === null;
      if (progress.reason !== null && isNews) body.endWithin(progress.usage === null ? USAGE_GRACE_MS : END_GRACE_MS);
    }
  } catch (thrown) {
    if (progress.reason === null) {
      yield failed(failureOf(thrown), progress);
      return;
    }
  }
  yield* progress.calls.rest();
  yield lastPart(progress, body.isWhole);
}

/** A refusal is quoted only in part. */
const MAX_REFUSAL_CHARS = 10_000;

function deltas({ content, reason, usage, error }: ReplyChunk, progress: Progress): readonly ModelPart[] {
  progress.count += 1;
  progress.usage = usage ?? progress.usage;
  if (progress.usage !== null) progress.usageAt ||= progress.count;
  if (error !== null) throw error;
  progress.reason = reason ?? progress.reason;
  if (content === null) return [];
  const { text, reasoning, refusal, calls } = content;
  if (progress.refusal.length < MAX_REFUSAL_CHARS) progress.refusal += refusal;
  const parts: ModelPart[] = [
    ...(reasoning === '' ? [] : [{ type: 'reasoning-delta', text: reasoning } as const]),
    ...(text === '' ? [] : [{ type: 'text-delta', text } as const]),
    ...progress.calls.read(calls),
  ];
  progress.hasContent ||= parts.length > 0;
  return parts;
}

/** `isMarked`: the body marked its end. Usage that comes with the last of several chunks is such a mark, too. */
function lastPart(progress: Progress, isMarked: boolean): ModelPart {
  const { count, usageAt, hasContent, refusal, usage } = progress;
  const isWhole = isMarked || (count > 1 && usageAt === count);
  if (count === 0) {
    const message = 'the reply contains no data; check that the base URL is that of an OpenAI-compatible API';
    return failed(failure('garbled_reply', message, { retryable: true }), progress);
  }
  const reason = progress.reason ?? (isWhole && (hasContent || refusal !== '') ? 'other' : null);
  if (reason === null) {
    const message = 'the reply ended before it was complete';
    return failed(failure('stream_cut', message, { retryable: true }), progress);
  }
  if (refusal === '') return { type: 'finish', reason, usage };
  return failed(
    failure('refused', `the model refused: ${redactSecrets(refusal, [])}`, { stage: 'refinement' }),
    progress,
  );
}

function failed(failure: Failure, { usage }: Progress): ModelPart {
  return { type: 'failure', failure, ...(usage !== null && { usage }) };
}
