import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { decisionReason } from './decision-words.ts';
import { capitalize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import type { AttemptSpan } from './spans.ts';
import { answerUpTo, runStart } from './story.ts';

/** What a run used so far. Cost is null if a price is unknown. */
export interface RunFigures {
  readonly ms: number;
  readonly cycles: number;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: { readonly amount: number; readonly currency: string } | null;
}

export function figuresOf(log: RunLog, fold: RunFold, count: number): RunFigures {
  const [phases, synthesis] = [fold.usage.phasesAt(count - 1), fold.usage.synthesisAt(count - 1)];
  const usage = [phases, synthesis];
  return {
    ms: count === 0 ? 0 : fold.timeLine.atMs(count - 1),
    cycles: fold.spans.phases.at(-1)?.cycle ?? 0,
    calls: usage.reduce((sum, { modelCalls }) => sum + modelCalls, 0),
    tokens: usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0),
    cost: answerUpTo(log, fold, count - 1)?.answer.metadata.cost ?? costOf(log, fold.spans.attempts),
  };
}

/** From this number of calls on, the cost is known only at the end. */
const MAX_PRICED = 500;

/** The cost of ended model calls; null if the price of a called model is unknown. */
function costOf(log: RunLog, attempts: readonly AttemptSpan[]): RunFigures['cost'] {
  const start = runStart(log);
  if (start === null || start.currency === null || attempts.length > MAX_PRICED) return null;
  let amount = 0;
  for (const { from, usage } of attempts) {
    const entry = log.entry(from);
    const price = entry.type === 'attempt-start' ? start.prices[entry.model] : null;
    if (price == null) return null;
    const { inputTokens, outputTokens } = usage ?? { inputTokens: 0, outputTokens: 0 };
    amount += (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
  }
  return { amount, currency: start.currency };
}

/** Why a run is in its status, in one sentence. */
export function statusReason(run: InspectedRun, log: RunLog, fold: RunFold, count: number): string {
  const answer = answerUpTo(log, fold, count - 1)?.answer;
  const phase = fold.spans.phases.at(-1);
  if (answer !== undefined) {
    const { decision, explanation } = answer.metadata;
    if (answer.status !== 'completed' && explanation !== '') return explanation;
    if (decision?.complete !== true) return explanation;
    return `${decisionReason(decision, runStart(log)?.thresholds ?? null)}, in cycle ${decision.cycle}.`;
  }
  const where = phase === undefined ? 'before its first phase' : `in ${capitalize(phase.phase)}, cycle ${phase.cycle}`;
  if (run.kind === 'system') return '';
  if (run.status === 'running') return phase === undefined ? 'Starting.' : `${capitalize(where)}.`;
  if (run.status === 'damaged') return `The journal is damaged; it is readable up to entry ${Math.max(0, count - 1)}.`;
  return run.status === 'interrupted' ? `Its process ended ${where}, without an answer.` : '';
}
