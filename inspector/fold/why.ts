import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import { entryWords } from '../../src/chain/presentation/entry-words.ts';
import { isExternal } from '../../src/durable/entries.ts';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { chartIndexOf, type IndexedChart, nameIn, statePath } from './chart-index.ts';
import { actionNames } from './chart-words.ts';
import { answerUpTo, entriesIn, entryAt, runStart } from './entry-index.ts';
import {
  type ComparedValue,
  comparedValues,
  decisionValues,
  ignoredWords,
  lowConfidence,
  type Transition,
} from './explain.ts';
import { capitalize, humanizeGuard } from './format.ts';
import { decisionReason } from './guard-words.ts';
import type { LoadedEntries, RunFold } from './run-fold.ts';
import { reasonWords } from './run-list.ts';
import type { Selection } from './selection.ts';
import { countStartedBy, countUpTo, lastUpTo, numbersIn } from './sorted.ts';
import type { AttemptSpan, PhaseSpan } from './spans.ts';
import { machineWaits } from './system-waits.ts';
import { actorName, handledBy, movesText, triggerText } from './system-words.ts';
import { rejectionAfter } from './user-events.ts';

export type ExplainedTransition = ReturnType<typeof explainTransition>;
export type ExplainedCandidate = ExplainedTransition['candidates'][number];

/** A transition in words; without candidates if there was only one. */
export function explainTransition(entry: Transition, { fold, charts }: Loaded) {
  const { seq, actor = '', machine, source, candidates } = entry;
  const chart = chartIndexOf(charts).chart(machine);
  const guard = candidates.find(({ result }) => result === 'taken')?.guard ?? null;
  const { actions = [] } = chart?.transitions[chart.indexOf({ ...entry, guard }) ?? -1] ?? {};
  const isRun = fold.actors.length === 0;
  const place = isRun ? machine : actor === '' ? '' : actorName({ fold, charts }, actor);
  const outer = isRun ? '' : handledBy({ fold, charts }, entry);
  const pathsOf = (ids: readonly string[]): string => ids.map((id) => statePath(chart, id)).join(', ') || 'stays';
  return {
    seq,
    source,
    /** Its states, as the trace has them: `asking → booking`. Empty for a transition of the root that enters no state. */
    moves: isRun ? `${pathsOf([source])} → ${pathsOf(entry.target)}` : movesText({ fold, charts }, [entry]),
    /** Its event and its actor: `on ORDER, in payment`. */
    about: [triggerText({ fold, charts }, entry), outer && `a transition of ${outer}`, place && `in ${place}`]
      .filter(Boolean)
      .join(', '),
    description: chart?.state(entry.target[0] ?? source)?.description ?? '',
    // The chart of the chain has no names of actions either.
    actions: isRun ? '' : actionNames(actions),
    candidates: candidates.map(({ guard, result, inputs, target }, index) => ({
      index,
      // In words; "otherwise" for a later candidate without a guard.
      guard: guard === null ? (index === 0 ? 'no condition' : 'otherwise') : humanizeGuard(guard),
      name: guard,
      result,
      compared: inputs === null ? [] : comparedValues(inputs),
      target: target.map((id) => nameIn(chart, id)).join(', ') || 'stays',
    })),
  };
}

export interface StepReasons {
  /** What the entry records; empty if its transition explains it. */
  readonly words: string;
  /** Of an ignored event: the states, and the events that they accept. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly compared: readonly ComparedValue[];
  /** Why an answer is degraded; empty for other entries. */
  readonly degraded: readonly { readonly text: string; readonly compared: readonly ComparedValue[] }[];
  readonly outcome: { readonly words: string; readonly isIgnored: boolean } | null;
  readonly transitions: readonly ExplainedTransition[];
}

type Loaded = Pick<LoadedEntries, 'fold' | 'charts'>;

export interface WhyView extends LoadedEntries {
  readonly run: Pick<InspectedRun, 'live'>;
  readonly at: number;
  readonly end: object | null;
}

const WAITS: ReadonlySet<string | undefined> = new Set([
  'attempt-retry',
  'consent-asked',
  'direction-asked',
  'approval-asked',
]);

