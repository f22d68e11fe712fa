import type { TokenUsage } from '../../machines/contracts/budget.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../machines/contracts/model.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import type { ScriptEntry, ScriptedReply } from './scripted-reply.ts';
import { type Scene, sceneOf } from './scripted-scene.ts';

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
