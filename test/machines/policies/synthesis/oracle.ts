import type { Budget, Degradation } from '../../../../machines/contracts/synthesis.ts';
import type { DrawnInput } from './draw-input.ts';
import type { Facts } from './facts.ts';

/** How the writing went, as the test knows it. */
export interface Told {
  readonly wrote: { readonly text: string; readonly confidence: number } | null;
  readonly fallback: 'prompt' | 'model' | 'validation' | 'other' | null;
  readonly tokens: number;
}

/** What the requirements want of the answer, worked out from what was drawn: no code of the product is asked. */
export interface Wanted {
  readonly reason: Degradation | null;
  readonly reasons: readonly Degradation[];
  readonly ttlExhausted: boolean;
  /** Null: there is nothing to answer from. */
  readonly text: string | null;
  readonly confidence: number;
  readonly budget: Budget;
}

/** [E5]: the run's own ends, then incomplete state > TTL > zero passes > not converged, and what is only told. */
const PRECEDENCE: readonly Degradation[] = [
  'cancelled',
  'interrupted',
  'model_unavailable',
  'incomplete_state',
  'deadline_passed',
  'budget_exhausted',
  'ttl_exhausted',
  'zero_passes',
  'loop_broken',
  'not_converged',
  'source_failed',
  'context_over_limit',
  'synthesis_failed',
];

export function wantedOf({ facts, bad }: DrawnInput, told: Told): Wanted {
  const holds = conditions(facts, bad, told);
  const reasons = PRECEDENCE.filter((reason) => holds[reason]);
  const text = textOf(facts);
  return {
    reasons,
    reason: reasons[0] ?? null,
    ttlExhausted: holds.ttl_exhausted,
    text: told.wrote?.text ?? text,
    confidence: told.wrote?.confidence ?? confidenceOf(facts),
    budget: budgetOf(facts, told),
  };
}

function conditions(facts: Facts, bad: readonly string[], told: Told): Readonly<Record<Degradation, boolean>> {
  const { run, ttl, passes, converged } = facts;
  const kind = run.interruption?.kind;
  const rule = run.decision?.rule;
  const done = facts.steps.map(({ phase }) => phase);
  const lost = facts.failures.some(({ phase }) => !done.includes(phase));
  const noAnswer = typeof run.answer === 'string' && !visible(run.answer);
  const nothing = passes !== 0 && textOf(facts) === null;
  return {
    cancelled: kind === 'cancelled',
    interrupted: kind === 'interrupted',
    model_unavailable: kind === 'model_unavailable',
    incomplete_state:
      bad.length > 0 || kind === 'phase_failed' || (lost && kind !== 'model_unavailable') || noAnswer || nothing,
    deadline_passed: kind === 'deadline',
    budget_exhausted: kind === 'budget' || rule === 'budgetExhausted',
    ttl_exhausted: ttl === 0 || rule === 'cycleLimitReached',
    zero_passes: passes === 0,
    loop_broken: rule === 'loopDetected',
    not_converged:
      converged === false && run.answer !== null && !(kind === 'finished_by_user' && run.mode === 'manual'),
    source_failed: run.sourceFailure !== null,
    context_over_limit: run.excess.tokens > 0 || run.excess.messages > 0,
    synthesis_failed: told.fallback !== null,
  };
}

const visible = (text: string): boolean => text.replace(/[\s\p{Cc}\p{Cf}]/gu, '') !== '';

/** The best of what there is, the most finished first. */
function textOf({ run, steps }: Facts): string | null {
  if (run.draft !== null && visible(run.draft.text)) return run.draft.text;
  if (run.answer && visible(run.answer)) return run.answer;
  const said = steps.filter(({ content }) => visible(content));
  for (const phase of ['yield', 'understanding', 'experience', 'action']) {
    const step = said.findLast((one) => one.phase === phase);
    if (step !== undefined) return step.content;
  }
  return said.findLast(({ phase }) => phase !== 'intention' && phase !== 'observation')?.content ?? null;
}

function confidenceOf(facts: Facts): number {
  const { run, confidence } = facts;
  if (run.draft !== null) return visible(run.draft.text) ? run.draft.confidence : 0;
  return textOf(facts) === null ? 0 : confidence;
}

const MOST = 2 ** 53 - 1;

function budgetOf({ run, passes, ttl }: Facts, told: Told): Budget {
  const { limits, usage } = run;
  const of = (limit: number | null, used: number) => ({
    limit,
    used,
    left: limit === null ? null : Math.max(0, limit - used),
  });
  const cycles = passes === null || ttl === null ? null : Math.min(MOST, passes + ttl);
  return {
    tokens: of(limits.maxTokens, Math.min(MOST, usage.inputTokens + usage.outputTokens)),
    modelCalls: of(limits.maxModelCalls, usage.modelCalls),
    totalMs: { limit: limits.totalMs, used: run.elapsedMs === null ? null : Math.round(run.elapsedMs) },
    ttl: { limit: limits.maxCycles ?? cycles, used: passes ?? 0, left: ttl },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: told.tokens },
  };
}
