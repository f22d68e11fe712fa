import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActorRefFrom, AnyMachineSnapshot, SnapshotFrom } from 'xstate';
import type { chainMachine } from '../../../machines/chain/chain.machine.ts';
import { abortEvents, emittedEvents } from '../../../machines/chain/emitted-events.ts';
import type { ChainInput, ChainState } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { type ChainEvent, chainEventSchema, type EmittedEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry, RunEnd, RunProduct } from '../../../machines/contracts/journal.ts';
import type { AttachedFile } from '../../../machines/contracts/message.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { pendingCalls } from '../../../machines/policies/approvals.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { closeAborted, failByError } from '../../../machines/policies/outcomes.ts';
import { finishEarlyCall } from '../../../machines/policies/phase-calls.ts';
import { initialState } from '../../../machines/policies/progress.ts';
import { failedOutcome } from '../../../machines/policies/synthesis/compose.ts';
import { answerOf } from '../../../machines/policies/synthesis/value.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import { takeTurnOf } from '../../durable/clock.ts';
import type { Json } from '../../durable/codec.ts';
import type { DurableActor } from '../../durable/durable-actor.ts';
import { createDurableMachine, type DurableMachine } from '../../durable/durable-machine.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import type { JournalStore } from '../../durable/journals/journal-store.ts';
import { keepAlive, onAbort } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { invalidOption } from '../../internal/options.ts';
import type { EditRequest } from '../../llm/attempts/provide-attempt.ts';
import { fileIn } from '../../llm/content.ts';
import { createPromptWriter, type PromptWriter } from '../../llm/recorded-prompts.ts';
import { runStartOf } from '../journal/run-start.ts';
import { createRunWriters, type RunWriters } from '../journal/run-writers.ts';
import { readEntry } from '../journal/stored-entries.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { prompts as builtInPrompts } from '../prompts/registry.ts';
import { type ChainParts, provideChain } from './actors.ts';
import { describeCall } from './describe-call.ts';
import { createFeed, type RunFeed } from './feed.ts';
import { createRunClock } from './run-clock.ts';
import type { RunEvent } from './run-events.ts';
import { type RunScope, setScope } from './run-scope.ts';
import type { RunSlots } from './run-slots.ts';

/** A run in progress. `Value` is the type of the answer's value. */
export interface Run<Value = unknown> {
  readonly id: string;
  /** Everything that happens, from the beginning, however late reading starts. */
  readonly events: AsyncIterable<RunEvent>;
  /** Resolves with an answer; never rejects. If the run is parked, it does not settle: the run that `chain.resume` returns has the answer. */
  readonly answer: Promise<FinalAnswer & { readonly value?: Value }>;
  /** Resolves when the run has left memory: with its answer, or with null if it was parked or closed. */
  readonly settled: Promise<(FinalAnswer & { readonly value?: Value }) | null>;
  /** The journal so far; after the end, the entire run. */
  readonly entries: readonly JournalEntry[];
  /** Why the journal is no longer stored, or null. The run continues without it. */
  readonly journalFailure: string | null;
  /** Sends an event to the run. Throws `invalid_option` for an unknown event; does nothing after the end. */
  readonly send: (event: ChainEvent) => void;
  /**
   * Removes the run from memory if it only waits for the user or a delay, and resolves to whether it did. Its `events` end, and any process
   * with the journals can resume it. A run without `journals` is never parked.
   */
  readonly park: () => Promise<boolean>;
  /** Stops the run at the user's request: it answers at once with what it has. */
  readonly cancel: (reason?: string) => void;
  /** The chart's XState actor. */
  readonly ref: ChainActorRef;
}

export type ChainActorRef = ActorRefFrom<typeof chainMachine>;

/** The durable machine of a chain, and the writers of its journals. */
export interface ChainHost {
  readonly parts: ChainParts;
  readonly machine: DurableMachine<typeof chainMachine>;
  readonly writers: RunWriters;
  /** The runs in memory, by id. */
  readonly runs: Map<string, AttachedRun>;
}

/** `journals` is undefined for runs that are not stored; `requireResumable` throws if a journal cannot be continued. */
export function createChainHost(
  parts: ChainParts,
  journals?: JournalStore,
  requireResumable?: (entries: readonly DurableEntry[]) => void,
  parkAfterMs = Number.POSITIVE_INFINITY,
): ChainHost {
  const writers = createRunWriters(journals, requireResumable);
  const machine = createDurableMachine(provideChain(parts), {
    journals: writers.store,
    clock: parts.clock,
    timeWithoutProcess: (event) => (USER_DELAY.test(event) ? 'counts' : 'pauses'),
    parkAfterMs,
    ...RUN_DESCRIPTION,
  });
  return { parts, machine, writers, runs: new Map() };
}

