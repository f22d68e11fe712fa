import type { ActorRefFrom, AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import { type ChainInput, type ChainState, chainInputSchema } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { type ChainEvent, chainEventSchema } from '../../../machines/contracts/events.ts';
import {
  JOURNAL_VERSION,
  type JournalEntry,
  type JournalWriter,
  type RunStart,
} from '../../../machines/contracts/journal.ts';

import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { failPhase } from '../../../machines/policies/progress.ts';
import { composeAnswer } from '../../../machines/policies/synthesis/compose.ts';
import { unwritten } from '../../../machines/policies/synthesis/outcome.ts';
import { answerOf } from '../../../machines/policies/synthesis/state.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import { onAbort } from '../../internal/async.ts';
import { describeValue } from '../../internal/options.ts';
import { chartOf } from '../charts/chart.ts';
import { promptVersions } from '../prompts/describe-prompt.ts';
import { guardedWriter } from '../recording/guarded-writer.ts';
import { createJournal, type Journal } from '../recording/journal.ts';
import { changesBetween } from '../recording/state-changes.ts';
import { type ChainParts, provideChain } from './actors.ts';
import { createDurableActor, type DurableActor, liveExecutor } from './durable-actor.ts';
import { createEventStream, type RunEvent } from './run-events.ts';

/** A run under way. */
export interface Run {
  readonly runId: string;
  /** Everything that happens, from the beginning, however late one starts to read. */
  readonly events: AsyncIterable<RunEvent>;
  /** Resolves once, always with an answer; it never rejects. */
  readonly answer: Promise<FinalAnswer>;
  /** The journal so far; at the end it is the whole run. */
  readonly journal: readonly JournalEntry[];
  /** Why its journal is no longer written, where the chain keeps journals; null while all is well. The run goes on. */
  readonly journalFailure: string | null;
  /** Tells the run something. Throws `invalid_option` for what is no event; after the end it does nothing. */
  readonly send: (event: ChainEvent) => void;
  /** The user's own wish to stop: the run answers at once with what it has. */
  readonly cancel: (reason?: string) => void;
  /** The XState actor of the chart. */
  readonly actor: ActorRefFrom<typeof chainMachine>;
}

export interface StartOptions {
  readonly signal?: AbortSignal | undefined;
  readonly writer?: JournalWriter | undefined;
}

export function startRun(start: RunStart, parts: ChainParts, { signal, writer }: StartOptions): Run {
  const { clock } = parts;
  const beganAtMs = clock.now();
  const atMs = (): number => clock.now() - beganAtMs;
  const { run, durableActor: stage, obey } = openRun(start, { parts, atMs, ...(writer && { writer }) });
  stage.attach(liveExecutor(clock, stage.deliver));
  stage.start();
  obey(signal);
  return run;
}

export type ChainActor = DurableActor<typeof chainMachine>;

/** A run before it plays: its stage, its journal, and its face for who started it. */
export interface OpenRun {
  readonly run: Run;
  readonly durableActor: ChainActor;
  readonly journal: Journal;
  /** Tells the run when the signal aborts. */
  obey(signal: AbortSignal | undefined): void;
}

export interface RunParts {
  readonly parts: ChainParts;
  /** The milliseconds from the start of the run, now that the entry of this number is written. */
  readonly atMs: (seq: number) => number;
  /** Writes every entry before the run goes on, and is closed at its end. */
  readonly writer?: JournalWriter;
}

export function openRun(start: RunStart, { parts, atMs, writer: given }: RunParts): OpenRun {
  const writer = given && guardedWriter(given);
  const journal = createJournal(atMs);
  const stream = createEventStream(journal.entries);
  if (writer !== undefined) journal.listen(writer.write);
  journal.listen(stream.push);
  journal.append(start);
  const stage = createDurableActor({
    provide: (seams) => provideChain({ ...parts, ...seams }),
    input: inputOfStart(start),
    journal,
    partial: stream.push,
    ...(start.states && { settled: createStateRecorder(journal) }),
  });
  const { actor } = stage;

  let forget = (): void => {};
  const answer = new Promise<FinalAnswer>((resolve) => {
    let state: ChainState = actor.getSnapshot().context;
    const finish = (given: FinalAnswer, told: boolean): void => {
      forget();
      resolve(given);
      if (!told) journal.append({ type: 'answer', answer: given });
      journal.append({ type: 'run-end', status: given.status, usage: given.metadata.usage });
      journal.close();
      writer?.close();
      stream.end();
    };
    actor.subscribe({
      next: (snapshot) => {
        state = snapshot.context;
      },
      error: (error) => finish(answerAfterCrash(state, error), false),
      complete: () => {
        const { output } = actor.getSnapshot();
        if (output === undefined) finish(answerAfterStop(state), false);
        else finish(output, true);
      },
    });
  });

  const send = (event: ChainEvent): void => {
    const read = chainEventSchema.safeParse(event);
    if (!read.success) throw notAnEvent(event);
    stage.deliver({ type: 'delivery', event: read.data });
  };
  // Whoever holds the actor talks to it by way of the journal too.
  actor.send = send;
  actor.stop = () => {
    stage.deliver({ type: 'run-stopped' });
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
    durableActor: stage,
    journal,
    obey(signal) {
      if (signal?.aborted) interrupt();
      else if (signal !== undefined) forget = onAbort(signal, interrupt);
    },
  };
}

function notAnEvent(event: unknown): PostChainError {
  const types = chainEventSchema.options.map((option) => option.shape.type.value).join(', ');
  return new PostChainError(
    'invalid_option',
    `No event of a run: got ${describeValue((event as { type?: unknown } | null)?.type ?? event)}; wanted one of ${types}.`,
  );
}

/** A chart that crashed is a bug; the run still answers with what it had, and says so. */
function answerAfterCrash(state: ChainState, error: unknown): FinalAnswer {
  const failure = unexpectedFailure(error);
  return composed(failure.message, () => {
    const failed = failPhase(state, state.direction, failure);
    return answerOf({ ...state, ...failed, interruption: { kind: 'phase_failed' } });
  });
}

/** Somebody stopped the actor from outside. */
function answerAfterStop(state: ChainState): FinalAnswer {
  const reason = 'the actor was stopped';
  return composed(reason, () => answerOf({ ...state, interruption: { kind: 'interrupted', reason } }));
}

/** Even where the state cannot be read any more there is an answer: one that is made from nothing. */
function composed(why: string, compose: () => FinalAnswer): FinalAnswer {
  try {
    return compose();
  } catch {
    return composeAnswer({}, unwritten('other', `the run broke: ${why}`));
  }
}

const LEAST_ENTRIES = 256;
/** Roughly what an entry takes: a keyframe that is due after so many of them as it is long takes a fraction of the journal. */
const ENTRY_CHARS = 150;

/** Writes how the state of the chart changes, and now and then all of it, so that any state can be had without those long before it. */
function createStateRecorder({ entries, append }: Journal) {
  let state: ChainState | null = null;
  let due = 0;
  return (next: ChainState): void => {
    if (next === state) return;
    if (state === null || entries.length >= due) {
      append({ type: 'keyframe', state: next });
      due = entries.length + Math.max(LEAST_ENTRIES, Math.ceil(JSON.stringify(next).length / ENTRY_CHARS));
    } else append({ type: 'state', changes: changesBetween(state, next) });
    state = next;
  };
}

/** What the journal of a run begins with. */
export function runStart(
  input: ChainInput,
  { models, prompts }: ChainParts,
  { host = null, states = false }: Partial<Pick<RunStart, 'host' | 'states'>> = {},
): RunStart {
  const [modelId = '', ...fallbackModelIds] = models.map(({ id }) => id);
  return {
    type: 'run-start',
    version: JOURNAL_VERSION,
    chart: chartVersion(),
    ...input,
    modelId,
    fallbackModelIds,
    prompts: promptVersions(prompts),
    startedAt: new Date(input.startedAtMs).toISOString(),
    host,
    states,
    redacted: false,
    forkedFrom: null,
  };
}

/** What the chart is started with, out of what the journal begins with. */
export function inputOfStart(start: RunStart): ChainInput {
  const names = Object.keys(chainInputSchema.shape) as (keyof ChainInput)[];
  return Object.fromEntries(names.map((name) => [name, start[name]])) as unknown as ChainInput;
}

let known: RunStart['chart'] | null = null;

/** The chart with the two that are nested in it: what they are called and described as aside, any change to them changes the digest. */
export function chartVersion(): RunStart['chart'] {
  known ??= { id: chainMachine.id, digest: digestOf([chainMachine, actionMachine, attemptMachine]) };
  return known;
}

function digestOf(machines: readonly AnyStateMachine[]): string {
  const outlines = machines.map((machine) => {
    const { states, transitions } = chartOf(machine);
    return [states.map(({ description: _, ...state }) => state), transitions];
  });
  return hexDigest(JSON.stringify(outlines));
}
