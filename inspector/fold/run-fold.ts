import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';

import { type ContextLog, createContextLog } from './context-log.ts';
import { createExternalEvents, type ExternalEvents } from './external-events.ts';
import { createPlaces, type Places } from './places.ts';
import { countUpTo } from './sorted.ts';
import { createSpanFold, type Spans } from './spans.ts';
import { createTimeLine, type TimeLine } from './time-line.ts';
import { createTransitionLog, type TransitionLog } from './transition-log.ts';

/**
 * Everything the page derives from a journal: small folds that read each entry once and answer for any entry.
 * Independent of charts, page and clock.
 */
export interface RunFold {
  readonly places: Places;
  readonly timeLine: TimeLine;
  readonly spans: Spans;
  readonly transitions: TransitionLog;
  readonly context: ContextLog;
  readonly usage: UsageLog;
  readonly externalEvents: ExternalEvents;
  take(entry: JournalEntry): void;
}

export function createRunFold(): RunFold {
  const { places, ...placing } = createPlaces();
  const { timeLine, ...timing } = createTimeLine();
  const { spans, ...spanning } = createSpanFold();
  const { log: transitions, ...moving } = createTransitionLog();
  const { log: context, ...keeping } = createContextLog();
  const { log: usage, ...using } = createUsageLog();
  const { externalEvents, ...hearing } = createExternalEvents();
  const folds = [placing, timing, spanning, moving, keeping, using, hearing];
  return {
    ...{ places, timeLine, spans, transitions, context, usage, externalEvents },
    take(entry) {
      for (const fold of folds) fold.take(entry);
    },
  };
}

/** What model calls used; `estimated`: for some of them characters / 4 was counted. */
interface Used extends TokenUsage {
  readonly modelCalls: number;
}

/** What was used so far. The limits of a run are about its phases; writing the answer has a reserve of its own. */
interface UsageLog {
  phasesBy(seq: number): Used;
  synthesisBy(seq: number): Used;
}

const NOTHING: Used = { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false };

/** Sums after each attempt that ended, so that each is looked up. */
function createUsageLog(): { readonly log: UsageLog; take(entry: JournalEntry): void } {
  const phases = createSums();
  const synthesis = createSums();
  return {
    log: { phasesBy: phases.upTo, synthesisBy: synthesis.upTo },
    take(entry) {
      if (entry.type !== 'attempt-end') return;
      (entry.task === 'synthesis' ? synthesis : phases).add(entry.seq, entry.usage);
    },
  };
}

function createSums() {
  const seqs: number[] = [];
  const sums: Used[] = [];
  return {
    add(seq: number, { inputTokens, outputTokens, estimated }: TokenUsage): void {
      const before = sums.at(-1) ?? NOTHING;
      seqs.push(seq);
      sums.push({
        modelCalls: before.modelCalls + 1,
        inputTokens: before.inputTokens + inputTokens,
        outputTokens: before.outputTokens + outputTokens,
        estimated: before.estimated || estimated,
      });
    },
    upTo: (seq: number): Used => sums[countUpTo(seqs, seq) - 1] ?? NOTHING,
  };
}
