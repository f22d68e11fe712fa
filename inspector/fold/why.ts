import { refusalText } from '../../machines/contracts/events.ts';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { answerUpTo, runStart } from './answer.ts';
import { type ChartIndex, chartIndexOf, type IndexedChart } from './chart-index.ts';
import { entryAt } from './entry-index.ts';
import { type EventOutcome, eventFacts, eventOutcome } from './event-outcome.ts';
import {
  type ComparedValue,
  type ExplainedTransition,
  explain,
  explainTransition,
  ignoredWords,
  type Transition,
  type WhyFact,
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
  /** What is explained; null if it is not a transition. */
  readonly heading: string | null;
  readonly facts: readonly WhyFact[];
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

const NOTHING = { heading: null, facts: [], compared: [], outcome: null, caused: [], transition: null } as const;

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
    const facts = eventFacts(entry, fold.spans);
    const rejection = rejectionAfter(log, at);
    const seqs = outcome.kind === 'transitions' ? outcome.transitions : [];
    const isIgnored = rejection !== null || outcome.kind === 'guards-false' || outcome.kind === 'no-transition';
    const caused = seqs.slice(0, MAX_CAUSED).flatMap((seq) => explainAt(log, seq, index) ?? []);
    const machine = caused[0]?.machine ?? fold.externalEvents.outcomeOf(entry.seq).machine;
    const chart = machine === null ? index.first : index.chart(machine);
    return {
      ...NOTHING,
      facts: isIgnored ? [...facts, ...currentStateFacts(view, chart)] : facts,
      caused: caused.length > 1 ? caused : [],
      transition: caused.length === 1 ? (caused[0] ?? null) : null,
      outcome: { words: rejection === null ? describeOutcome(outcome) : `Rejected: ${rejection}.`, isIgnored },
    };
  }
  if (entry.type === 'direction-refused' || entry.type === 'answer-refused')
    return { ...NOTHING, facts: [{ label: 'Reason', text: refusalText(entry), verbatim: true }] };
  if (answerUpTo(log, fold, at) !== null) return whyEnded(view, index);
  const explained = explain(entry, thresholds);
  if (explained === null) return whyTransition(transitionAt(fold.transitions, at), log, index);
  const { matches, ...rest } = explained;
  return {
    ...NOTHING,
    ...rest,
    transition: explainAt(log, findTransition(view, matches) ?? transitionAt(fold.transitions, at), index),
  };
}

function currentStateFacts(view: WhyView, chart: IndexedChart | undefined): readonly WhyFact[] {
  const waits = chart === undefined ? null : machineWaits(view.fold, chart, view.at);
  if (waits === null) return [];
  return [
    { label: 'Current states', text: waits.states.join(', ') },
    { label: 'Accepted events', text: waits.events.join(', ') || 'none' },
  ];
}

function whyTransition(seq: number | undefined, log: RunLog, index: ChartIndex): StepReasons {
  const transition = explainAt(log, seq, index);
  if (transition === null) return { ...NOTHING, heading: 'No transition was taken yet.' };
  const { machine, source, target } = transition;
  const who = index.first === undefined || machine === index.first.id ? 'it' : `the ${machine}`;
  const [first] = target;
  if (first === undefined) return { ...NOTHING, heading: `Why did ${who} stay in ${source.name}?`, transition };
  const suffix = first.id === source.id && target.length === 1 ? ' again' : '';
  return { ...NOTHING, heading: `Why did ${who} go to ${targetNames(target)}${suffix}?`, transition };
}

/** The names of the entered states, each once; parallel regions often have states of the same name. */
function targetNames(target: ExplainedTransition['target']): string {
  const names = [...new Set(target.map(({ name }) => name))];
  if (names.length === 1 && target.length > 1) return `${names[0]} in ${target.length} regions`;
  return names.length <= 3
    ? names.join(' and ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more states`;
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
