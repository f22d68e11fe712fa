import type { chainMachine } from '../../../machines/chain/chain.machine.ts';
import { type ChainEvent, chainEventSchema } from '../../../machines/contracts/chain-event.ts';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { JournalWriter } from '../../../machines/contracts/journal-store.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { describeValue } from '../../internal/invalid-option.ts';
import { onAbort } from '../../internal/on-abort.ts';
import { guardedWriter } from '../recording/guarded-writer.ts';
import { createJournal, type Journal } from '../recording/journal.ts';
import { type ChainParts, provideChain } from './actors.ts';
import { createDurableActor, type DurableActor } from './durable-actor.ts';
import { createEventStream } from './event-stream.ts';
import { answerAfterCrash, answerAfterStop } from './fallback-answer.ts';
import type { Run } from './run.ts';
import { inputOfStart } from './run-start.ts';
import { createStateRecorder } from './state-recorder.ts';

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
