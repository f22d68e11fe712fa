import { type ActorRefFrom, createActor } from 'xstate';
import { chainMachine } from '../../machines/chain/chain.machine.ts';
import { chainVerdicts } from '../../machines/chain/verdicts.ts';
import { type ChainEvent, chainEventSchema } from '../../machines/contracts/chain-event.ts';
import type { ChainInput, ChainState } from '../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { JOURNAL_VERSION, type JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { failPhase } from '../../machines/policies/progress.ts';
import { composeAnswer } from '../../machines/policies/synthesis.ts';
import { createVerdictLog, listenToGuards } from '../journal/guard-verdicts.ts';
import { createJournal } from '../journal/journal.ts';
import { observeSystem } from '../journal/observe.ts';
import { type ActorParts, joinActors } from './actors.ts';
import { createEventStream, type RunEvent } from './event-stream.ts';

/** A run under way. */
export interface Run {
  readonly runId: string;
  /** Everything that happens, from the beginning, however late one starts to read. */
  readonly events: AsyncIterable<RunEvent>;
  /** Resolves once, always with an answer; it never rejects. */
  readonly answer: Promise<FinalAnswer>;
  /** The journal so far; at the end it is the whole run. */
  readonly journal: readonly JournalEntry[];
  /** Tells the run something. Throws `invalid_option` for what is no event; after the end it does nothing. */
  readonly send: (event: ChainEvent) => void;
  /** The user's own wish to stop: the run answers at once with what it has. */
  readonly cancel: (reason?: string) => void;
  /** The XState actor of the chart. */
  readonly actor: ActorRefFrom<typeof chainMachine>;
}

export function startRun(input: ChainInput, parts: Omit<ActorParts, 'watcher'>, signal?: AbortSignal): Run {
  const { clock } = parts;
  const journal = createJournal(() => clock.now());
  const stream = createEventStream(journal.entries);
  journal.listen(stream.push);
  const { runId, request, mode, limits, thresholds, startedAtMs } = input;
  const startedAt = new Date(startedAtMs).toISOString();
  const modelId = parts.model.id;
  journal.append({
    type: 'run-start',
    version: JOURNAL_VERSION,
    runId,
    request,
    mode,
    modelId,
    startedAt,
    limits,
    thresholds,
  });
  const verdicts = createVerdictLog();
  const actor = createActor(
    chainMachine.provide({
      actors: joinActors({ ...parts, watcher: { verdicts, record: journal.append, partial: stream.push } }),
      guards: listenToGuards(chainVerdicts, verdicts),
    }),
    { input, clock, inspect: observeSystem(journal.append, verdicts) },
  );

  const answer = new Promise<FinalAnswer>((resolve) => {
    let state: ChainState = actor.getSnapshot().context;
    const finish = (given: FinalAnswer): void => {
      signal?.removeEventListener('abort', interrupt);
      journal.append({ type: 'run-end', status: given.status, usage: given.metadata.usage });
      stream.end();
      resolve(given);
    };
    actor.subscribe({
      next: (snapshot) => {
        state = snapshot.context;
      },
      error: (error) => finish(answerAfterCrash(state, error)),
      complete: () => finish(actor.getSnapshot().output ?? answerAfterStop(state)),
    });
  });

  const send = (event: ChainEvent): void => {
    const read = chainEventSchema.safeParse(event);
    if (!read.success) throw notAnEvent(event);
    if (actor.getSnapshot().status !== 'active') return;
    journal.append({ type: 'delivery', event: read.data });
    actor.send(read.data);
  };
  const interrupt = (): void => send({ type: 'run.interrupted', reason: 'the signal was aborted' });

  actor.start();
  if (signal?.aborted) interrupt();
  else signal?.addEventListener('abort', interrupt);

  const cancel = (reason?: string): void => send({ type: 'run.cancelled', ...(reason && { reason }) });
  return { runId, events: stream, answer, journal: journal.entries, send, cancel, actor };
}

/** A chart that crashed is a bug; the run still answers with what it had, and says so. */
function answerAfterCrash(state: ChainState, error: unknown): FinalAnswer {
  const failed = failPhase(state, state.direction, unexpectedFailure(error));
  return composeAnswer({ ...state, ...failed, interruption: { kind: 'phase_failed' } });
}

/** Somebody stopped the actor from outside. */
function answerAfterStop(state: ChainState): FinalAnswer {
  return composeAnswer({ ...state, interruption: { kind: 'interrupted', reason: 'the actor was stopped' } });
}

function notAnEvent(event: unknown): PostChainError {
  const types = chainEventSchema.options.map((option) => option.shape.type.value).join(', ');
  const got = JSON.stringify(event)?.slice(0, 100) ?? typeof event;
  return new PostChainError('invalid_option', `No event of a run: got ${got}; wanted one of ${types}.`);
}
