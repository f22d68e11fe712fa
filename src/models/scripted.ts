import type { TokenUsage } from '../../machines/contracts/budget.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { ChatModel, FinishReason, ModelPart, ModelRequest } from '../../machines/contracts/model.ts';
import type { Task } from '../../machines/contracts/phase.ts';

/** How a scripted reply ends. `cut`: after that many characters the connection breaks (a retryable `stream_cut`). */
interface Ending {
  readonly reason?: FinishReason;
  readonly usage?: TokenUsage | null;
  readonly cut?: number;
}

type Directive =
  /** Raw text, say broken JSON. */
  | ({ readonly text: string } & Ending)
  /** A reply object, with an ending of its own. */
  | ({ readonly reply: unknown } & Ending)
  /** A failed call; what is left out is a retryable failure of transport. */
  | { readonly failure: Partial<Failure> }
  /** Says `text`, if any, and then nothing until the call is aborted. */
  | { readonly hang: true; readonly text?: string };

/** What one call gives: a directive, or any other object, which is the reply itself. */
export type ScriptedReply = Directive | Readonly<Record<string, unknown>>;

/** A reply, or one made from the request. */
export type ScriptEntry = ScriptedReply | ((request: ModelRequest) => ScriptedReply);

/** For each task what its calls give, in order; or one function of the request and the number of its call (from 1). */
export type Script =
  | { readonly [T in Task]?: Always | readonly (ScriptEntry | Always)[] }
  | ((request: ModelRequest, call: number) => ScriptedReply | undefined);

export interface ScriptedModel extends ChatModel {
  /** Every request so far, in order; unscripted ones too. */
  readonly calls: readonly ModelRequest[];
}

export interface ScriptedModelOptions {
  readonly id?: string;
  /** Default 128,000. */
  readonly contextWindowTokens?: number;
  /** Characters in a delta. Default 16. */
  readonly chunkChars?: number;
  /** What a task that the script leaves out says, every time: say `replies` of postchain/testing. */
  readonly otherwise?: { readonly [T in Task]?: unknown };
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
  const counts = new Map<Task, number>();
  const chunkChars = options.chunkChars ?? 16;
  if (!Number.isSafeInteger(chunkChars) || chunkChars < 1) {
    throw new PostChainError('invalid_option', `chunkChars: got ${chunkChars}; give a whole number, at least 1`);
  }
  return {
    id: options.id ?? 'scripted',
    contextWindowTokens: options.contextWindowTokens ?? 128_000,
    calls,
    stream(request, { signal }) {
      calls.push(request);
      const call = (counts.get(request.task) ?? 0) + 1;
      counts.set(request.task, call);
      return play(() => sceneOf(replyTo(script, request, call, options), options.usage ?? null), chunkChars, signal);
    },
  };
}

function replyTo(
  script: Script,
  request: ModelRequest,
  call: number,
  { otherwise = {} }: ScriptedModelOptions,
): ScriptedReply {
  const entry = typeof script === 'function' ? script(request, call) : entryAt(script[request.task], call);
  if (entry !== undefined) return typeof entry === 'function' ? entry(request) : entry;
  const { task } = request;
  const scripted = typeof script === 'function' || script[task] !== undefined;
  if (!scripted && otherwise[task] !== undefined) return { reply: otherwise[task] };
  const todo = `script it, say scriptedModel({ ${task}: [/* ${call} replies */] }) or ${task}: always(reply)`;
  throw new PostChainError(
    'unscripted_call',
    `scriptedModel: got call ${call} of '${task}', which has no reply; ${todo}`,
  );
}

function entryAt(
  entries: Always | readonly (ScriptEntry | Always)[] | undefined,
  call: number,
): ScriptEntry | undefined {
  if (entries instanceof Always) return entries.entry;
  const index = entries?.findIndex((entry) => entry instanceof Always) ?? -1;
  const entry = entries?.[index === -1 ? call - 1 : Math.min(call - 1, index)];
  return entry instanceof Always ? entry.entry : entry;
}

/** One call, played out: the text, then silence, a failure or the finish. */
interface Scene {
  readonly text: string;
  readonly hangs: boolean;
  readonly last: ModelPart;
}

async function* play(
  sceneOfCall: () => Scene,
  chunkChars: number,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  const { text, hangs, last } = sceneOfCall();
  for (let at = 0; at < text.length && !signal.aborted; at += chunkChars) {
    yield { type: 'text-delta', text: text.slice(at, at + chunkChars) };
  }
  if (hangs) await untilAborted(signal);
  if (!signal.aborted) yield last;
}

function sceneOf(reply: ScriptedReply, usage: TokenUsage | null): Scene {
  const finish: ModelPart = { type: 'finish', reason: 'stop', usage };
  if (!isDirective(reply)) return { text: JSON.stringify(reply), hangs: false, last: finish };
  if ('failure' in reply) return { text: '', hangs: false, last: failing(reply.failure) };
  if ('hang' in reply) return { text: reply.text ?? '', hangs: true, last: finish };
  const text = 'text' in reply ? reply.text : (JSON.stringify(reply.reply) ?? '');
  if (reply.cut !== undefined) return { text: text.slice(0, reply.cut), hangs: false, last: failing(CUT) };
  const last: ModelPart = {
    ...finish,
    reason: reply.reason ?? 'stop',
    usage: reply.usage === undefined ? usage : reply.usage,
  };
  return { text, hangs: false, last };
}

const CUT = { code: 'stream_cut', message: 'the script says that the connection breaks here' };

function failing(failure: Partial<Failure>): ModelPart {
  const { stage = 'transport', code = 'scripted_failure', message = 'the script says that this call fails' } = failure;
  const { retryable = true, retryAfterMs = null, status = null, issues = [] } = failure;
  return { type: 'failure', failure: { stage, code, message, retryable, retryAfterMs, status, issues } };
}

/** A directive has one of the four leading words and no word that is not a directive's. */
function isDirective(reply: ScriptedReply): reply is Directive {
  const { text, failure, hang }: Readonly<Record<string, unknown>> = { ...reply };
  const leads = typeof text === 'string' || (typeof failure === 'object' && failure !== null) || hang === true;
  const words = ['text', 'reply', 'failure', 'hang', 'reason', 'usage', 'cut'];
  return (leads || 'reply' in reply) && Object.keys(reply).every((word) => words.includes(word));
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
