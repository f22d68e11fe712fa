import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { Decision } from '../../../machines/contracts/decision.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import { decideAgain, type NumberChanges } from '../../../machines/policies/decisions.ts';

/** Numbers to change, by path: `thresholds.confidence`, `limits.maxCycles`. */
export type WhatIfChanges = Readonly<Record<string, number>>;

/** What the phases of a run used, up to a decision or in all. `cost` is null without prices. */
export interface PhaseUse {
  readonly modelCalls: number;
  readonly tokens: number;
  readonly cost: number | null;
  /** Milliseconds since the start of the run. */
  readonly ms: number;
}

/** Where the phases of a run end. */
export interface PhasesEnd {
  /**
   * The rule that completes the run, or else what ended it: `budget`, `deadline`, `cancelled` and so on. Null if the run
   * continues and the user would choose the next phase.
   */
  readonly rule: string | null;
  /** The phase to continue with; null if the run ends, or if the user would choose. */
  readonly nextPhase: Phase | null;
  readonly cycle: number;
  /** The number of the journal entry. */
  readonly seq: number;
  readonly use: PhaseUse;
}

/** How a run would have ended with other limits and thresholds. */
export interface WhatIf {
  readonly recorded: PhasesEnd;
  /** The first point at which the run differs; like `recorded` if none does. */
  readonly now: PhasesEnd;
  /**
   * - `same`: it would have ended in the same cycle, possibly by another rule.
   * - `unfinished`: it has not ended, and would have made the same decisions so far.
   * - `earlier`: it would have ended at `now`.
   * - `further`: it would have continued beyond its recorded end. What follows is unknown.
   * - `elsewhere`: it would have continued with another phase. What follows is unknown.
   */
  readonly outcome: 'same' | 'unfinished' | 'earlier' | 'further' | 'elsewhere';
}

/** A recorded decision, null if the user was asked for a direction, and the state after it. */
export interface DecisionPoint {
  readonly seq: number;
  readonly atMs: number;
  readonly decision: Decision | null;
  readonly state: RecordedState;
}

/** What it takes to evaluate the decisions of a run again: computed once, however many numbers are tried. */
export interface DecidedRun {
  readonly points: readonly DecisionPoint[];
  readonly recorded: PhasesEnd;
}

/** `last`: the state at the end of the run, and its last entry. */
export function decidedRun(
  points: readonly DecisionPoint[],
  last: { readonly seq: number; readonly atMs: number; readonly state: RecordedState | null },
): DecidedRun {
  const { state } = last;
  const final = points.findLast(({ decision }) => decision !== null);
  const ended = final?.decision?.complete ? final : null;
  const { seq, atMs } = ended ?? last;
  return {
    points,
    recorded: {
      rule: ended?.decision?.rule ?? state?.interruption?.kind ?? null,
      nextPhase: null,
      cycle: ended?.decision?.cycle ?? state?.recursion.cycle ?? 1,
      seq,
      use: usedBy(state, atMs),
    },
  };
}

/** Whether a run would have done anything else. A fork shows what. */
export const differs = ({ outcome }: WhatIf): boolean => outcome !== 'same' && outcome !== 'unfinished';

/** Evaluates the decisions of a run again with changed numbers, up to the first one that differs. */
export function outcomeWith({ points, recorded }: DecidedRun, changes: NumberChanges): WhatIf {
  const now = firstDifference(points, changes);
  if (now === null) return { recorded, now: recorded, outcome: recorded.rule === null ? 'unfinished' : 'same' };
  const isEnd = now.rule !== null && now.nextPhase === null;
  if (isEnd) return { recorded, now, outcome: now.seq === recorded.seq ? 'same' : 'earlier' };
  return { recorded, now, outcome: now.seq === recorded.seq ? 'further' : 'elsewhere' };
}

function firstDifference(points: readonly DecisionPoint[], changes: NumberChanges): PhasesEnd | null {
  for (const { seq, atMs, decision, state } of points) {
    if (state.interruption !== null) continue;
    const { rule = null, nextPhase = null } = decideAgain(state, decision, changes) ?? {};
    if (nextPhase === (decision?.nextPhase ?? null) && (nextPhase !== null || rule === (decision?.rule ?? null)))
      continue;
    return { rule, nextPhase, cycle: decision?.cycle ?? state.recursion.cycle, seq, use: usedBy(state, atMs) };
  }
  return null;
}

function usedBy(state: RecordedState | null, ms: number): PhaseUse {
  const { modelCalls = 0, inputTokens = 0, outputTokens = 0, cost = null } = state?.usage ?? {};
  return { modelCalls, tokens: inputTokens + outputTokens, cost, ms };
}
