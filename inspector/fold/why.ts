import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { entryWords } from '../../src/chain/presentation/entry-words.ts';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { answerUpTo, runStart } from './answer.ts';
import { type ChartIndex, chartIndexOf, type IndexedChart } from './chart-index.ts';
import { entryAt } from './entry-index.ts';
import { type EventOutcome, eventOutcome } from './event-outcome.ts';
import {
  type ComparedValue,
  decisionValues,
  type ExplainedTransition,
  explainTransition,
  ignoredWords,
  type Transition,
} from './explain.ts';
import { isExternalEvent } from './external-events.ts';
import type { LoadedEntries } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countUpTo, lastUpTo } from './sorted.ts';
import { machineWaits } from './system-waits.ts';
import type { TransitionLog } from './transition-log.ts';
import { rejectionAfter } from './user-events.ts';

const transitionAt = (log: TransitionLog, seq: number): number | undefined => lastUpTo(log.seqs, seq);

function describeOutcome(outcome: EventOutcome): string {
  switch (outcome.kind) {
    case 'transitions':
      return outcome.transitions.length === 1
        ? 'It caused a transition:'
        : `It caused ${outcome.transitions.length} transitions:`;
    case 'handled':
      return 'Handled without a transition: no state was exited or entered.';
    case 'guards-false':
      return `Ignored: ${ignoredWords(outcome.guards)}.`;
    case 'no-transition':
      return `Ignored: ${ignoredWords([])}.`;
    case 'pending':
      return 'Its outcome is not recorded yet.';
    default:
      return outcome satisfies never;
  }
}

export interface StepReasons {
  /** What the entry records; empty if its transition explains it. */
  readonly words: string;
  /** Of an ignored event: the states, and the events that they accept. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly compared: readonly ComparedValue[];
  readonly outcome: { readonly words: string; readonly isIgnored: boolean } | null;
  /** The transitions of an external event, if there are several. */
  readonly caused: readonly ExplainedTransition[];
  readonly transition: ExplainedTransition | null;
}

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

const NOTHING = { words: '', facts: [], compared: [], outcome: null, caused: [], transition: null } as const;

/** The most transitions listed for one event. */
const MAX_CAUSED = 24;

/** Why an entry of a run was recorded. */
export function why(view: WhyView): StepReasons {
  const { log, fold, at } = view;
  const thresholds = runStart(log)?.input.thresholds ?? null;
  const index = chartIndexOf(view.charts);
  const entry = log.entry(at);
  if (entry.type === 'stopped') {
    const words = 'It was stopped from outside.';
    const transition = explainAt(log, transitionAt(fold.transitions, at), index);
    return { ...NOTHING, outcome: { words, isIgnored: false }, transition };
  }
  if (isExternalEvent(entry)) {
    const outcome = eventOutcome(entry, { fold, ended: view.end !== null || !view.run.live });
    const rejection = rejectionAfter(log, at);
    const seqs = outcome.kind === 'transitions' ? outcome.transitions : [];
    const isIgnored = rejection !== null || outcome.kind === 'guards-false' || outcome.kind === 'no-transition';
    const caused = seqs.slice(0, MAX_CAUSED).flatMap((seq) => explainAt(log, seq, index) ?? []);
    const machine = caused[0]?.machine ?? fold.externalEvents.outcomeOf(entry.seq).machine;
    const chart = machine === null ? index.first : index.chart(machine);
    return {
      ...NOTHING,
      words: entryWords(entry),
      facts: isIgnored ? currentStateFacts(view, chart) : [],
      caused: caused.length > 1 ? caused : [],
      transition: caused.length === 1 ? (caused[0] ?? null) : null,
      outcome: { words: rejection === null ? describeOutcome(outcome) : `Rejected: ${rejection}.`, isIgnored },
    };
  }
  if (entry.type === 'direction-refused' || entry.type === 'answer-refused')
    return { ...NOTHING, words: entryWords(entry) };
  if (answerUpTo(log, fold, at) !== null) return whyEnded(view, index);
  const isCause = causeOf(entry);
  const seq = (isCause && findTransition(view, isCause)) ?? transitionAt(fold.transitions, at);
  return {
    ...NOTHING,
    words: isCause === null || entry.type === 'decision' ? '' : entryWords(entry),
    compared: entry.type === 'decision' ? decisionValues(entry.decision, thresholds) : [],
    transition: explainAt(log, seq, index),
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

function currentStateFacts(view: WhyView, chart: IndexedChart | undefined): StepReasons['facts'] {
  const waits = chart === undefined ? null : machineWaits(view.fold, chart, view.at);
  if (waits === null) return [];
  return [
    ['Current states', waits.states.join(', ')],
    ['Accepted events', waits.events.join(', ') || 'none'],
  ];
}

function explainAt(log: RunLog, seq: number | undefined, index: ChartIndex): ExplainedTransition | null {
  const entry = entryAt(log, seq, 'transition');
  return entry && explainTransition(entry, index);
}

/** The transition that belongs to an entry: the nearest one in its step, searching backward, then forward. */
function findTransition({ log, fold, at }: WhyView, matches: (by: Transition) => boolean): number | undefined {
  const { seqs } = fold.transitions;
  const { from, to } = fold.externalEvents.stepOf(at);
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

function whyEnded({ log, fold, at }: WhyView, index: ChartIndex): StepReasons {
  const toSynthesis = fold.transitions.distinct.filter(
    ({ machine, source, target }) =>
      machine === index.first?.id && target.includes('synthesizing') && !source.includes('synthesizing'),
  );
  const seqs = toSynthesis.flatMap((taken) => lastUpTo(taken.seqs, at) ?? []);
  const seq = seqs.length > 0 ? Math.max(...seqs) : transitionAt(fold.transitions, at);
  return { ...NOTHING, transition: explainAt(log, seq, index) };
}