/** The limits of a run leave out the time while no process runs it. The time that users have to answer does not. */
const USER_DELAY = /^xstate\.after\.consentDeadline\.|^approval\.expired$/u;

/** What the journal of a run records about its calls and its end. */
export const RUN_DESCRIPTION = {
  describeCall,
  describeEnd: (snapshot: AnyMachineSnapshot): Json => {
    const { status, metadata } = finalAnswerOf(snapshot as Snapshot).answer;
    return { status, usage: metadata.usage } satisfies RunEnd as unknown as Json;
  },
  describeWait: (snapshot: AnyMachineSnapshot): Json => {
    const { question, inFlight } = (snapshot as Snapshot).context;
    const asked = inFlight.loop === null ? [] : pendingCalls(inFlight.loop).map(({ approval }) => approval.questionId);
    if (asked.length > 0) return { for: 'approval', questionIds: asked };
    return question === null ? null : { for: question.replace(/^.*\./u, ''), questionIds: [question] };
  },
  logger: () => {},
};

export interface StartOptions {
  readonly files: readonly AttachedFile[];
  readonly valueSchema?: StandardSchemaV1 | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly slots: RunSlots;
  readonly host?: RunProduct['host'];
}

/**
 * Starts a live run when the clock gives it its turn, so that runs which start together do not block the event loop, or queues it until a slot is
 * free. A queued run that is canceled or interrupted answers without a slot.
 */
export function enqueueRun(host: ChainHost, input: ChainInput, options: StartOptions): Run {
  const { runId } = input;
  const { clock } = host.parts;
  host.writers.reserve(runId);
  let settle = (_: Promise<FinalAnswer | null>): void => {};
  const settled = new Promise<FinalAnswer | null>((resolve) => {
    settle = resolve;
  });
  const answer = answerOnce(settled);
  const opened: { run: AttachedRun | null; isWatched: boolean } = { run: null, isWatched: false };
  const open = (): AttachedRun => {
    if (opened.run !== null) return opened.run;
    opened.run = openRun(host, input, options);
    settle(opened.run.run.settled);
    return opened.run;
  };
  const watch = (): void => {
    if (!opened.isWatched) open().abortOn(options.signal);
    opened.isWatched = true;
  };
  const inTurn = (act: () => void): void =>
    takeTurnOf(clock)(() => {
      try {
        act();
      } catch (error) {
        settle(Promise.reject(error));
      }
    });
  let isQueued = true;
  const leave = options.slots.enter(() => {
    isQueued = false;
    inTurn(() => {
      open().begin();
      watch();
    });
  });
  // A queued run is stored, and can be interrupted.
  if (isQueued) inTurn(watch);
  settled.then(leave, leave);
  return {
    id: runId,
    answer,
    settled,
    get events() {
      return open().run.events;
    },
    get entries() {
      return open().run.entries;
    },
    get journalFailure() {
      return opened.run?.run.journalFailure ?? null;
    },
    get ref() {
      return open().run.ref;
    },
    send: (event) => open().run.send(event),
    park: async () => (await opened.run?.run.park()) ?? false,
    cancel: (reason) => open().run.cancel(reason),
  };
}

/** Creates the actor of a run, which has not begun. */
function openRun(host: ChainHost, input: ChainInput, { files, valueSchema, host: data }: StartOptions): AttachedRun {
  const feed = createFeed();
  const actor = host.machine.start(input.runId, {
    input,
    product: productOf(input, host.parts, data ?? null) as unknown as Json,
    notes: files.map((file) => ({ type: 'attachment', ...file })),
    startedAtMs: input.startedAtMs,
    // The charts use no random numbers.
    seed: 0,
    isPaused: true,
    onEntry: feed.take,
    mayPark: () => host.writers.isComplete(input.runId),
  });
  return attachRun(host, actor, feed, { valueSchema });
}

/** A run that has not begun: its public handle, and what starts it. */
interface AttachedRun {
  readonly run: Run;
  readonly begin: () => void;
  /** Receives the entries that follow. */
  readonly take: (stored: DurableEntry) => void;
  /** Resolves to false if the run was parked before it received the event. Throws `invalid_option` for an unknown event. */
  readonly deliver: (event: ChainEvent) => Promise<boolean>;
  readonly abortOn: (signal: AbortSignal | undefined) => void;
  readonly close: () => Promise<void>;
}

interface AttachOptions {
  readonly editRequest?: EditRequest | undefined;
  readonly prompts?: PromptWriter;
  readonly valueSchema?: StandardSchemaV1 | undefined;
}

