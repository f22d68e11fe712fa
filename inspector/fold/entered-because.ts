import { entryTitle } from '../../src/chain/presentation/entry-words.ts';
import type { RunLog } from '../wire/run-log.ts';
import { runStart } from './answer.ts';
import { decisionReason } from './decision-words.ts';
import { entriesIn, entryAt } from './entry-index.ts';
import { capitalize, pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countStartedBy, countUpTo, lastUpTo } from './sorted.ts';
import type { AttemptSpan, PhaseSpan } from './spans.ts';

export function enteredBecause(log: RunLog, fold: RunFold, { from, phase }: PhaseSpan): string {
  const { spans, entries } = fold;
  const before = spans.phases[countStartedBy(spans.phases, from) - 2];
  if (before === undefined) return `The run begins with ${capitalize(phase)}.`;
  const since = (type: 'recovery' | 'decision'): number | null => {
    const seq = lastUpTo(entries.of(type), from);
    return seq !== undefined && seq > before.from ? seq : null;
  };
  const recovery = entryAt(log, since('recovery'), 'recovery');
  if (recovery?.action === 'repeat') return `Repeated because it failed: ${recovery.failure.message}`;
  if (recovery?.action === 'skip')
    return `Entered because ${capitalize(recovery.phase)} failed and was left out: ${recovery.failure.message}`;
  const decision = entryAt(log, since('decision'), 'decision')?.decision;
  if (decision !== undefined)
    return `Entered because the run continued after cycle ${decision.cycle}: ${decisionReason(decision, runStart(log)?.input.thresholds ?? null)}.`;
  if (isEarly(log, fold, from)) return 'Entered early because the context was too large.';
  return `Entered because ${capitalize(before.phase)} ${before.failure === null ? 'succeeded' : 'ended'}.`;
}

/** Whether the context had to shrink first: the last transition of the chart before a phase says so. */
function isEarly(log: RunLog, { transitions }: RunFold, from: number): boolean {
  const before = countUpTo(transitions.seqs, from);
  return transitions.seqs
    .slice(Math.max(0, before - NEAR), before)
    .some((seq) =>
      entryAt(log, seq, 'transition')?.candidates.some(
        ({ guard, result }) => guard === 'contextMustShrink' && result === 'taken',
      ),
    );
}

/** A phase begins within a few transitions of the one that chose it. */
const NEAR = 4;

/** Why a model call was repeated, in one sentence; null for a first attempt. */
export function calledAgainBecause(log: RunLog, { spans, entries }: RunFold, span: AttemptSpan): string | null {
  if (span.attempt === 1) return null;
  const failed = spans.attempts.findLast(({ attemptId, from }) => attemptId === span.attemptId && from < span.from);
  const retry = entryAt(log, lastUpTo(entries.of('attempt-retry'), span.from), 'attempt-retry');
  const model = retry !== null && retry.model > 0 ? `, now with fallback model ${retry.model}` : '';
  return `Called again because attempt ${span.attempt - 1} failed${model}: ${failed?.failure?.message ?? 'it was stopped'}`;
}

/** Why no more tools ran in these entries, in a sentence each; ordinary ends need none. */
export function toolsEndedBecause(log: RunLog, { entries }: RunFold, from: number, to: number): readonly string[] {
  return entriesIn(log, entries, 'capability-stop', from, to).flatMap((stop) => {
    const words = entryTitle(stop);
    if (words === null) return [];
    const problem = stop.problem === null ? '' : ` ${capitalize(stop.problem).replace(/\.$/u, '')}.`;
    const failed = stop.failed > 0 ? `, ${stop.failed} failed` : '';
    return [`${words}.${problem} ${pluralize(stop.runs, 'tool run')} so far${failed}.`];
  });
}
