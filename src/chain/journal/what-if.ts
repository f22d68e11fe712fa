import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import { decideAgain, type NumberChanges } from '../../../machines/policies/decisions.ts';
import { readNumber } from './changed-numbers.ts';
import { runStartOf } from './journal-format.ts';
import { type StateAfter, stateSteps } from './state-at.ts';

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
   * - `earlier`: it would have ended at `now`.
   * - `further`: it would have continued beyond its recorded end. What follows is unknown.
   * - `elsewhere`: it would have continued with another phase. What follows is unknown.
   */
  readonly outcome: 'same' | 'earlier' | 'further' | 'elsewhere';
}

/** The numbers with which decisions compare recorded results. Any other number changes what the phases do. */
const DECIDING = {
  limits: ['maxCycles'],
  thresholds: [
    'confidence',
    'grounding',
    'ungroundedConfidence',
    'change',
    'sufficiency',
    'crowdedMessages',
    'loopRepeats',
  ],
} as const;

/**
 * Evaluates the decisions of a recorded run again with other limits and thresholds, without a model call, and returns where the
 * run would have ended, up to the first decision that differs. What follows that decision is not recorded; a fork runs it.
 *
 * @throws PostChainError `invalid_option` for a number that no decision reads, `invalid_journal` if the run cannot be replayed.
 */
export function whatIf(entries: readonly JournalEntry[], set: WhatIfChanges): WhatIf {
  const steps = whatIfSteps(entries, set);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Like `whatIf`, but in steps, so that other work can run in between. */
export function* whatIfSteps(entries: readonly JournalEntry[], set: WhatIfChanges): Generator<unknown, WhatIf> {
  const changes = readDecidingNumbers(set);
  const { runId } = runStartOf(entries);
  const states: StateAfter[] = [];
  const steps = stateSteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (!done) {
      states.push(...value);
      yield;
    } else if (value === null) return compare(entries, states, changes);
    else throw new PostChainError('invalid_journal', `run ${JSON.stringify(runId)}: ${value}`);
  }
}

/** Validates numbers to change. Throws `invalid_option`. */
export function readDecidingNumbers(set: WhatIfChanges): NumberChanges {
  const changes = { limits: {}, thresholds: {} };
  for (const [path, value] of Object.entries(set)) {
    const [root = '', ...below] = path.split('.');
    const isKnown = root === 'limits' || root === 'thresholds';
    if (!isKnown || !(DECIDING[root] as readonly string[]).includes(below.join('.')))
      throw new PostChainError(
        'invalid_option',
        `"${path}" does not take part in decisions; expected one of ${pathsText()}. To change anything else, fork the run`,
      );
    Object.assign(changes[root], readNumber(root, below, path, value));
  }
  return changes;
}

const pathsText = (): string =>
  Object.entries(DECIDING)
    .flatMap(([root, names]) => names.map((name) => `${root}.${name}`))
    .join(', ');

function compare(entries: readonly JournalEntry[], states: readonly StateAfter[], changes: NumberChanges): WhatIf {
  const recorded = recordedEnd(entries, states);
  const now = firstDifference(entries, states, changes);
  if (now === null) return { recorded, now: recorded, outcome: 'same' };
  const isEnd = now.rule !== null && now.nextPhase === null;
  if (isEnd) return { recorded, now, outcome: now.seq === recorded.seq ? 'same' : 'earlier' };
  return { recorded, now, outcome: now.seq === recorded.seq ? 'further' : 'elsewhere' };
}

function recordedEnd(entries: readonly JournalEntry[], states: readonly StateAfter[]): PhasesEnd {
  const last = entries.findLast((entry) => entry.type === 'decision');
  const state = states.at(-1)?.state;
  const decision = last?.decision.complete ? last.decision : null;
  const rule = decision?.rule ?? state?.interruption?.kind ?? null;
  const seq = (decision !== null && last?.seq) || Math.max(0, entries.length - 1);
  return {
    rule,
    nextPhase: null,
    cycle: decision?.cycle ?? state?.recursion.cycle ?? 1,
    seq,
    use: usedBy(state, entries[seq]),
  };
}

function firstDifference(
  entries: readonly JournalEntry[],
  states: readonly StateAfter[],
  changes: NumberChanges,
): PhasesEnd | null {
  let handled = -1;
  for (const { seq, state } of states) {
    const entry = entries
      .slice(handled + 1, seq + 1)
      .find(({ type }) => type === 'decision' || type === 'direction-asked');
    handled = seq;
    if (entry === undefined || state.interruption !== null) continue;
    const recorded = entry.type === 'decision' ? entry.decision : null;
    const now = decideAgain(state, recorded, changes);
    const { rule = null, nextPhase = null } = now ?? {};
    if (nextPhase === (recorded?.nextPhase ?? null) && (nextPhase !== null || rule === (recorded?.rule ?? null)))
      continue;
    return {
      rule,
      nextPhase,
      cycle: recorded?.cycle ?? state.recursion.cycle,
      seq: entry.seq,
      use: usedBy(state, entry),
    };
  }
  return null;
}

function usedBy(state: RecordedState | undefined, entry: JournalEntry | undefined): PhaseUse {
  const { modelCalls = 0, inputTokens = 0, outputTokens = 0, cost = null } = state?.usage ?? {};
  return { modelCalls, tokens: inputTokens + outputTokens, cost, ms: entry?.atMs ?? 0 };
}
