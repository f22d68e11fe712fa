import type { RecordedState } from '../../machines/contracts/chain-state.ts';
import { type DecidedRun, type DecisionPoint, decidedRun } from '../../src/chain/journal/decided-run.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { ExplainedCandidate } from './explain.ts';
import { valueTitle } from './guard-words.ts';
import type { RunFold } from './run-fold.ts';
import { type WhyView, why } from './why.ts';

/** A number that a decision compared with a limit or threshold. */
export interface DecidingNumber {
  readonly path: string;
  readonly title: string;
  /** Null if the decision did not compare it. */
  readonly compared: number | null;
  readonly recorded: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

interface Deciding {
  readonly path: `${'limits' | 'thresholds'}.${string}`;
  readonly title: string;
  /** The rule of Yield that reads it. */
  readonly rule: string;
  readonly compared: (state: RecordedState) => number | null | undefined;
}

const CHOICE = 'nextPhaseChosen';

const DECIDING: readonly Deciding[] = [
  {
    path: 'thresholds.confidence',
    title: 'Confidence to finish',
    rule: 'confidenceReached',
    compared: ({ assessment }) => assessment?.confidence,
  },
  {
    path: 'thresholds.grounding',
    title: 'Support needed',
    rule: 'confidenceReached',
    compared: ({ assessment }) => assessment?.evidence.grounding,
  },
  {
    path: 'thresholds.change',
    title: 'Change that counts as none',
    rule: 'answerConverged',
    compared: ({ assessment }) => assessment?.change,
  },
  {
    path: 'thresholds.sufficiency',
    title: 'Information needed',
    rule: CHOICE,
    compared: ({ assessment }) => assessment?.informationSufficiency,
  },
  {
    path: 'limits.maxCycles',
    title: 'Cycles allowed',
    rule: 'cycleLimitReached',
    compared: ({ recursion }) => recursion.completedCycles,
  },
  {
    path: 'thresholds.loopRepeats',
    title: 'Similar cycles allowed',
    rule: 'loopDetected',
    compared: ({ assessment }) => assessment && assessment.repeats + 1,
  },
];

/** A limit or threshold in words, by path. */
export const settingTitle = (path: string): string =>
  DECIDING.find((one) => one.path === path)?.title ?? valueTitle(path.split('.').at(-1) ?? '');

/**
 * Returns the numbers that the decision at an entry compared; none while the states are unknown. For the last decision, those that only the
 * decision before it compared follow: with another number, the run could have ended there.
 */
export function numbersAt(view: WhyView & WhatIfView, seq: number): readonly DecidingNumber[] {
  const [before, last] = view.fold.entries.of('decision').slice(-2);
  const own = comparedAt(view, seq);
  const paths = new Set(own.map(({ path }) => path));
  return seq === last && before !== undefined
    ? [...own, ...comparedAt(view, before).filter(({ path }) => !paths.has(path))]
    : own;
}

function comparedAt(view: WhyView & WhatIfView, seq: number): readonly DecidingNumber[] {
  const state = view.stateCount === 0 ? null : (view.fold.states.after(seq) as RecordedState | null);
  return state === null ? [] : decidingNumbers(state, why({ ...view, at: seq }).transition?.candidates ?? []);
}

/** The numbers that a decision compared, given the rules that were tried and the state after it. */
function decidingNumbers(state: RecordedState, candidates: readonly ExplainedCandidate[]): readonly DecidingNumber[] {
  const tried = new Set(
    candidates.flatMap(({ name, result }) => (name === null || result === 'not-evaluated' ? [] : ruleOf(name))),
  );
  return settableNumbers(state).filter(
    ({ path, compared }) => compared !== null && DECIDING.some((one) => one.path === path && tried.has(one.rule)),
  );
}

/** All numbers that decisions compare, with their values in a state. */
function settableNumbers(state: RecordedState): readonly DecidingNumber[] {
  return DECIDING.flatMap(({ path, title, compared }) => {
    const [root = '', name = ''] = path.split('.');
    const recorded = (state as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[root]?.[name];
    const value = compared(state) ?? null;
    if (typeof recorded !== 'number') return [];
    const isShare = root === 'thresholds' && name !== 'loopRepeats';
    const max = isShare ? 1 : Math.max(10, recorded, value ?? 0);
    return [{ path, title, compared: value, recorded, min: isShare ? 0 : 1, max, step: isShare ? 0.01 : 1 }];
  });
}

const ruleOf = (guard: string): string => (guard.startsWith('nextPhaseIs(') ? CHOICE : guard);

interface WhatIfView {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly count: number;
  readonly stateCount: number;
}

const decided = new WeakMap<RunFold, { readonly key: string; readonly run: DecidedRun | null }>();

/** The decisions of a run with their states, computed once; null if the states are unknown. */
export function decidedRunOf(view: WhatIfView): DecidedRun | null {
  const { fold, count, stateCount } = view;
  const key = `${count} ${stateCount}`;
  const known = decided.get(fold);
  if (known?.key === key) return known.run;
  const run = count === 0 || stateCount === 0 ? null : readDecisions(view);
  decided.set(fold, { key, run });
  return run;
}

function readDecisions({ log, fold, count }: WhatIfView): DecidedRun {
  const seqs = [...fold.entries.of('decision'), ...fold.entries.of('direction-asked')].sort(
    (one, other) => one - other,
  );
  const points = seqs.flatMap((seq): readonly DecisionPoint[] => {
    const entry = log.entry(seq);
    const state = fold.states.after(seq) as RecordedState | null;
    if (state === null) return [];
    return [{ seq, atMs: entry.atMs, decision: entry.type === 'decision' ? entry.decision : null, state }];
  });
  const state = fold.states.at(count - 1) as RecordedState | null;
  return decidedRun(points, { seq: count - 1, atMs: fold.timeLine.atMs(count - 1), state });
}
