import type { ActorRefFrom, AnyStateMachine } from 'xstate';
import type * as z from 'zod/mini';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import { abortEvents, emittedEvents } from '../../../machines/chain/emitted-events.ts';
import type { AttachedFile } from '../../../machines/contracts/attachment.ts';
import { type ChainInput, type ChainState, chainInputSchema } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { type ChainEvent, chainEventSchema, type EmittedEvent } from '../../../machines/contracts/events.ts';
import { JOURNAL_VERSION, type JournalEntry, type RunStart } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { closeAborted, failByError } from '../../../machines/policies/outcomes.ts';
import { finishEarlyCall } from '../../../machines/policies/phase-calls.ts';
import { initialState } from '../../../machines/policies/progress.ts';
import { failedOutcome } from '../../../machines/policies/synthesis/outcome.ts';
import { answerOf } from '../../../machines/policies/synthesis/writing.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import { chartOf } from '../../durable/charts/chart.ts';
import type { Clock } from '../../durable/clock.ts';
import { guardedWriter } from '../../durable/journals/guarded-writer.ts';
import { onAbort } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { invalidOption } from '../../internal/options.ts';
import type { JournalWriter } from '../journal/journal-format.ts';
import { createJournal, type Journal } from '../recording/journal.ts';
import { type ChainParts, provideChain } from './actors.ts';
import { createDurableActor, type DurableActor, liveExecutor, type Recording } from './durable-actor.ts';
import { createRunClock } from './run-clock.ts';
import { createEventStream, type RunEvent } from './run-events.ts';
import type { RunSlots } from './run-slots.ts';

/** A run in progress. */
export interface Run {
  readonly runId: string;
  /** Everything that happens, from the beginning, however late reading starts. */
  readonly events: AsyncIterable<RunEvent>;
  /** Always resolves with an answer; never rejects. */
  readonly answer: Promise<FinalAnswer>;
  /** The journal so far; after the end, the entire run. */
  readonly journal: readonly JournalEntry[];
  /** Why the journal is no longer stored, or null. The run continues without it. */
  readonly journalFailure: string | null;
  /** Sends an event to the run. Throws `invalid_option` for an unknown event; does nothing after the end. */
  readonly send: (event: ChainEvent) => void;
  /** Stops the run at the user's request: it answers at once with what it has. */
  readonly cancel: (reason?: string) => void;
  /** The chart's XState actor. */
  readonly actor: ActorRefFrom<typeof chainMachine>;
}

export interface StartOptions {
  readonly files: readonly AttachedFile[];
  readonly signal?: AbortSignal | undefined;
  readonly writer?: JournalWriter | undefined;
  readonly slots: RunSlots;
}

/** Starts a live run, or queues it until a slot is free. A queued run that is canceled or interrupted answers without a slot. */
export function startRun(start: RunStart, parts: ChainParts, { signal, slots, ...options }: StartOptions): Run {
  const clock = createRunClock(parts.clock, start.startedAtMs);
  let hasBegun = false;
  const begin = (): void => {
    if (hasBegun) return;
    hasBegun = true;
    clock.start();
    durableActor.start();
  };
  const { run, durableActor, abortOn, keepEntries } = openRun(start, {
    ...options,
    parts,
    clock,
    atMs: clock.elapsedMs,
    onStop: begin,
  });
  durableActor.attach(liveExecutor(clock, durableActor.deliver));
  const leave = slots.enter(begin);
  run.answer.then(leave);
  if (!hasBegun) keepEntries();
  abortOn(signal);
  return run;
}

export type ChainActor = DurableActor<typeof chainMachine>;

/** A run before it starts: its durable actor, its journal, and its public handle. */
export interface OpenRun {
  readonly run: Run;
  readonly durableActor: ChainActor;
  readonly journal: Journal;
  /** Stores the entries so far, so that a run that waits is not lost with its process. */
  keepEntries(): void;
  abortOn(signal: AbortSignal | undefined): void;
}