/** Returns the entry that explains a selection: for a state, the one that entered it; for a wait, its question. */
export const entryToExplain = ({ fold, at }: Pick<WhyView, 'fold' | 'at'>, { kind, from }: Selection): number =>
  kind === 'state' || (kind === 'entry' && WAITS.has(fold.entries.typeOf(from))) ? from : at;

const NOTHING = { words: '', facts: [], compared: [], degraded: [], outcome: null, transitions: [] } as const;

/** Transitions, by their entries; `handled`: only actions ran; `guards-false`: there are transitions, but no guard held; `pending`: effects may still follow. */
type EventOutcome =
  | { readonly kind: 'transitions'; readonly transitions: readonly number[] }
  | { readonly kind: 'guards-false'; readonly guards: readonly string[] }
  | { readonly kind: 'handled' | 'no-transition' | 'pending' };

/** The outcome of an external event of a run, as the entries after it record it. `isOver`: nothing more will follow the last entry. */
export function eventOutcome(
  { log, fold }: Pick<LoadedEntries, 'log' | 'fold'>,
  seq: number,
  isOver: boolean,
): EventOutcome {
  const { entries, transitions } = fold;
  const { to } = entries.stepOf(seq);
  const taken = numbersIn(transitions.seqs, seq + 1, to - 1);
  if (taken.length > 0) return { kind: 'transitions', transitions: taken };
  const ignored = entriesIn(log, entries, 'ignored', seq, to - 1);
  const guards = ignored.flatMap(({ candidates }) => candidates.flatMap(({ guard }) => guard ?? []));
  if (guards.length > 0) return { kind: 'guards-false', guards };
  if (!isOver && !Number.isFinite(to)) return { kind: 'pending' };
  const handled = numbersIn(entries.of('transition'), seq, to - 1).at(-1) ?? -1;
  return { kind: handled > (ignored.at(-1)?.seq ?? -1) ? 'handled' : 'no-transition' };
}

const OUTCOMES = {
  handled: 'Handled without a transition: no state was exited or entered.',
  'no-transition': `Ignored: ${ignoredWords([])}.`,
  pending: 'Its outcome is not recorded yet.',
  transitions: '',
} as const;

export function why(view: WhyView): StepReasons {
  const { log, fold, at } = view;
  const entry = log.entry(at);
  const latest = lastUpTo(fold.transitions.seqs, at);
  if (entry.type === 'stopped') {
    const outcome = { words: 'It was stopped from outside.', isIgnored: false };
    return { ...NOTHING, outcome, transitions: explained(view, latest) };
  }
  if (isExternal(entry)) return whyReceived(view, entry);
  if (entry.type === 'direction-refused' || entry.type === 'answer-refused')
    return { ...NOTHING, words: entryWords(entry) };
  const answered = answerUpTo(log, fold, at);
  if (answered !== null)
    return {
      ...NOTHING,
      degraded: answered.answer.reasons.map((reason) =>
        reason.code === 'low_confidence'
          ? { text: capitalize(reasonWords(reason.code)), compared: [lowConfidence(reason)] }
          : { text: reason.message, compared: [] },
      ),
      transitions: explained(view, lastToSynthesis(view) ?? latest),
    };
  const isCause = causeOf(entry);
  const { thresholds = null } = runStart(log)?.input ?? {};
  return {
    ...NOTHING,
    words: isCause === null || entry.type === 'decision' ? '' : entryWords(entry),
    compared: entry.type === 'decision' ? decisionValues(entry.decision, thresholds) : [],
    transitions: explained(view, (isCause && findTransition(view, isCause)) ?? latest),
  };
}