/** Connects a paused actor with its readers, its calls and its answer. */
export function attachRun(
  { parts, writers, runs }: ChainHost,
  actor: DurableActor<typeof chainMachine>,
  feed: RunFeed,
  { editRequest, prompts = createPromptWriter(), valueSchema }: AttachOptions = {},
): AttachedRun {
  const { stream } = feed;
  for (const stored of actor.entries) feed.take(stored);
  feed.showAll();
  const entries = actor.entries.map(readEntry);
  for (const entry of entries) prompts.take(entry);
  const { runId, startedAtMs } = runStartOf(entries.slice(0, 1)).input;
  const clock = createRunClock(parts.clock, startedAtMs, entries.at(-1)?.atMs ?? 0);
  const writer = writers.of(runId);
  const ref = actor.ref as ChainActorRef;
  const scope = { clock, partial: stream.push, hasReaders: stream.hasReaders, editRequest, prompts, valueSchema };
  const finalAnswer = connectRun(ref, { feed, scope, note: (note) => actor.note(note) });
  let forgetSignal = (): void => {};
  const keptAlive = keepAlive();
  const isParked = (): boolean => actor.getSnapshot().status === 'active' && !writer.isFenced;
  const settled = (): FinalAnswer | null => {
    forgetSignal();
    keptAlive.end();
    runs.delete(runId);
    if (isParked()) {
      stream.end();
      return null;
    }
    // If another process has taken over the run, that process reports the answer.
    if (!writer.isFenced) feed.showAll();
    const answer = writer.isFenced ? stoppedAnswer(ref, unwrittenReason(writer.failure)) : finalAnswer();
    stream.end(answer.answerText);
    return writer.failure === null ? answer : withJournalFailure(answer, writer.failure);
  };
  const ended = actor.output.then(settled, settled);
  const begin = (): void => {
    clock.start();
    keptAlive.begin();
    actor.begin();
  };
  const deliver = (event: ChainEvent): Promise<boolean> => {
    const read = readEvent(event);
    const sent = actor.send(read);
    if (read.type === 'run.cancelled' || read.type === 'run.interrupted') begin();
    return sent.then(
      () => true,
      (error: unknown) => {
        // Any other error would repeat itself in the run that is opened again.
        if (isParked() && PostChainError.isInstance(error) && error.code === 'cancelled') return false;
        throw error;
      },
    );
  };
  const send = (event: ChainEvent): void => void deliver(event).catch(() => {});
  writer.onFailure = (failure) => {
    if (parts.whenJournalFails === 'stop') send({ type: 'run.interrupted', reason: unwrittenReason(failure) });
  };
  // Events that are sent directly to the actor are validated too.
  ref.send = send as typeof ref.send;
  const stop = ref.stop.bind(ref);
  ref.stop = () => {
    stop();
    begin();
    return ref;
  };
  const interrupt = (): void => send({ type: 'run.interrupted', reason: 'the signal was aborted' });
  const attached: AttachedRun = {
    run: handleOf(actor, feed, writer, { id: runId, settled: ended, send, ref }),
    begin,
    take: feed.take,
    deliver,
    close: () => actor.close(),
    abortOn(signal) {
      if (signal?.aborted) interrupt();
      else if (signal !== undefined) forgetSignal = onAbort(signal, interrupt);
    },
  };
  runs.set(runId, attached);
  return attached;
}

/** Returns the public handle of a run. */
function handleOf(
  actor: DurableActor<typeof chainMachine>,
  feed: RunFeed,
  writer: { readonly failure: string | null },
  about: Pick<Run, 'id' | 'settled' | 'send' | 'ref'>,
): Run {
  return {
    ...about,
    events: feed.stream,
    answer: answerOnce(about.settled),
    get entries() {
      return feed.shown;
    },
    get journalFailure() {
      return writer.failure;
    },
    park: () => actor.park(),
    cancel: (reason) => about.send({ type: 'run.cancelled', ...(reason && { reason }) }),
  };
}

/** Returns a promise that resolves only if there is an answer. */
function answerOnce(settled: Promise<FinalAnswer | null>): Promise<FinalAnswer> {
  return new Promise((resolve, reject) => {
    settled.then((answer) => answer && resolve(answer), reject);
  });
}

interface RunConnection {
  readonly feed: Pick<RunFeed, 'shown' | 'answer'>;
  readonly scope: RunScope;
  /** Adds to the journal. */
  readonly note: (note: Json) => void;
}

/**
 * Connects an actor that has not begun with the journal of its run: its calls find the files there, and what a chart that crashes or is
 * stopped does not emit is added. Returns the answer of a run that has ended.
 */
