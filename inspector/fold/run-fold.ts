import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { SystemEntry } from '../../src/inspection/wire.ts';
import { createPromptReader, type PromptReader } from '../../src/llm/recorded-prompts.ts';
import { type ActorLog, createActorLog } from './actor-log.ts';
import { type ContextLog, createContextLog } from './context-log.ts';
import { createEntryIndex, type EntryIndex } from './entry-index.ts';
import { isExternalEvent } from './external-events.ts';
import { countUpTo } from './sorted.ts';
import { SpanFold, type Spans } from './spans.ts';
import { createStateLog, type StateLog } from './state-log.ts';
import { createTimeLine, type TimeLine } from './time-line.ts';
import { createTransitionLog, type TransitionLog } from './transition-log.ts';

/** The external events of a run. Charts act only on these, and all effects are recorded before the next one. */
interface ExternalEvents {
  /** Their sequence numbers, ascending. */
  readonly seqs: readonly number[];
  /** The step of an entry: from its external event up to, but excluding, the next one. `to` of the last step is Infinity. */
  stepOf(seq: number): { readonly from: number; readonly to: number };
  /** What is recorded of an event that led to no transition. */
  outcomeOf(seq: number): RecordedOutcome;
}

interface RecordedOutcome {
  /** Whether actions handled it. */
  readonly isHandled: boolean;
  /** The guards that were false. */
  readonly ignored: readonly string[];
  /** The machine that ignored it. */
  readonly machine: string | null;
  /** Why the actor of an observed system failed. */
  readonly failure?: unknown;
}

const NO_OUTCOME: RecordedOutcome = { isHandled: false, ignored: [], machine: null };

function createExternalEvents(): { readonly externalEvents: ExternalEvents; take(entry: JournalEntry): void } {
  const seqs: number[] = [];
  const recorded = new Map<number, RecordedOutcome>();
  /** The actor of an observed system that processes the latest event. */
  let actor: string | null = null;

  function takeOutcome(entry: JournalEntry | SystemEntry): void {
    const latest = seqs.at(-1);
    if (latest === undefined || (actor !== null && (entry as { actor?: string }).actor !== actor)) return;
    const before = recorded.get(latest) ?? NO_OUTCOME;
    if (entry.type === 'actor-end' && entry.status === 'error')
      recorded.set(latest, { ...before, failure: entry.error });
    else if (entry.type === 'ignored') {
      const guards = 'guards' in entry ? entry.guards : entry.candidates.flatMap(({ guard }) => guard ?? []);
      const ignored = [...before.ignored, ...guards];
      recorded.set(latest, { ...before, isHandled: false, ignored, machine: entry.machine });
    } else if (entry.type === 'transition') recorded.set(latest, { ...before, isHandled: true });
  }

  return {
    externalEvents: {
      seqs,
      outcomeOf: (seq) => recorded.get(seq) ?? NO_OUTCOME,
      stepOf(seq) {
        const next = countUpTo(seqs, seq);
        return { from: seqs[next - 1] ?? 0, to: seqs[next] ?? Number.POSITIVE_INFINITY };
      },
    },
    take(entry) {
      takeOutcome(entry);
      if (!isExternalEvent(entry)) return;
      actor = entry.type === 'delivery' ? entry.actor || null : null;
      seqs.push(entry.seq);
      // An observed system records which events its machines ignore, and no more of other actors.
      if (actor !== null) recorded.set(entry.seq, { ...NO_OUTCOME, isHandled: true });
    },
  };
}

/**
 * Everything the page derives from a journal: small folds that read each entry once and answer for any entry.
 * Independent of charts, page and clock.
 */
export interface RunFold {
  readonly entries: EntryIndex;
  readonly timeLine: TimeLine;
  readonly spans: Spans;
  readonly transitions: TransitionLog;
  readonly context: ContextLog;
  readonly externalEvents: ExternalEvents;
  readonly states: StateLog;
  readonly actors: ActorLog;
  readonly prompts: Pick<PromptReader, 'at'>;
  take(entry: JournalEntry): void;
}

export function createRunFold(): RunFold {
  const entries = createEntryIndex();
  const spans = new SpanFold();
  const timeLine = createTimeLine(() => spans.isBusy());
  const transitions = createTransitionLog();
  const context = createContextLog();
  const externalEvents = createExternalEvents();
  const states = createStateLog();
  const actors = createActorLog();
  const prompts = createPromptReader();
  return {
    entries: entries.entries,
    timeLine: timeLine.timeLine,
    spans: spans.spans,
    transitions: transitions.log,
    context: context.log,
    externalEvents: externalEvents.externalEvents,
    states,
    actors: actors.log,
    prompts,
    take(entry) {
      // The time line first: it asks what was running before the entry.
      for (const fold of [entries, timeLine, spans, transitions, context, externalEvents, states, actors, prompts])
        fold.take(entry);
    },
  };
}
