import type { RecordedState } from '../../machines/contracts/chain-state.ts';
import type { RunStart } from '../../machines/contracts/journal.ts';
import { type DecidedRun, type DecisionPoint, decidedRun } from '../../src/chain/journal/decided-run.ts';
import type { RunLog } from '../wire/run-log.ts';
import { humanize } from './format.ts';
import { valueTitle } from './guard-words.ts';
import type { RunFold } from './run-fold.ts';
import { excerpt } from './text.ts';
import { type WhyView, why } from './why.ts';

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
export function numbersAt(view: WhyView & WhatIfView, seq: number) {
  const [before, last] = view.fold.entries.of('decision').slice(-2);
  const own = comparedAt(view, seq);
  const paths = new Set(own.map(({ path }) => path));
  return seq === last && before !== undefined
    ? [...own, ...comparedAt(view, before).filter(({ path }) => !paths.has(path))]
    : own;
}

/** The numbers that a decision compared with limits or thresholds. */
function comparedAt(view: WhyView & WhatIfView, seq: number) {
  const state = view.stateCount === 0 ? null : (view.fold.states.after(seq) as RecordedState | null);
  if (state === null) return [];
  const { candidates = [] } = why({ ...view, at: seq }).transitions[0] ?? {};
  const tried = new Set(
    candidates.flatMap(({ name, result }) => (name === null || result === 'not-evaluated' ? [] : ruleOf(name))),
  );
  return DECIDING.flatMap(({ path, title, rule, compared: read }) => {
    const [root = '', name = ''] = path.split('.');
    const recorded = (state as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[root]?.[name];
    const compared = read(state) ?? null;
    if (typeof recorded !== 'number' || compared === null || !tried.has(rule)) return [];
    const isShare = root === 'thresholds' && name !== 'loopRepeats';
    const max = isShare ? 1 : Math.max(10, recorded, compared);
    return [{ path, title, compared, recorded, min: isShare ? 0 : 1, max, step: isShare ? 0.01 : 1 }];
  });
}

const ruleOf = (guard: string): string => (guard.startsWith('nextPhaseIs(') ? CHOICE : guard);

interface WhatIfView {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly count: number;
  readonly stateCount: number;
}

/** The decisions of a run with their states; null if the states are unknown. */
export function decidedRunOf({ log, fold, count, stateCount }: WhatIfView): DecidedRun | null {
  if (count === 0 || stateCount === 0) return null;
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

const MAX_CHARS = 60;

/** What a fork changed, in words: `confidence to finish 0.9 → 0.8`; empty for other runs. */
export const forkChanges = (start: RunStart | null): readonly string[] =>
  (start?.product.fork?.changes ?? []).flatMap((change) => {
    if (change === 'prompt') return 'the prompt';
    const [, path, json] = /^(.*?)=(.*)$/su.exec(change) ?? [];
    // Other words name options that the fork has kept.
    if (path === undefined || json === undefined) return [];
    const [group = '', ...names] = path.split('.');
    const words = excerpt(json.replace(/^"(.*)"$/su, '$1'), MAX_CHARS);
    if (group === 'phase') return `continued with ${words}`;
    if (group === 'reply') return `${names.map(humanize).join(', ')} of the reply: ${words}`;
    const numbers = Object(group === 'limits' || group === 'thresholds' ? start?.input[group] : null) as Record<
      string,
      unknown
    >;
    const before = numbers[names[0] ?? ''];
    const title = settingTitle(path).toLowerCase();
    return typeof before === 'number' ? `${title} ${before} → ${words}` : `${title} ${words}`;
  });
