import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Limits } from '../../machines/contracts/limits.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { ContextStatistics } from '../../machines/contracts/phase-io.ts';
import { removableCount } from '../../machines/policies/context.ts';
import { tokensAllowed } from '../../machines/policies/usage.ts';
import type { RunLog } from '../wire/run-log.ts';
import { runStart } from './answer.ts';
import type { ContextAt } from './context-at.ts';
import type { EntryIndex } from './entry-index.ts';
import { formatDecimal } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo, lastStartedBy, lastUpTo } from './sorted.ts';

export interface Meter {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: 'tokens' | 'calls' | 'messages' | 'cycles' | 'ms';
  /** How the value was estimated; null if it was counted. */
  readonly note: string | null;
}

interface Evaluated {
  readonly seq: number;
  readonly step: number;
  readonly statistics: ContextStatistics;
  readonly problem: string | null;
}

export interface Budget {
  readonly context: readonly Meter[];
  readonly run: readonly Meter[];
  readonly evaluated: Evaluated | null;
}

const CHARS_PER_TOKEN = 4;

export function budgetAt(log: RunLog, fold: RunFold, { messages, state }: ContextAt, seq: number): Budget | null {
  const start = runStart(log);
  if (start === null) return null;
  const limits = state?.limits ?? limitsAt(log, fold.entries, start.limits, seq);
  const thresholds = state?.thresholds ?? start.thresholds;
  const evaluated = evaluatedAt(log, fold.entries, seq);
  const allowed = evaluated?.statistics.tokensAllowed ?? tokensAllowed({ ...start, thresholds });
  const removable = removableCount(messages);
  const phases = fold.usage.phasesAt(seq);
  const synthesis = fold.usage.synthesisAt(seq);
  const guessed = (estimated: boolean): string | null => (estimated ? 'partly estimated: characters / 4' : null);
  return {
    evaluated,
    context: [
      { name: 'Context', ...tokensOf(messages, state?.tokensPerChar), limit: allowed, unit: 'tokens' },
      { name: 'Removable messages', value: removable, limit: limits.maxMessages, unit: 'messages', note: null },
    ],
    run: [
      {
        name: 'Phase tokens',
        unit: 'tokens',
        limit: limits.maxTokens,
        note: guessed(phases.estimated),
        value: phases.inputTokens + phases.outputTokens,
      },
      { name: 'Model calls', value: phases.modelCalls, limit: limits.maxModelCalls, unit: 'calls', note: null },
      {
        name: 'Answer tokens',
        unit: 'tokens',
        limit: limits.synthesisReserveTokens,
        value: synthesis.inputTokens + synthesis.outputTokens,
        note: guessed(synthesis.estimated),
      },
      { name: 'Cycles', value: cycleAt(fold, seq), limit: limits.maxCycles, unit: 'cycles', note: null },
      { name: 'Time', value: fold.timeLine.atMs(seq), limit: limits.totalMs, unit: 'ms', note: null },
    ],
  };
}

function tokensOf(messages: readonly Message[], tokensPerChar: number | undefined) {
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  const rate = tokensPerChar ?? 1 / CHARS_PER_TOKEN;
  const note =
    tokensPerChar === undefined
      ? `estimated: characters / ${CHARS_PER_TOKEN}`
      : `estimated: ${formatDecimal(tokensPerChar)} tokens per character, from the last measurement`;
  return { value: Math.ceil(chars * rate), note };
}

/** The cycle of the latest phase; 0 before the first. */
function cycleAt({ spans: { phases } }: RunFold, seq: number): number {
  return lastStartedBy(phases, seq)?.cycle ?? 0;
}

function evaluatedAt(log: RunLog, entries: EntryIndex, seq: number): Evaluated | null {
  const at = lastUpTo(entries.of('context-evaluated'), seq);
  const entry = at === undefined ? null : log.entry(at);
  if (entry?.type !== 'context-evaluated') return null;
  return { seq: entry.seq, step: entry.step, statistics: entry.statistics, problem: entry.problem };
}

/** The initial limits with later adjustments, for journals without states. */
function limitsAt(log: RunLog, entries: EntryIndex, initialLimits: Limits, seq: number): Limits {
  const all = entries.of('delivery');
  return all.slice(0, countUpTo(all, seq)).reduce((limits, at) => withAdjustment(limits, log.entry(at)), initialLimits);
}

function withAdjustment(limits: Limits, entry: JournalEntry): Limits {
  if (entry.type !== 'delivery' || entry.event.type !== 'run.adjusted') return limits;
  return { ...limits, ...entry.event.limits } as Limits;
}
