import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { type ContextLog, createContextLog } from './context-log.ts';
import { createPlaces, type Places } from './places.ts';
import { createSpanFold, type Spans } from './spans.ts';
import { createStimuli, type Stimuli } from './stimuli.ts';
import { createTimeLine, type TimeLine } from './time-line.ts';
import { createTransitionLog, type TransitionLog } from './transition-log.ts';
import { createUsageLog, type UsageLog } from './usage-log.ts';

/**
 * What the page knows of a run: small folds of its journal, each of which takes every entry once, and can be asked how things stood at
 * any entry. Nothing here knows a chart, a page or a clock.
 */
export interface RunFold {
  readonly places: Places;
  readonly timeLine: TimeLine;
  readonly spans: Spans;
  readonly transitions: TransitionLog;
  readonly context: ContextLog;
  readonly usage: UsageLog;
  readonly stimuli: Stimuli;
  take(entry: JournalEntry): void;
}

export function createRunFold(): RunFold {
  const { places, ...placing } = createPlaces();
  const { timeLine, ...timing } = createTimeLine();
  const { spans, ...spanning } = createSpanFold();
  const { log: transitions, ...moving } = createTransitionLog();
  const { log: context, ...keeping } = createContextLog();
  const { log: usage, ...using } = createUsageLog();
  const { stimuli, ...hearing } = createStimuli();
  const folds = [placing, timing, spanning, moving, keeping, using, hearing];
  return {
    ...{ places, timeLine, spans, transitions, context, usage, stimuli },
    take(entry) {
      for (const fold of folds) fold.take(entry);
    },
  };
}
