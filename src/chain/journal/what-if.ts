import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { NumberChanges } from '../../../machines/policies/decisions.ts';
import { readNumber } from './changed-numbers.ts';
import { type DecisionPoint, decidedRun, outcomeWith, type WhatIf, type WhatIfChanges } from './decided-run.ts';
import { runStartOf } from './run-start.ts';
import { type StateAfter, stateSteps } from './state-at.ts';

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
  const changes = readDecidingNumbers(set);
  const { runId } = runStartOf(entries).input;
  const states: StateAfter[] = [];
  const steps = stateSteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (!done) states.push(...value);
    else if (value === null) {
      const { seq = 0, atMs = 0 } = entries.at(-1) ?? {};
      return outcomeWith(
        decidedRun(pointsOf(entries, states), { seq, atMs, state: states.at(-1)?.state ?? null }),
        changes,
      );
    } else throw new PostChainError('invalid_journal', `run ${JSON.stringify(runId)}: ${value}`);
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

/** The first decision that each state follows, with that state. */
function pointsOf(entries: readonly JournalEntry[], states: readonly StateAfter[]): readonly DecisionPoint[] {
  let handled = -1;
  return states.flatMap(({ seq, state }) => {
    const entry = entries
      .slice(handled + 1, seq + 1)
      .find(({ type }) => type === 'decision' || type === 'direction-asked');
    handled = seq;
    if (entry === undefined) return [];
    return [{ seq: entry.seq, atMs: entry.atMs, decision: entry.type === 'decision' ? entry.decision : null, state }];
  });
}
