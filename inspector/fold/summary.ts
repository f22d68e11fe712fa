import { explanationOf, type FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { addUsage } from '../../machines/policies/usage.ts';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { answerUpTo, runStart } from './answer.ts';
import { decisionReason } from './decision-words.ts';
import { capitalize, formatScore } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { type Spans, usageOf } from './spans.ts';

/** Cost is null if a price is unknown. */
export interface RunFigures {
  readonly ms: number;
  readonly cycles: number;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: { readonly amount: number; readonly currency: string } | null;
}

export function figuresOf(log: RunLog, fold: RunFold, count: number): RunFigures {
  const { spans, timeLine, usage } = fold;
  const used = addUsage(usage.phasesAt(count - 1), usage.synthesisAt(count - 1));
  return {
    ms: count === 0 ? 0 : timeLine.atMs(count - 1),
    cycles: spans.phases.at(-1)?.cycle ?? 0,
    calls: used.modelCalls,
    tokens: used.inputTokens + used.outputTokens,
    cost: answerUpTo(log, fold, count - 1)?.answer.metadata.cost ?? costSoFar(spans),
  };
}

function costSoFar({ attempts, currency }: Spans): RunFigures['cost'] {
  const { cost } = usageOf(attempts, currency);
  return cost === null || currency === null ? null : { amount: cost, currency };
}

const writingOf = ({ attempts }: Spans) =>
  attempts.findLast(({ task, reply }) => task === 'synthesis' && reply !== null) ?? null;

/** The id of the model that wrote the answer; null if it is unknown, or if no model did. */
export function writerOf(log: RunLog, { spans }: RunFold, { metadata }: FinalAnswer): string | null {
  const [start, writing] = [runStart(log), writingOf(spans)];
  if (start === null || writing === null || metadata.synthesis.writtenBy !== 'model') return null;
  return [start.modelId, ...start.fallbackModelIds][writing.model] ?? null;
}

/** Why the answer has less confidence than its writer stated, in a few words and in full; null if it does not. */
export function confidenceCap(log: RunLog, { spans }: RunFold, { confidence, metadata }: FinalAnswer) {
  const reply = writingOf(spans)?.reply;
  const entry = reply == null ? null : log.entry(reply);
  const value = entry?.type === 'call-event' && entry.event.type === 'reply.ended' ? entry.event.reply.value : null;
  const { confidence: stated } = Object(value) as { readonly confidence?: unknown };
  if (metadata.synthesis.writtenBy !== 'model' || typeof stated !== 'number' || stated <= confidence) return null;
  const isNothing = metadata.reason === 'no_evidence';
  return {
    short: isNothing ? 'the answer says that nothing was found' : 'the evidence does not support the answer',
    full: `The model stated ${formatScore(stated, confidence)}. The confidence is capped at ${formatScore(confidence, stated)} (thresholds.ungroundedConfidence), because ${isNothing ? 'the answer says that nothing was found' : 'the evidence supports less of the answer than thresholds.grounding requires'}.`,
  };
}

/** Why a run is in its status, in one sentence. */
export function statusReason(run: InspectedRun, log: RunLog, fold: RunFold, count: number): string {
  const answer = answerUpTo(log, fold, count - 1)?.answer;
  const phase = fold.spans.phases.at(-1);
  if (answer !== undefined) {
    const { decision } = answer.metadata;
    if (answer.reasons.length > 0 || decision?.complete !== true) return explanationOf(answer);
    const reason = `${decisionReason(decision, runStart(log)?.thresholds ?? null)}, in cycle ${decision.cycle}`;
    const { confidence } = answer;
    // The decision rates Yield's answer, from which the final one is written.
    const differs = decision.rule === 'confidenceReached' && decision.inputs['confidence'] !== confidence;
    return `${reason}${differs ? `; the final answer has ${formatScore(confidence)}` : ''}.`;
  }
  const where = phase === undefined ? 'before its first phase' : `in ${capitalize(phase.phase)}, cycle ${phase.cycle}`;
  if (run.kind === 'system') return '';
  if (run.status === 'running') return phase === undefined ? 'Starting.' : `${capitalize(where)}.`;
  if (run.status === 'damaged') return `The journal is damaged; it is readable up to entry ${Math.max(0, count - 1)}.`;
  if (run.status === 'waiting') return `It waits ${where}, outside memory.`;
  return run.status === 'interrupted' ? `Its process ended ${where}, without an answer.` : '';
}