export function connectRun(ref: ChainActorRef, { feed, scope, note }: RunConnection): () => FinalAnswer {
  setScope(ref, { ...scope, fileOf: (attachment) => fileIn(feed.shown, attachment) });
  const addEnds = (): void => {
    if (feed.answer !== null) return;
    const { answer, ends } = finalAnswerOf(ref.getSnapshot());
    for (const event of [...ends, { type: 'answer', answer } as const]) note(event as unknown as Json);
  };
  ref.subscribe({ error: addEnds, complete: addEnds });
  return () => feed.answer ?? finalAnswerOf(ref.getSnapshot()).answer;
}

function readEvent(event: unknown): ChainEvent {
  const { data, error } = chainEventSchema.safeParse(event);
  if (data !== undefined) return data;
  const types: readonly unknown[] = chainEventSchema.def.options.map((option) => option.shape.type.def.values[0]);
  const type = (event as { type?: unknown } | null)?.type;
  if (types.includes(type)) throw invalidOption('event', event, error);
  const received = describeValue(type ?? event);
  throw new PostChainError('invalid_option', `event: expected one of ${types.join(', ')}; received ${received}.`);
}

/** Returns the state of a chart that crashed, which is a bug: with what the run had, and the reason. */
function afterCrash(state: ChainState, error: unknown): ChainState {
  return { ...state, ...failByError(state, state.phase, error), interruption: { kind: 'phase_failed' } };
}

const unwrittenReason = (failure: string | null): string => `the journal cannot be written: ${failure}`;

const STOPPED = 'the actor was stopped';

const afterStop = (state: ChainState, reason: string): ChainState => ({
  ...state,
  ...closeAborted(state, reason),
  interruption: { kind: 'interrupted', reason },
});

/** Returns the answer of a run that this process has stopped, whatever its state. */
const stoppedAnswer = (ref: ChainActorRef, reason: string): FinalAnswer =>
  endedBy(reason, ref.getSnapshot().context, (running) => afterStop(running, reason)).answer;

type Snapshot = SnapshotFrom<typeof chainMachine>;

/** Returns the answer of a chart that has ended, and of one that crashed or was stopped, the end of what was in progress. */
function finalAnswerOf(snapshot: Snapshot): Ended {
  const { output, status, error, context } = snapshot;
  if (status === 'done' && output !== undefined) return { answer: output, ends: [] };
  if (context.answer !== null) return { answer: context.answer, ends: [] };
  if (status === 'error')
    return endedBy(unexpectedFailure(error).message, context, (running) => afterCrash(running, error));
  return endedBy(STOPPED, context, (running) => afterStop(running, STOPPED));
}

interface Ended {
  readonly answer: FinalAnswer;
  /** The end of what was in progress. */
  readonly ends: readonly EmittedEvent[];
}

/** Ends the early call of a run, then the run. If that throws, a part of the state is invalid, and the answer is that of a run without results. */
function endedBy(cause: string, before: ChainState, after: (running: ChainState) => ChainState): Ended {
  const { early } = before;
  try {
    const running = { ...before, ...finishEarlyCall(before) };
    const state = after(running);
    const earlyEnds = early !== null && early.result === null ? [emittedEvents.earlyEnd(early)] : [];
    return { answer: answerOf(state), ends: [...earlyEnds, ...abortEvents(running, state, cause)] };
  } catch {
    const written = failedOutcome('other', `the run failed: ${cause}`);
    return { answer: answerOf({ ...afterCrash(initialState({ ...before, messages: [] }), cause), written }), ends: [] };
  }
}

/** The charts do not know of their journal, so its failure is added to the notes afterwards. */
function withJournalFailure(answer: FinalAnswer, failure: string): FinalAnswer {
  const note = `The journal is incomplete: ${failure}`;
  return { ...answer, notes: answer.notes === '' ? note : `${answer.notes} ${note}` };
}

/** A user's prompt may have the same version as the built-in one. */
const versionOf = (prompt: Prompt): RunProduct['prompts'][string] => {
  const { name, version } = prompt;
  return { name, version, ...(prompt !== builtInPrompts[name] && { isOwn: true }) };
};

/** Returns what the first entry of a run contains besides its input. */
export function productOf(input: ChainInput, { models, prompts }: ChainParts, host: RunProduct['host']): RunProduct {
  const [modelId = '', ...fallbackModelIds] = models.map(({ id }) => id);
  return {
    modelId,
    fallbackModelIds,
    prompts: Object.fromEntries(Object.values(prompts).map((prompt) => [prompt.name, versionOf(prompt)])),
    instructionsDigest: input.instructions && hexDigest(input.instructions),
    host,
    redacted: false,
    fork: null,
  };
}