function whyReceived(view: WhyView, entry: JournalEntry & ExternalEvent): StepReasons {
  const { log, fold, at, charts } = view;
  const outcome = eventOutcome(view, at, view.end !== null || !view.run.live);
  const rejection = rejectionAfter(log, at);
  const words = outcome.kind === 'guards-false' ? `Ignored: ${ignoredWords(outcome.guards)}.` : OUTCOMES[outcome.kind];
  const isIgnored = rejection !== null || outcome.kind === 'guards-false' || outcome.kind === 'no-transition';
  const shown = rejection === null ? words : `Rejected: ${rejection}.`;
  const seqs = outcome.kind === 'transitions' ? outcome.transitions : [];
  const [first] = [...seqs, ...numbersIn(fold.entries.of('ignored'), at, fold.entries.stepOf(at).to - 1).slice(-1)];
  const { machine = null } = (first === undefined ? {} : log.entry(first)) as { readonly machine?: string | null };
  const { chart, first: main } = chartIndexOf(charts);
  return {
    ...NOTHING,
    words: entryWords(entry),
    facts: isIgnored ? currentStateFacts(fold, machine === null ? main : chart(machine), at) : [],
    outcome: shown === '' ? null : { words: shown, isIgnored },
    transitions: explained(view, ...seqs),
  };
}

/** The state that is left (`source`) or entered (`target`) by the transition behind an entry. */
const CAUSES: Readonly<Record<string, readonly ['source' | 'target', string]>> = {
  recovery: ['source', 'recovering'],
  'attempt-retry': ['source', 'recordingFailure'],
  'consent-asked': ['target', 'awaitingConsent'],
  'consent-resolved': ['source', 'awaitingConsent'],
  'approval-asked': ['target', 'awaitingApproval'],
  'direction-asked': ['target', 'awaitingDirection'],
  'capability-stop': ['target', 'concluded'],
};

const isNamed = (id: string, ...names: readonly string[]): boolean =>
  names.some((name) => id === name || id.endsWith(`.${name}`));

/** Whether a transition is the one behind an entry; null if it is the latest one. */
function causeOf(entry: JournalEntry): ((by: Transition) => boolean) | null {
  if (entry.type === 'decision') {
    const { rule } = entry.decision;
    const isRule = (guard: string): boolean =>
      guard === rule || (rule === 'nextPhaseChosen' && guard.startsWith('nextPhaseIs')) || rule === 'directedByUser';
    return ({ source, candidates }) =>
      isNamed(source, 'deciding', 'awaitingDirection') &&
      candidates.some(({ guard, result }) => result === 'taken' && guard !== null && isRule(guard));
  }
  const [end, name] = CAUSES[entry.type] ?? [];
  return end === undefined || name === undefined ? null : (by) => [by[end]].flat().some((id) => isNamed(id, name));
}

/** The states of a machine at an entry, and the events that they accept. */
export function currentStateFacts(fold: RunFold, chart: IndexedChart | undefined, at: number): StepReasons['facts'] {
  const waits = chart === undefined ? null : machineWaits(fold, chart, at);
  if (waits === null) return [];
  return [
    ['Current states', waits.states.join(', ')],
    ['Accepted events', waits.events.join(', ') || 'none'],
  ];
}

const explained = (view: WhyView, ...seqs: readonly (number | undefined)[]): readonly ExplainedTransition[] =>
  seqs.flatMap((seq) => {
    const entry = entryAt(view.log, seq, 'transition');
    return entry === null ? [] : explainTransition(entry, view);
  });

/** The transition that belongs to an entry: the nearest one in its step, searching backward, then forward. */
function findTransition({ log, fold, at }: WhyView, matches: (by: Transition) => boolean): number | undefined {
  const { seqs } = fold.transitions;
  const { from, to } = fold.entries.stepOf(at);
  const here = countUpTo(seqs, at);
  const step = [
    ...seqs.slice(countUpTo(seqs, from), here).reverse(),
    ...seqs.slice(here, countUpTo(seqs, Math.min(to, log.count) - 1)),
  ];
  return step.find((seq) => {
    const entry = log.entry(seq);
    return entry.type === 'transition' && matches(entry);
  });
}

/** The latest transition with which the chain began to write its answer. */
function lastToSynthesis({ fold, at, charts }: WhyView): number | undefined {
  const main = chartIndexOf(charts).first?.id;
  const seqs = fold.transitions.distinct
    .filter(({ machine, target }) => machine === main && target.includes('synthesizing'))
    .flatMap(({ source, seqs: all }) => (source.includes('synthesizing') ? [] : (lastUpTo(all, at) ?? [])));
  return seqs.length === 0 ? undefined : Math.max(...seqs);
}

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

/** Whether the context had to shrink first, according to the last transition before a phase. */
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
