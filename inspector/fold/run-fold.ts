import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ActorState, RunCharts, SystemState } from '../../src/inspection/wire.ts';
import { isCallFact } from '../../src/llm/call-facts.ts';
import { createPromptReader, type PromptReader } from '../../src/llm/recorded-prompts.ts';
import type { RunLog } from '../wire/run-log.ts';
import { type ActorEntry, ActorReader } from './actor-entries.ts';
import { type ActorLog, ActorLogFold, type ActorRecord } from './actor-log.ts';
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
  /** The step of an entry: from its external event up to, but excluding, the next one. `to` of the last step is Infinity. */
  stepOf(seq: number): { readonly from: number; readonly to: number };
  /** What is recorded of an event of a run that led to no transition. */
  outcomeOf(seq: number): RecordedOutcome;
}

interface RecordedOutcome {
  /** Whether actions handled it. */
  readonly isHandled: boolean;
  /** The guards that were false. */
  readonly ignored: readonly string[];
  /** The machine that ignored it. */
  readonly machine: string | null;
}

const NO_OUTCOME: RecordedOutcome = { isHandled: false, ignored: [], machine: null };

function createExternalEvents() {
  const seqs: number[] = [];
  const recorded = new Map<number, RecordedOutcome>();

  function takeOutcome(entry: JournalEntry): void {
    const latest = seqs.at(-1);
    if (latest === undefined) return;
    const before = recorded.get(latest) ?? NO_OUTCOME;
    if (entry.type === 'ignored') {
      const ignored = [...before.ignored, ...entry.candidates.flatMap(({ guard }) => guard ?? [])];
      recorded.set(latest, { isHandled: false, ignored, machine: entry.machine });
    } else if (entry.type === 'transition') recorded.set(latest, { ...before, isHandled: true });
  }

  return {
    externalEvents: {
      outcomeOf: (seq) => recorded.get(seq) ?? NO_OUTCOME,
      stepOf(seq) {
        const next = countUpTo(seqs, seq);
        return { from: seqs[next - 1] ?? 0, to: seqs[next] ?? Number.POSITIVE_INFINITY };
      },
    } satisfies ExternalEvents as ExternalEvents,
    take(entry: JournalEntry): void {
      takeOutcome(entry);
      if (isExternalEvent(entry)) seqs.push(entry.seq);
    },
    /** The records of an actor have the outcomes of its events. */
    takeOfActor({ type, seq }: ActorEntry): void {
      if (type === 'delivery' || type === 'failed' || type === 'stopped' || type === 'migrated') seqs.push(seq);
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
  /** The charts of the actors of a system, by id, each with the machine's chart that it copies. */
  readonly charts: ReadonlyMap<string, { readonly of: string }>;
  readonly prompts: Pick<PromptReader, 'at'>;
  take(entry: JournalEntry): void;
  /** Reads a stored entry of an actor of any machine, which `takeOfActor` takes next. */
  readonly readOfActor: ActorReader['read'];
  takeOfActor(entry: ActorEntry): void;
  /** Takes state frames, each as JSON. `from`: the number of the first. */
  takeStates(from: number, frames: readonly string[]): void;
}

/** The entries of a run or a system, with what they mean. */
export interface LoadedEntries {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
}

export function createRunFold(): RunFold {
  const entries = createEntryIndex();
  const spans = new SpanFold();
  const timeLine = createTimeLine(() => spans.isBusy());
  const transitions = createTransitionLog();
  const context = createContextLog();
  const externalEvents = createExternalEvents();
  const states = createStateLog();
  const actors = new ActorLogFold((path, seq) => spans.endActor(path, seq));
  const prompts = createPromptReader();
  const reader = new ActorReader((path, machine, seq) => actors.chartOf(path, machine, seq));

  /** Adds the positions that the journal does not contain. The states of an actor may arrive after its entries. */
  function placeActor({ machine }: ActorRecord, state: ActorState, isNew: boolean): void {
    const { started, initial, leaves, moved } = state;
    if (machine === null) return;
    if (isNew && initial !== null && (moved ?? -1) !== started)
      transitions.log.place(machine, { targets: initial, since: started, isInitial: true });
    if (moved !== null) transitions.log.place(machine, { targets: leaves, since: moved, isInitial: false });
  }

  /** The entries with states that are yet to be shown: states may arrive before their entries. */
  let waiting: readonly number[] = [];

  function showStates(count: number): void {
    if (!waiting.some((seq) => seq < count)) return;
    for (const seq of waiting.filter((one) => one < count))
      actors.takeStates(systemAt(states, seq - 1), systemAt(states, seq), seq, placeActor);
    waiting = waiting.filter((seq) => seq >= count);
  }

  return {
    entries: entries.entries,
    timeLine: timeLine.timeLine,
    spans: spans.spans,
    transitions: transitions.log,
    context: context.log,
    externalEvents: externalEvents.externalEvents,
    states,
    actors: actors.log,
    charts: actors.charts,
    prompts,
    take(entry) {
      // The time line first: it asks what was running before the entry.
      for (const fold of [entries, timeLine, spans, transitions, context, externalEvents, prompts]) fold.take(entry);
    },
    readOfActor: (entry) => reader.read(entry),
    takeOfActor(entry) {
      // Their entries have the members of an entry of a run that these folds read.
      const shared = entry as unknown as JournalEntry;
      for (const fold of [entries, timeLine]) fold.take(shared);
      if ('actor' in entry && isCallFact(entry)) for (const fold of [spans, prompts]) fold.take(shared);
      if (entry.type === 'transition' || entry.type === 'timer-start') transitions.take(shared, false);
      if (entry.type === 'delivery' && entry.sender === null && !entry.isExternal)
        transitions.log.endTimer(entry.actor, entry.event.type, entry.seq);
      externalEvents.takeOfActor(entry);
      actors.take(entry);
      showStates(entry.seq + 1);
    },
    takeStates(from, frames) {
      const seqs = states.add(from, frames);
      const { count } = timeLine.timeLine;
      // Only systems have states of actors.
      if (count > 0 && actors.log.length === 0) return;
      waiting = [...waiting, ...seqs];
      if (count > 0) showStates(count);
    },
  };
}

const systemAt = (states: StateLog, seq: number): SystemState => (states.at(seq) ?? {}) as SystemState;
