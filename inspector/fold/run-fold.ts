import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { addCall, NO_USAGE } from '../../machines/policies/usage.ts';
import { createPromptReader, type PromptReader } from '../../src/chain/journal/recorded-prompts.ts';
import { type ContextLog, createContextLog } from './context-log.ts';
import { createEntryIndex, type EntryIndex } from './entry-index.ts';
import { createExternalEvents, type ExternalEvents } from './external-events.ts';
import { countUpTo } from './sorted.ts';
import { createSpanFold, type Spans } from './spans.ts';
import { createStateLog, type StateLog } from './state-log.ts';
import { createTimeLine, type TimeLine } from './time-line.ts';
import { createTransitionLog, type TransitionLog } from './transition-log.ts';

/** A value that changes at certain entries, looked up by entry. */
interface RunningTotal<Value> {
  /** Entries must come in order. */
  update(seq: number, change: (before: Value) => Value): void;
  at(seq: number): Value;
}

function createRunningTotal<Value>(initial: Value): RunningTotal<Value> {
  const seqs: number[] = [];
  const values: Value[] = [];
  return {
    update(seq, change) {
      seqs.push(seq);
      values.push(change(values.at(-1) ?? initial));
    },
    at: (seq) => values[countUpTo(seqs, seq) - 1] ?? initial,
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
  readonly usage: UsageLog;
  readonly externalEvents: ExternalEvents;
  readonly states: StateLog;
  readonly prompts: Pick<PromptReader, 'at'>;
  take(entry: JournalEntry): void;
}

export function createRunFold(): RunFold {
  const entries = createEntryIndex();
  const spans = createSpanFold();
  const timeLine = createTimeLine(spans.isBusy);
  const transitions = createTransitionLog();
  const context = createContextLog();
  const usage = createUsageLog();
  const externalEvents = createExternalEvents();
  const states = createStateLog();
  const prompts = createPromptReader();
  return {
    entries: entries.entries,
    timeLine: timeLine.timeLine,
    spans: spans.spans,
    transitions: transitions.log,
    context: context.log,
    usage: usage.log,
    externalEvents: externalEvents.externalEvents,
    states,
    prompts,
    take(entry) {
      // The time line first: it asks what was running before the entry.
      for (const fold of [entries, timeLine, spans, transitions, context, usage, externalEvents, states, prompts])
        fold.take(entry);
    },
  };
}

/** Usage at each entry, without costs. A run's limits apply to its phases; the synthesis has a separate reserve. */
interface UsageLog {
  phasesAt(seq: number): Usage;
  synthesisAt(seq: number): Usage;
}

function createUsageLog(): { readonly log: UsageLog; take(entry: JournalEntry): void } {
  const phases = createRunningTotal(NO_USAGE);
  const synthesis = createRunningTotal(NO_USAGE);
  return {
    log: { phasesAt: phases.at, synthesisAt: synthesis.at },
    take(entry) {
      if (entry.type !== 'attempt-end') return;
      const { task, seq, usage } = entry;
      (task === 'synthesis' ? synthesis : phases).update(seq, (before) => addCall(before, usage, null));
    },
  };
}
