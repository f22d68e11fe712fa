import { type ActorRefFrom, createActor } from 'xstate';
import { chainMachine } from '../../machines/chain/chain.machine.ts';
import { chainVerdicts } from '../../machines/chain/verdicts.ts';
import { type ChainEvent, chainEventSchema } from '../../machines/contracts/chain-event.ts';
import type { ChainInput, ChainState } from '../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { JOURNAL_VERSION, type JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { initialMessages } from '../../machines/policies/progress.ts';
import { createVerdictLog, listenToGuards } from '../journal/guard-verdicts.ts';
import { createJournal } from '../journal/journal.ts';
import { observeSystem } from '../journal/observe.ts';
import { onAbort } from '../on-abort.ts';
import { promptVersions } from '../prompts/prompt-versions.ts';
import { spell } from '../refusal.ts';
import { type ActorParts, joinActors } from './actors.ts';
import { createEventStream, type RunEvent } from './event-stream.ts';
import { answerAfterCrash, answerAfterStop } from './last-resort.ts';

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
  const [modelId = '', ...fallbackModelIds] = parts.models.map(({ id }) => id);
  journal.append({
    type: 'run-start',
    version: JOURNAL_VERSION,
    runId,
    request,
    messages: [...initialMessages(input)],
    mode,
    modelId,
    fallbackModelIds,
    prompts: promptVersions(parts.prompts),
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

  let forget = (): void => {};
  const answer = new Promise<FinalAnswer>((resolve) => {
    let state: ChainState = actor.getSnapshot().context;
    const finish = (given: FinalAnswer, told: boolean): void => {
      forget();
      resolve(given);
      if (!told) journal.append({ type: 'answer', answer: given });
      journal.append({ type: 'run-end', status: given.status, usage: given.metadata.usage });
      journal.close();
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
    if (actor.getSnapshot().status !== 'active') return;
    journal.append({ type: 'delivery', event: read.data });
    actor.send(read.data);
  };
  const interrupt = (): void => send({ type: 'run.interrupted', reason: 'the signal was aborted' });

  actor.start();
  if (signal?.aborted) interrupt();
  else if (signal !== undefined) forget = onAbort(signal, interrupt);

  const cancel = (reason?: string): void => send({ type: 'run.cancelled', ...(reason && { reason }) });
  return { runId, events: stream, answer, journal: journal.entries, send, cancel, actor };
}

function notAnEvent(event: unknown): PostChainError {
  const types = chainEventSchema.options.map((option) => option.shape.type.value).join(', ');
  return new PostChainError(
    'invalid_option',
    `No event of a run: got ${spell((event as { type?: unknown } | null)?.type ?? event)}; wanted one of ${types}.`,
  );
}