export interface OpenRunOptions {
  readonly parts: ChainParts;
  /** The clock of the activities; by default that of the parts. */
  readonly clock?: Clock;
  /** Called after an event that ends the run at once: a cancellation, an interruption, or a stop of the actor. */
  readonly onStop?: () => void;
  /** Returns the milliseconds since the start of the run at the time that entry number `seq` is written. */
  readonly atMs: (seq: number) => number;
  /** Stores the entries of each step before the run continues, and is closed at its end. */
  readonly writer?: JournalWriter | undefined;
  readonly files?: readonly AttachedFile[];
  /** How many entries the writer has already: those of a resumed run. */
  readonly writtenEntries?: number;
  readonly recording?: Recording;
  /** Called with the chart's state after each external event. */
  readonly onState?: ((state: ChainState) => void) | undefined;
}

/** Creates a run without starting it: a live run, a replay and a resumed run differ in their executor. */
export function openRun(
  start: RunStart,
  {
    parts,
    clock = parts.clock,
    atMs,
    writer: given,
    files = [],
    writtenEntries = 0,
    recording,
    onState,
    onStop,
  }: OpenRunOptions,
): OpenRun {
  const writer = given && guardedWriter(given);
  const journal = createJournal(atMs);
  const stream = createEventStream(journal.entries);
  journal.listen(stream.push);
  journal.append(start);
  for (const file of files) journal.append({ type: 'attachment', ...file });
  const recordKeyframe = start.keyframes ? createKeyframeRecorder(journal) : undefined;
  const durableActor = createDurableActor({
    machine: provideChain(parts),
    activityClock: clock,
    input: chainInputFrom(start),
    journal,
    partial: stream.push,
    hasReaders: stream.hasReaders,
    recording,
    onSettled: (state) => {
      recordKeyframe?.(state);
      onState?.(state);
    },
    onStep: () => {
      const written = writeNew();
      return written === undefined ? afterStep() : written.then(afterStep);
    },
  });
  let written = writtenEntries;
  let hasStopped = false;
  let ended: FinalAnswer | null = null;
  let resolveAnswer: (answer: FinalAnswer) => void;

  function writeNew(): void | Promise<void> {
    if (writer === undefined || journal.entries.length <= written) return;
    const entries = journal.entries.slice(written);
    written = journal.entries.length;
    return writer.write(entries);
  }

  /** The answer is given when the journal has it: an answered run is never found interrupted. Returns whether calls may start. */
  function afterStep(): boolean {
    const failure = writer?.failure ?? null;
    if (ended !== null) {
      const answer = ended;
      ended = null;
      void writer?.close();
      resolveAnswer(failure === null ? answer : withJournalFailure(answer, failure));
      stream.end();
      return false;
    }
    const mustStop = failure !== null && (parts.whenJournalFails === 'stop' || writer?.isFenced === true);
    if (!mustStop || hasStopped) return true;
    hasStopped = true;
    durableActor.deliver({ type: 'delivery', event: { type: 'run.interrupted', reason: journalFailed(failure) } });
    return false;
  }
  const { actor } = durableActor;

  let forgetSignal = (): void => {};
  const answer = new Promise<FinalAnswer>((resolve) => {
    resolveAnswer = resolve;
    let state: ChainState = actor.getSnapshot().context;
    const finish = (final: FinalAnswer, unrecorded: readonly EmittedEvent[]): void => {
      forgetSignal();
      for (const event of unrecorded) journal.append(event);
      journal.append({ type: 'run-end', status: final.status, usage: final.metadata.usage });
      journal.close();
      ended = final;
    };
    /** Ends a run whose chart did not: `after` returns its state after the abort. */
    const finishFor = (cause: string, after: (running: ChainState) => ChainState): void => {
      const { answer, ends } =
        state.answer === null ? endedBy(cause, state, after) : { answer: state.answer, ends: [] };
      finish(answer, [...ends, { type: 'answer', answer }]);
    };
    actor.subscribe({
      next: (snapshot) => {
        state = snapshot.context;
      },
      error: (error) => finishFor(unexpectedFailure(error).message, (running) => afterCrash(running, error)),
      complete: () => {
        const { output } = actor.getSnapshot();
        if (output !== undefined) finish(output, []);
        else finishFor(STOPPED, afterStop);
      },
    });
  });

  const send = (event: ChainEvent): void => {
    const read = chainEventSchema.safeParse(event);
    if (!read.success) throw invalidEvent(event, read.error);
    durableActor.deliver({ type: 'delivery', event: read.data });
    if (read.data.type === 'run.cancelled' || read.data.type === 'run.interrupted') onStop?.();
  };
  // Events that are sent directly to the actor go through the journal too.
  actor.send = send as typeof actor.send;
  actor.stop = () => {
    durableActor.deliver({ type: 'run-stopped' });
    onStop?.();
    return actor;
  };
  const cancel = (reason?: string): void => send({ type: 'run.cancelled', ...(reason && { reason }) });
  const interrupt = (): void => send({ type: 'run.interrupted', reason: 'the signal was aborted' });
  return {
    run: {
      runId: start.runId,
      events: stream,
      answer,
      journal: journal.entries,
      get journalFailure() {
        return writer?.failure ?? null;
      },
      send,
      cancel,
      actor,
    },
    durableActor,
    journal,
    keepEntries: () => void writeNew(),
    abortOn(signal) {
      if (signal?.aborted) interrupt();
      else if (signal !== undefined) forgetSignal = onAbort(signal, interrupt);
    },
  };
}

