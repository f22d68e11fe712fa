import { type AnyActorRef, assign, fromCallback, type PromiseActorLogic } from 'xstate';
import type { ReadReplyInput, ValidateReply, ValidateReplyInput } from '../../../machines/attempt/actors.ts';
import { type attemptMachine, createAttemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { finalize, recordFailure } from '../../../machines/attempt/setup.ts';
import { callInput, initialAttemptState, stallMs } from '../../../machines/attempt/state.ts';
import type {
  AttemptEvent,
  AttemptPolicy,
  CallAheadInput,
  EarlyReply,
  Reply,
  ReplyEvent,
  Validation,
} from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { AttachedFile, Attachment } from '../../../machines/contracts/message.ts';
import type { ChatModel, FinishReason, ModelRequest, ReplyForm } from '../../../machines/contracts/model.ts';
import { failureOf, LOST, overBudget, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { acceptsFile, shownAttachments } from '../../../machines/policies/message-parts.ts';
import { NO_HOOKS, type RetryHooks } from '../../../machines/policies/retry.ts';
import { estimatedUsage, tokensOfChars, tokensPerCharOf } from '../../../machines/policies/usage.ts';
import { type Clock, inNextTurnOf, takeTurnOf } from '../../durable/clock.ts';
import { wasInterrupted } from '../../durable/hosted-call.ts';
import { onAbort } from '../../internal/async.ts';
import { layersOf } from '../../internal/repair-candidates.ts';
import { type ActivityArgs, promiseActivity, type ScopeOf } from '../activities.ts';
import { charsOfFiles, filesOf, type PromptSpec, requestChars, requestOf, turnText } from '../request.ts';
import { readStream } from '../streaming/read-stream.ts';
import type { OfferedTools } from '../streaming/stream-driver.ts';
import { mayBeRepaired, repairCandidates } from './repair-reply.ts';

interface AttemptParts extends ReadReplyParts {
  readonly hooks?: RetryHooks;
}

/** Runs on its own and in the chain. */
export function provideAttempt({ hooks = NO_HOOKS, ...parts }: AttemptParts): typeof attemptMachine {
  const validator = createValidator(parts.specFor);
  const { validateReply } = validator;
  return createAttemptMachine({ readReply: createReadReply(parts, validator), validateReply }).provide({
    actions: {
      recordFailure: assign(({ context }) => recordFailure(context, hooks)),
      finalize: assign(({ context }) => finalize(context, hooks)),
    },
  });
}

interface Validator {
  /** Validates a value whose validation may have begun. */
  readonly finish: (input: ValidateReplyInput, self: AnyActorRef) => Promise<Validation>;
  readonly accepts: (input: ValidateReplyInput, self: AnyActorRef) => Promise<boolean>;
  /** The actor for asynchronous schemas, and for the value that the policy gives. */
  readonly validateReply: ValidateReply;
  /** Adds the validation to the end of a reply, unless the schema is asynchronous. */
  readonly withValidation: (event: ReplyEvent, call: ReadReplyInput, self: AnyActorRef) => AttemptEvent;
}

/** The most asynchronous validations that wait for their actor. */
const MOST_PENDING = 100;

/** A schema is called once per reply. */
export function createValidator(specFor: SpecSource): Validator {
  // The keys are texts, because a durable machine gets a copy of the value.
  const pending = new Map<string, Promise<Validation>>();
  const keyOf = ({ task, phases, value }: ValidateReplyInput): string => JSON.stringify([task, phases, value]);
  const check = (input: ValidateReplyInput, self: AnyActorRef) => {
    const { shape } = specFor(input, self);
    return shape.validate(shape.unwrap(input.value));
  };
  const expanded = (input: ValidateReplyInput, validation: Validation, self: AnyActorRef): Validation => {
    const { expand } = specFor(input, self);
    return validation.ok && expand ? { ok: true, value: expand(validation.value, input.input) } : validation;
  };
  const accepts = async (input: ValidateReplyInput, self: AnyActorRef) => (await check(input, self)).ok;
  const finish = async (input: ValidateReplyInput, self: AnyActorRef): Promise<Validation> => {
    const key = keyOf(input);
    const begun = pending.get(key);
    pending.delete(key);
    const validation = expanded(input, await (begun ?? check(input, self)), self);
    if (validation.ok) return validation;
    for (const { value, repairs } of layersOf({ value: input.value, repairs: [] })) {
      const given = { ...input, value };
      const repaired = expanded(given, await check(given, self), self);
      if (repaired.ok) return { ...repaired, repaired: repairs };
    }
    return validation;
  };
  const begin = (key: string, validation: Promise<Validation>): void => {
    // The actor receives its error. An attempt that ends before never asks for it.
    validation.catch(() => {});
    const [oldest] = pending.size < MOST_PENDING ? [] : pending.keys();
    if (oldest !== undefined) pending.delete(oldest);
    pending.set(key, validation);
  };
  return {
    finish,
    accepts,
    validateReply: promiseActivity(async ({ input, self }) => finish(input, self)),
    withValidation(event, call, self) {
      if (event.type !== 'reply.ended' || event.reply.failure !== null) return event;
      try {
        const given = inputOf(call, event.reply.value);
        const validation = check(given, self);
        if (!(validation instanceof Promise)) return { ...event, validation: expanded(given, validation, self) };
        begin(keyOf(given), validation);
      } catch {
        // The actor repeats the call, and the machine receives its error.
      }
      return event;
    },
  };
}

/**
 * Returns the `callAhead` actor of the chain: it makes the first call of an attempt and validates the reply. A call that hangs or stalls
 * fails after the same time as in the attempt machine.
 */
export function createCallAhead(parts: ReadReplyParts): PromiseActorLogic<EarlyReply, CallAheadInput> {
  const validator = createValidator(parts.specFor);
  return promiseActivity(async ({ input, signal, self }): Promise<EarlyReply> => {
    // A reply that an earlier process was reading is lost: its phase calls again.
    if (wasInterrupted({ self })) return { value: null, failure: LOST, usage: null, openedAtMs: 0, atMs: 0 };
    const call = callInput(initialAttemptState(input.attempt));
    const { reply, openedAtMs, atMs, ...ended } = await replyWithin(parts, validator, call, { signal, self });
    const { failure, usage, value, prose } = reply;
    const validation =
      failure === null
        ? (ended.validation ?? (await validator.finish(inputOf(call, value), self)))
        : { ok: false as const, failure };
    if (!validation.ok) return { value: null, failure: validation.failure, usage, openedAtMs, atMs };
    const repaired = validation.repaired ?? reply.repaired;
    return {
      value: validation.value,
      ...(prose && { prose }),
      ...(repaired && { repaired }),
      failure: null,
      usage,
      openedAtMs,
      atMs,
    };
  });
}

type ReplyEnd = Extract<AttemptEvent, { type: 'reply.ended' }>;

/** Reads a reply to its end, or until no part of it has arrived for too long. */
function replyWithin(
  parts: ReadReplyParts,
  validator: Validator,
  call: ReadReplyInput,
  { signal, self }: Pick<ActivityArgs<unknown>, 'signal' | 'self'>,
): Promise<ReplyEnd> {
  const scope = parts.callScope(self);
  const { clock } = scope;
  const { policy } = call;
  const openedAtMs = clock.now();
  return new Promise((resolve) => {
    let timer: unknown;
    const expect = (code: string, waitMs: number): void => {
      clock.clearTimeout(timer);
      timer = clock.setTimeout(() => {
        abort();
        const reply = unread(failureOf('transport', code, `No part of the reply arrived within ${waitMs} ms.`));
        resolve({ type: 'reply.ended', openedAtMs, atMs: clock.now(), chars: 0, promptChars: null, reply });
      }, waitMs);
    };
    const abort = readReply({ ...parts, ...scope, self, validator }, call, (event) => {
      if (event.type !== 'reply.ended') return expect('stalled', stallMs(policy));
      clock.clearTimeout(timer);
      resolve(event);
    });
    expect('no_reply', policy.firstChunkMs);
    onAbort(signal, () => {
      clock.clearTimeout(timer);
      abort();
    });
  });
}

/** `attempt` counts from 1. */
export type AttemptCall = Pick<ReadReplyInput, 'attemptId' | 'task' | 'attempt' | 'phases'>;

export interface ItemObserver {
  /** Whether the items have readers; otherwise `onItem` is not called. */
  readonly hasReaders: boolean;
  /** The array starts. If one started before in this call, that was not the array. */
  onStart(call: AttemptCall): void;
  onItem(call: AttemptCall, index: number, item: unknown): void;
  /** The reply was repaired to this value, which may be another array. */
  onRepaired(call: AttemptCall, value: unknown): void;
}

/** Receives the progress of a call. An error it throws fails the call. */
export interface CallObserver {
  /** Called before the request is sent. */
  readonly onRequest?: (call: AttemptCall, request: ModelRequest, isEdited: boolean) => void;
  /** `isCall`: the text belongs to a call of an offered tool. */
  readonly onText: (call: AttemptCall, text: string, isCall: boolean) => void;
  /** Called before something is reported to the machine. */
  readonly onReport?: (call: AttemptCall) => void;
  /** Called with the value so far: one object that grows. */
  readonly onPartial: (call: AttemptCall, value: unknown) => void;
  /** Whether anyone reads the values so far; by default they are. */
  readonly isWatched?: (() => boolean) | undefined;
  /** For arrays. */
  readonly items?: ItemObserver | undefined;
}

export const noopCallObserver: CallObserver = { onText: () => {}, onPartial: () => {} };

/** Returns another request to send for a call, or null to send the one that its prompt made. */
export type EditRequest = (call: ReadReplyInput, request: ModelRequest) => ModelRequest | null;

/** Returns the spec of a call that `self` makes to `model`. Without a model, the spec only validates the value of a reply. */
export type SpecSource = (
  call: Pick<ReadReplyInput, 'task' | 'phases' | 'input'> & { readonly policy?: AttemptPolicy },
  self?: AnyActorRef,
  model?: ChatModel,
) => PromptSpec;

interface CallScope {
  readonly clock: Clock;
  readonly observer: CallObserver;
  readonly editRequest?: EditRequest | undefined;
  /** Returns an attachment with its bytes. Throws if the run does not have them. */
  readonly fileOf?: (attachment: Attachment) => AttachedFile;
}

interface ReadReplyParts {
  /** The first model is called; the others are its fallbacks, in order. */
  readonly models: readonly ChatModel[];
  readonly specFor: SpecSource;
  readonly replyForm: ReplyForm;
  readonly callScope: ScopeOf<CallScope>;
}

type ScopedParts = ReadReplyParts & CallScope;
type ReaderParts = ScopedParts & { readonly self: AnyActorRef; readonly validator: Validator };

/** Returns the `readReply` actor of the attempt machine: it renders the prompt, calls the model once and reads its stream. */
function createReadReply(parts: ReadReplyParts, validator: Validator) {
  return fromCallback<AttemptEvent, ReadReplyInput>(({ input, sendBack, self }) => {
    // A stream cannot be continued in another process: the machine requests the reply again.
    if (wasInterrupted({ self })) return sendBack({ type: 'reply.lost' });
    const scope = parts.callScope(self as AnyActorRef);
    return readReply({ ...parts, ...scope, self, validator }, input, sendBack);
  });
}

/** Returns a function that aborts the call. */
function readReply(parts: ReaderParts, call: ReadReplyInput, report: (event: AttemptEvent) => void): () => void {
  const { clock, observer, fileOf, self, validator } = parts;
  const controller = new AbortController();
  const openedAtMs = clock.now();
  let over = false;
  let stop = (): void => {};
  const send = (event: AttemptEvent): void => {
    if (over) return;
    over = event.type === 'reply.ended';
    observer.onReport?.(call);
    report(event);
  };
  let promptChars = 0;
  const heartbeat = createHeartbeat(call.policy.chunkMs, clock, (type, progress) =>
    send({ type, openedAtMs, promptChars, ...progress }),
  );
  const endWith = (reply: Reply) =>
    ({ type: 'reply.ended', openedAtMs, atMs: clock.now(), chars: heartbeat.chars, promptChars, reply }) as const;

  async function read(): Promise<void> {
    const files = fileOf === undefined ? [] : shownAttachments(call.task, call.input).map(fileOf);
    const { model, spec, request, isEdited } = callOf(parts, call, files);
    const problem = call.notCalled ?? unsupportedFiles(model, request);
    if (problem === null) observer.onRequest?.(call, request, isEdited);
    const textChars = requestChars(spec, request);
    promptChars = textChars + charsOfFiles(request);
    // The stream is opened in the same turn unless tokens must be counted: then the call may have been aborted meanwhile.
    const sizes = { textChars, promptChars, most: call.maxPromptTokens };
    const unsent = problem === null ? promptTooLong(model, request, sizes) : unsentReply(problem);
    const failed = unsent instanceof Promise ? await unsent : unsent;
    if (over) return;
    let reason: FinishReason | null = null;
    const reply =
      failed ??
      (await readStream(() => model.stream(request, { signal: controller.signal }), {
        ...expectedReply(call, spec, request),
        takeTurn: takeTurnOf(clock),
        promptChars,
        onStoppable: (given) => {
          stop = given;
        },
        onEnd: (given) => {
          reason = given;
        },
        onAlive: () => {
          if (!over) heartbeat.beat(0);
        },
        onText: (text, isCall) => {
          if (over) return;
          heartbeat.beat(text.length);
          observer.onText(call, text, isCall);
        },
        ...(observer.items && itemEvents(observer.items, call, spec, () => over)),
        isWatched: observer.isWatched,
        onPartial: (given) => {
          const value = spec.shape.unwrapPartial(given);
          if (!over && value !== undefined) observer.onPartial(call, value);
        },
      }));
    if (over) return;
    const event = endWith(reply);
    const ended = validator.withValidation(event, call, self);
    const repaired = mayBeRepaired(ended) ? await repairedReply(reply, { reason, spec, call, self, validator }) : null;
    if (over || repaired === null) return send(ended);
    const value = spec.shape.unwrapPartial(repaired.value);
    observer.items?.onRepaired(call, value);
    observer.onPartial(call, value);
    send(validator.withValidation({ ...event, reply: repaired }, call, self));
  }

  read().catch((error: unknown) => send(endWith(thrown(error, { promptChars, chars: heartbeat.chars }))));
  return () => {
    // A call that has ended needs no abort, which would create an error with a stack.
    if (!over) {
      controller.abort();
      stop();
    }
    over = true;
  };
}

const expectedReply = ({ mayBeProse, policy }: ReadReplyInput, spec: PromptSpec, request: ModelRequest) => ({
  form: request.replyForm,
  proseDriver: spec.prose?.(),
  toolName: request.schemaName,
  acceptsList: spec.shape.mayBeList,
  sentSchema: request.replyForm === 'text' ? request.outputSchema : null,
  offered: offeredBy(spec, request),
  fromProse: mayBeProse ? spec.fromProse : undefined,
  maxChars: policy.maxReplyChars,
});

const itemEvents = (items: ItemObserver, call: ReadReplyInput, { shape }: PromptSpec, isOver: () => boolean) => ({
  onBegin: () => void (isOver() || items.onStart(call)),
  onComplete: (value: unknown, pathNow: () => readonly (string | number)[]) => {
    if (isOver() || !items.hasReaders) return;
    const index = shape.itemAt(pathNow());
    if (index !== null) items.onItem(call, index, value);
  },
});

interface ReplyContext {
  readonly reason: FinishReason | null;
  readonly spec: PromptSpec;
  readonly call: ReadReplyInput;
  readonly self: AnyActorRef;
  readonly validator: Validator;
}

/** Returns the reply with the first value in it that the schema accepts; null if there is none. */
async function repairedReply(
  reply: Reply,
  { reason, spec, call, self, validator }: ReplyContext,
): Promise<Reply | null> {
  const toolNames = (spec.tools?.(call.input) ?? []).map(({ name }) => name);
  for await (const { value, repairs } of repairCandidates(reply, reason, spec, toolNames))
    if (await validator.accepts(inputOf(call, value), self))
      return { ...reply, value, prose: false, failure: null, repaired: repairs };
  return null;
}

const inputOf = ({ task, input, phases }: ReadReplyInput, value: unknown): ValidateReplyInput => ({
  task,
  input,
  ...(phases && { phases }),
  value,
});

function callOf(
  { models, specFor, replyForm, editRequest, self }: ReaderParts,
  call: ReadReplyInput,
  files: readonly AttachedFile[],
) {
  const model = models[call.model];
  if (model === undefined)
    throw new TypeError(`Model ${call.model} does not exist; the attempt has ${models.length} models.`);
  const spec = specFor(call, self, model);
  const request: ModelRequest = requestOf(spec, call, formAt(call.form, replyForm), model.nativeTools === true, files);
  const edited = editRequest?.(call, request) ?? null;
  return { model, spec, request: edited ?? request, isEdited: edited !== null };
}

/** The forms to try after the configured one. The first has the schema in the prompt, for a server that ignores it as a parameter. */
const OTHER_FORMS: readonly ReplyForm[] = ['json-object', 'tool-call', 'text'];

/** Returns the reply form: 0 is the configured one, 1 and 2 the others in order; prose is requested with the schema in the prompt. */
function formAt(form: number, configured: ReplyForm): ReplyForm {
  return [configured, ...OTHER_FORMS.filter((other) => other !== configured)][form] ?? 'json-object';
}

function offeredBy({ fromToolCalls, withToolCalls }: PromptSpec, { tools }: ModelRequest): OfferedTools | undefined {
  if (tools === undefined || fromToolCalls === undefined || withToolCalls === undefined) return undefined;
  return { names: new Set(tools.map(({ name }) => name)), valueOf: fromToolCalls, wrap: withToolCalls };
}

/** Returns the failure of a model that does not accept one of the files; null if it accepts all. Another model of the run does. */
function unsupportedFiles(model: ChatModel, request: ModelRequest): Failure | null {
  const unread = filesOf(request).filter((file) => !acceptsFile(model, file));
  if (unread.length === 0) return null;
  const types = [...new Set(unread.map(({ mediaType }) => mediaType))].join(', ');
  return failureOf(
    'transport',
    'unsupported_file',
    `${model.id} was not called, because it does not accept ${types}.`,
    {
      retryable: false,
    },
  );
}

interface PromptSizes {
  /** Characters without files, and with as many as the files count for. */
  readonly textChars: number;
  readonly promptChars: number;
  /** The most tokens that fit into the cost limit; null: no limit. */
  readonly most: number | null;
}

/**
 * Returns a failed reply for a prompt that exceeds the context window or the cost limit, without a call. A fallback model may have a larger
 * window, for which files do not count, because estimates of their tokens are too rough to prevent a call.
 */
function promptTooLong(
  model: ChatModel,
  request: ModelRequest,
  sizes: PromptSizes,
): Reply | null | Promise<Reply | null> {
  const fits =
    sizes.textChars / 4 <= model.contextWindowTokens && (sizes.most === null || sizes.promptChars <= sizes.most);
  return fits ? null : countedTooLong(model, request, sizes);
}

/** Without a tokenizer, JSON and code may have this many times the usual number of tokens. */
const MOST_PER_ESTIMATE = 1.5;

async function countedTooLong(
  model: ChatModel,
  request: ModelRequest,
  { textChars, promptChars, most }: PromptSizes,
): Promise<Reply | null> {
  const { id, contextWindowTokens } = model;
  const counted = await countedTokens(model, request);
  const tokens = counted ?? tokensOfChars(textChars);
  if (tokens <= contextWindowTokens) {
    const fileTokens = tokensOfChars(promptChars - textChars);
    // An aborted call is charged by its characters.
    const estimated = textChars * tokensPerCharOf(request.turns.map(turnText)) * MOST_PER_ESTIMATE;
    const charged = Math.max(counted ?? estimated, tokensOfChars(textChars)) + fileTokens;
    return most === null || charged <= most ? null : unsentReply(overBudget());
  }
  const size = counted === null ? `about ${tokens} tokens (characters / 4)` : `${tokens} tokens`;
  const message = `The prompt has ${size}; ${id} accepts ${contextWindowTokens}, including the reply. Shorten it, or use another model.`;
  return unread(failureOf('transport', 'prompt_too_long', message, { retryable: false }));
}

/** Counts with the model's own tokenizer; null if it has none or fails. */
async function countedTokens(model: ChatModel, { turns, tools = [] }: ModelRequest): Promise<number | null> {
  try {
    const offered = tools.map((tool) => JSON.stringify(tool));
    const counts = await model.countTokens?.([...turns.map(turnText), ...offered]);
    const sum = counts?.reduce((all, one) => all + one, 0) ?? Number.NaN;
    return Number.isFinite(sum) && sum > 0 ? sum : null;
  } catch {
    return null;
  }
}

/** A prompt or an observer that throws is a bug; the run still continues to an answer, and what arrived is charged. */
function thrown(
  error: unknown,
  { promptChars, chars }: { readonly promptChars: number; readonly chars: number },
): Reply {
  const { message } = unexpectedFailure(error);
  const reply = unread(failureOf('unexpected', 'prompt_failed', message, { retryable: false }));
  if (chars === 0) return reply;
  return { ...reply, usage: estimatedUsage(promptChars, chars) };
}

function unread(failure: Reply['failure']): Reply {
  return { text: '', value: null, prose: false, failure, usage: { inputTokens: 0, outputTokens: 0, estimated: true } };
}

/** A call that is not made uses nothing. */
function unsentReply(failure: Failure): Reply {
  return { ...unread(failure), usage: { inputTokens: 0, outputTokens: 0, estimated: false } };
}

/** Above this, the character count is reported again whenever it has grown by a quarter. */
const MIN_REPORTED_CHARS = 800;

interface Progress {
  readonly atMs: number;
  readonly chars: number;
}

interface Heartbeat {
  /** Counts a part with this many characters of the reply. */
  beat(chars: number): void;
  readonly chars: number;
}

/**
 * Reports to the attempt machine that a call is alive: in the turn after the first part, then once per eighth of `chunkMs` while parts
 * arrive, and when the text has grown by a quarter. It does not report every part, nor the start of a reply that ends in the same
 * turn, because every event costs time and journal space.
 */
function createHeartbeat(
  chunkMs: number,
  clock: Clock,
  send: (type: 'reply.started' | 'reply.progressed', progress: Progress) => void,
): Heartbeat {
  let isAlive = false;
  let reportedAtMs: number | null = null;
  let reportedChars = MIN_REPORTED_CHARS;
  let atMs = 0;
  let chars = 0;

  function report(): void {
    const type = reportedAtMs === null ? 'reply.started' : 'reply.progressed';
    reportedAtMs = atMs;
    reportedChars = Math.max(MIN_REPORTED_CHARS, chars);
    send(type, { atMs, chars });
  }

  return {
    get chars() {
      return chars;
    },
    beat(more) {
      atMs = clock.now();
      chars += more;
      if (!isAlive) {
        isAlive = true;
        inNextTurnOf(clock, report);
      } else if (reportedAtMs !== null && (atMs - reportedAtMs >= chunkMs / 8 || chars >= reportedChars * 1.25)) {
        report();
      }
    },
  };
}
