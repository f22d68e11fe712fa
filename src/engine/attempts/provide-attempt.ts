import { assign, fromCallback } from 'xstate';
import type { ReadReplyInput, ValidateReply, ValidateReplyInput } from '../../../machines/attempt/actors.ts';
import { type attemptMachine, createAttemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { recordFailure } from '../../../machines/attempt/setup.ts';
import type { Reply, ReplyEvent } from '../../../machines/contracts/attempt.ts';
import type { ChatModel, ModelRequest, ReplyForm } from '../../../machines/contracts/model.ts';
import { failureOf, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { NO_HOOKS, type RetryHooks } from '../../../machines/policies/retry-hooks.ts';
import { type ActivityDispatcher, inlineDispatcher, syncOrPromiseActivity } from '../activities.ts';
import type { Clock } from '../clock.ts';
import { type PromptSpec, requestChars, requestOf } from '../prompts/prompt.ts';
import type { OfferedTools } from '../streaming/offered-tools.ts';
import { readStream } from '../streaming/read-stream.ts';

interface JoinedParts extends Omit<ReadReplyParts, 'dispatcher'> {
  readonly dispatcher?: ActivityDispatcher;
  readonly hooks?: RetryHooks;
  /** Guards that record their results for a journal. */
  readonly guards?: Parameters<typeof attemptMachine.provide>[0]['guards'];
}

/** Returns the attempt machine, connected to models and prompts. It runs on its own and in the chain. */
export function provideAttempt({
  hooks = NO_HOOKS,
  guards = {},
  dispatcher = inlineDispatcher,
  ...parts
}: JoinedParts): typeof attemptMachine {
  const actors = {
    readReply: createReadReply({ ...parts, dispatcher }),
    validateReply: createValidateReply(parts.specFor, dispatcher),
  };
  return createAttemptMachine(actors).provide({
    actions: { recordFailure: assign(({ context }) => recordFailure(context, hooks)) },
    guards,
  });
}

/** Returns the actor that validates a reply against the schema of its prompt. */
export function createValidateReply(
  askFor: (task: string) => PromptSpec,
  dispatcher: ActivityDispatcher,
): ValidateReply {
  const validate = ({ task, value }: ValidateReplyInput) => {
    const { shape } = askFor(task);
    return shape.validate(shape.unwrap(value));
  };
  return syncOrPromiseActivity('validateReply', validate, dispatcher);
}

/** A call under way, for those who watch it. `attempt` counts from 1. */
export interface CallInfo {
  readonly attemptId: string;
  readonly task: string;
  readonly attempt: number;
}

/** Who is told of each item of a list as it is complete. */
export interface ItemObserver {
  /** Whether anybody wants to know just now; else `take` is left out. */
  readonly isWanted: boolean;
  /** The list begins; where it began before in this call, what that was is none. */
  begin(call: CallInfo): void;
  take(call: CallInfo, index: number, item: unknown): void;
}

/** Who is told of a call while it goes on. What they throw breaks the call. */
export interface CallObserver {
  readonly onText: (call: CallInfo, text: string) => void;
  /** The value as far as it is there: one object that grows. */
  readonly onPartial: (call: CallInfo, value: unknown) => void;
  /** Where the value is a list. */
  readonly items?: ItemObserver | undefined;
}

/** Nobody: for a bare machine. */
export const noopCallObserver: CallObserver = { onText: () => {}, onPartial: () => {} };

export interface ReadReplyParts {
  /** The first is called; the others are its fallbacks, in order. */
  readonly models: readonly ChatModel[];
  readonly specFor: (task: string) => PromptSpec;
  readonly replyForm: ReplyForm;
  readonly clock: Clock;
  readonly observer: CallObserver;
  readonly dispatcher: ActivityDispatcher;
}

/** Renders what is asked, calls the model once and reads its stream: the `readReply` port of the attempt machine [A2]. */
export function createReadReply(parts: ReadReplyParts) {
  return fromCallback<ReplyEvent, ReadReplyInput>(({ input, sendBack, self }) => {
    let abort = (): void => {};
    const release = parts.dispatcher.dispatch({
      port: 'readReply',
      input,
      isWaiting: () => self.getSnapshot().status === 'active',
      execute: (tell) => {
        abort = readReply(parts, input, tell);
      },
      onEvent: (event) => sendBack(event as ReplyEvent),
    });
    return () => {
      release();
      abort();
    };
  });
}

/** Gives what aborts it. */
function readReply(parts: ReadReplyParts, call: ReadReplyInput, hear: (event: ReplyEvent) => void): () => void {
  const { clock, observer } = parts;
  const controller = new AbortController();
  const openedAtMs = clock.now();
  let over = false;
  let stop = (): void => {};
  const tell = (event: ReplyEvent): void => {
    if (over) return;
    over = event.type === 'reply.ended';
    hear(event);
  };
  const heartbeat = createHeartbeat(call.policy.chunkMs, clock, (type, progress) =>
    tell({ type, openedAtMs, ...progress }),
  );

  async function read(): Promise<void> {
    const { model, ask, request } = callOf(parts, call);
    const { items } = observer;
    const promptChars = requestChars(ask, request);
    const tooLong = await promptTooLong(model, request, promptChars);
    const reply =
      tooLong ??
      (await readStream(() => model.stream(request, { signal: controller.signal }), {
        form: request.replyForm,
        toolName: request.schemaName,
        acceptsList: ask.shape.mayBeList,
        offered: offeredBy(ask, request),
        maxChars: call.policy.maxReplyChars,
        promptChars,
        onStoppable: (given) => {
          stop = given;
        },
        onAlive: () => {
          if (!over) heartbeat.beat(0);
        },
        onText: (text) => {
          if (over) return;
          heartbeat.beat(text.length);
          observer.onText(call, text);
        },
        onBegin: items && (() => over || items.begin(call)),
        onComplete:
          items &&
          ((value, pathNow) => {
            if (over || !items.isWanted) return;
            const index = ask.shape.itemAt(pathNow());
            if (index !== null) items.take(call, index, value);
          }),
        onPartial: (given) => {
          const value = ask.shape.unwrapPartial(given);
          if (!over && value !== undefined) observer.onPartial(call, value);
        },
      }));
    tell({ type: 'reply.ended', openedAtMs, atMs: clock.now(), chars: heartbeat.chars, reply });
  }

  read().catch((error: unknown) =>
    tell({ type: 'reply.ended', openedAtMs, atMs: clock.now(), chars: 0, reply: thrown(error) }),
  );
  return () => {
    // A call that has ended needs no abort, and an abort makes an error with its stack.
    if (!over) {
      controller.abort();
      stop();
    }
    over = true;
  };
}

function callOf({ models, specFor: askFor, replyForm }: ReadReplyParts, call: ReadReplyInput) {
  const model = models[call.model];
  if (model === undefined) throw new TypeError(`There is no model ${call.model}: got ${models.length}.`);
  const ask = askFor(call.task);
  const request: ModelRequest = requestOf(ask, call, replyForm, model.nativeTools === true);
  return { model, ask, request };
}

/** The tools of a request, and how a call of one is read. */
function offeredBy({ fromToolCall }: PromptSpec, { tools }: ModelRequest): OfferedTools | undefined {
  if (tools === undefined || fromToolCall === undefined) return undefined;
  return { names: new Set(tools.map(({ name }) => name)), valueOf: fromToolCall };
}

/** A prompt that cannot fit is not sent: it would cost a call to be told so. Another model may have room for it. */
async function promptTooLong(model: ChatModel, request: ModelRequest, promptChars: number): Promise<Reply | null> {
  const { id, contextWindowTokens } = model;
  if (promptChars / 4 <= contextWindowTokens) return null;
  const counted = await countedTokens(model, request);
  const tokens = counted ?? Math.ceil(promptChars / 4);
  if (tokens <= contextWindowTokens) return null;
  const size = counted === null ? `about ${tokens} tokens (characters / 4)` : `${tokens} tokens`;
  const message = `The prompt has ${size}; ${id} takes ${contextWindowTokens}, reply included; shorten it or take a model with more room.`;
  return unread(failureOf('transport', 'prompt_too_long', message, { retryable: false }));
}

/** By the model's own tokenizer, where it has one that counts. */
async function countedTokens(model: ChatModel, { turns, tools = [] }: ModelRequest): Promise<number | null> {
  try {
    const offered = tools.map((tool) => JSON.stringify(tool));
    const counts = await model.countTokens?.([...turns.map(({ content }) => content), ...offered]);
    const sum = counts?.reduce((all, one) => all + one, 0) ?? Number.NaN;
    return Number.isFinite(sum) && sum > 0 ? sum : null;
  } catch {
    return null;
  }
}

/** A prompt or a observer that throws is a bug: the run goes on to an answer all the same. */
function thrown(error: unknown): Reply {
  const { message } = unexpectedFailure(error);
  return unread(failureOf('unexpected', 'prompt_failed', message, { retryable: false }));
}

function unread(failure: Reply['failure']): Reply {
  return { text: '', value: null, failure, usage: { inputTokens: 0, outputTokens: 0, estimated: true } };
}

/** The count of characters is told again when it has grown by a quarter since, from here on. */
const MIN_TOLD_CHARS = 800;

interface Progress {
  readonly atMs: number;
  readonly chars: number;
}

interface Heartbeat {
  /** Something came, with so many characters of the reply. */
  beat(chars: number): void;
  readonly chars: number;
}

/**
 * Tells the attempt machine that a call is alive: at the first part, then once in an eighth of `chunkMs` while parts come, and now and
 * then as the text grows; never once a part, whatever the cost of an event.
 */
function createHeartbeat(
  chunkMs: number,
  clock: Clock,
  tell: (type: 'reply.started' | 'reply.progressed', progress: Progress) => void,
): Heartbeat {
  let seenAtMs: number | null = null;
  let toldChars = MIN_TOLD_CHARS;
  let chars = 0;
  return {
    get chars() {
      return chars;
    },
    beat(more) {
      const atMs = clock.now();
      chars += more;
      if (seenAtMs !== null && atMs - seenAtMs < chunkMs / 8 && chars < toldChars * 1.25) return;
      tell(seenAtMs === null ? 'reply.started' : 'reply.progressed', { atMs, chars });
      seenAtMs = atMs;
      toldChars = Math.max(MIN_TOLD_CHARS, chars);
    },
  };
}