function invalidEvent(event: unknown, error: z.core.$ZodError): PostChainError {
  const types: readonly unknown[] = chainEventSchema.def.options.map((option) => option.shape.type.def.values[0]);
  const type = (event as { type?: unknown } | null)?.type;
  if (types.includes(type)) return invalidOption('event', event, error);
  const received = describeValue(type ?? event);
  return new PostChainError('invalid_option', `event: expected one of ${types.join(', ')}; received ${received}.`);
}

/** Returns the state of a chart that crashed, which is a bug: with what the run had, and the reason. */
function afterCrash(state: ChainState, error: unknown): ChainState {
  return { ...state, ...failByError(state, state.phase, error), interruption: { kind: 'phase_failed' } };
}

const STOPPED = 'the actor was stopped';

function afterStop(state: ChainState): ChainState {
  return { ...state, ...closeAborted(state, STOPPED), interruption: { kind: 'interrupted', reason: STOPPED } };
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

const journalFailed = (failure: string): string => `the journal cannot be written: ${failure}`;

/** The charts do not know of their journal, so its failure is added to the notes afterwards. */
function withJournalFailure(answer: FinalAnswer, failure: string): FinalAnswer {
  const note = `The journal is incomplete: ${failure}`;
  return { ...answer, notes: answer.notes === '' ? note : `${answer.notes} ${note}` };
}

/** The number of entries before the first keyframe. The next is due when the journal has doubled, because the state grows with it. */
const KEYFRAME_ENTRIES = 8_192;

/** Records the chart's state now and then, for readers that cannot replay the run. */
function createKeyframeRecorder({ entries, append }: Journal) {
  let due = KEYFRAME_ENTRIES;
  return ({ inFlight: _, ...state }: ChainState): void => {
    if (entries.length < due) return;
    append({ type: 'keyframe', state });
    due *= 2;
  };
}

export function createRunStart(
  input: ChainInput,
  { models, prompts }: ChainParts,
  { host = null, keyframes = false }: Partial<Pick<RunStart, 'host' | 'keyframes'>> = {},
): RunStart {
  const [modelId = '', ...fallbackModelIds] = models.map(({ id }) => id);
  return {
    type: 'run-start',
    version: JOURNAL_VERSION,
    chart: chartVersion(),
    ...input,
    modelId,
    fallbackModelIds,
    prompts: Object.fromEntries(Object.values(prompts).map(({ name, version }) => [name, { name, version }])),
    instructionsDigest: input.instructions && hexDigest(input.instructions),
    startedAt: new Date(input.startedAtMs).toISOString(),
    host,
    keyframes,
    redacted: false,
    forkedFrom: null,
  };
}

function chainInputFrom(start: RunStart): ChainInput {
  const names = Object.keys(chainInputSchema.shape) as (keyof ChainInput)[];
  return Object.fromEntries(names.map((name) => [name, start[name]])) as unknown as ChainInput;
}

let version: RunStart['chart'] | null = null;

/** The digest covers the three machines; descriptions do not change it. */
export function chartVersion(): RunStart['chart'] {
  version ??= { id: chainMachine.id, digest: chartDigest([chainMachine, actionMachine, attemptMachine]) };
  return version;
}

function chartDigest(machines: readonly AnyStateMachine[]): string {
  const outlines = machines.map((machine) => {
    const { states, transitions } = chartOf(machine);
    return [states.map(({ description: _, ...state }) => state), transitions];
  });
  return hexDigest(JSON.stringify(outlines));
}
