import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import type { InspectedRun, RunCharts } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { type ChartBook, chartBook, pathInWords } from './chart-index.ts';
import { type EventOutcome, eventOutcome, explainEvent, outcomeInWords } from './event-outcome.ts';
import {
  type ExplainedTransition,
  explain,
  explainTransition,
  type SeenNumber,
  seenNumbers,
  type Transition,
  type WhyFact,
} from './explain.ts';
import { isExternalEvent } from './external-events.ts';
import { guardInWords } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo, lastUpTo } from './sorted.ts';
import { transitionAt } from './transition-log.ts';

/** All that answers "why?" at an entry. */
export interface Why {
  readonly heading: string;
  readonly facts: readonly WhyFact[];
  /** The numbers of a decision. */
  readonly saw: readonly SeenNumber[];
  /** The outcome of an external event; null for other entries. */
  readonly outcome: { readonly words: string; readonly isIgnored: boolean } | null;
  /** The transitions of an external event, if there are several. */
  readonly led: readonly ExplainedTransition[];
  readonly transition: ExplainedTransition | null;
}

export interface WhyView {
  readonly run: Pick<InspectedRun, 'kind' | 'live'>;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  readonly at: number;
  readonly end: object | null;
}

const NOTHING = { facts: [], saw: [], outcome: null, led: [], transition: null } as const;

/** The most transitions listed for one event. */
const MOST_LED = 24;

export function why(view: WhyView): Why {
  const { log, fold, at } = view;
  if (log.count === 0) return { ...NOTHING, heading: 'Nothing has happened yet.' };
  const book = chartBook(view.charts);
  const entry = log.entry(at);
  if (entry.type === 'run-stopped') {
    const words = view.run.kind === 'run' ? 'The run was stopped externally.' : 'The program or its connection ended.';
    const transition = tell(log, transitionAt(fold.transitions, at), book);
    return { ...NOTHING, heading: 'Why did the run stop here?', outcome: { words, isIgnored: false }, transition };
  }
  if (isExternalEvent(entry)) {
    const outcome = eventOutcome(entry, { fold, charts: view.charts, ended: view.end !== null || !view.run.live });
    const { name, facts } = explainEvent(entry, fold.spans);
    const isIgnored = outcome.kind === 'refused' || outcome.kind === 'no-way';
    const seqs = outcome.kind === 'led' ? outcome.transitions : [];
    const led = seqs.slice(0, MOST_LED).flatMap((seq) => tell(log, seq, book) ?? []);
    return {
      heading: isIgnored ? `Why did nothing happen on ${name}?` : `What did ${name} cause?`,
      ...{
        facts: isIgnored ? [...facts, ...standingFacts(view, book)] : facts,
        saw: [],
        led: led.length > 1 ? led : [],
        transition: led.length === 1 ? (led[0] ?? null) : null,
      },
      outcome: { words: outcomeInWords(outcome), isIgnored },
    };
  }
  if (entry.type === 'direction-refused') {
    const got = { label: 'Received', text: entry.got, said: true };
    return {
      ...NOTHING,
      heading: 'Why was the direction rejected?',
      facts: [got, { label: 'Expected', text: 'a phase' }],
    };
  }
  const answer = answerAt(view);
  if (answer !== null) return whyEnded(answer, view, book);
  const explained = explain(entry);
  if (explained === null) return whyWent(transitionAt(fold.transitions, at), log, book);
  const { isMade, ...told } = explained;
  return {
    ...NOTHING,
    ...told,
    transition: tell(log, madeBy(view, isMade) ?? transitionAt(fold.transitions, at), book),
  };
}

/** The current states and the events they accept. */
function standingFacts({ fold, at }: WhyView, { first }: ChartBook): readonly WhyFact[] {
  const stands = first === undefined ? undefined : fold.transitions.standingAt(first.id, at);
  if (first === undefined || stands === undefined) return [];
  const { possible } = first.entered(stands.targets);
  const events = possible.flatMap(({ id }) => first.transitionsFrom(id).map(({ event }) => event));
  const heard = [...new Set(events)].filter((event) => event !== '' && !INNER.test(event));
  return [
    { label: 'Current states', text: stands.targets.map((id) => pathInWords(first, id)).join(', ') },
    { label: 'Accepted events', text: heard.join(', ') || 'nothing' },
  ];
}

/** Events that nobody sends. */
const INNER = /^(?:done|error|after .*)$/u;

function whyWent(seq: number | undefined, log: RunLog, book: ChartBook): Why {
  const transition = tell(log, seq, book);
  if (transition === null) return { ...NOTHING, heading: 'The run has just started; no transition was taken yet.' };
  const { machine, source, target } = transition;
  const who = book.first === undefined || machine === book.first.id ? 'it' : `the ${machine}`;
  const [first] = target;
  if (first === undefined) return { ...NOTHING, heading: `Why did ${who} stay in ${source.name}?`, transition };
  const names = target.map(({ name }) => name).join(' and ');
  const again = first.id === source.id && target.length === 1 ? ' again' : '';
  return { ...NOTHING, heading: `Why did ${who} go to ${names}${again}?`, transition };
}

function tell(log: RunLog, seq: number | undefined, book: ChartBook): ExplainedTransition | null {
  const entry = seq === undefined ? undefined : log.entry(seq);
  return entry?.type === 'transition' ? explainTransition(entry, book) : null;
}

/** The transition that goes with an entry: the nearest in its step, looked for backwards, then forwards. */
function madeBy({ log, fold, at }: WhyView, isMade: (by: Transition) => boolean): number | undefined {
  const { seqs } = fold.transitions;
  const { from, to } = fold.externalEvents.stepOf(at);
  const here = countUpTo(seqs, at);
  const step = [
    ...seqs.slice(countUpTo(seqs, from), here).reverse(),
    ...seqs.slice(here, countUpTo(seqs, Math.min(to, log.count) - 1)),
  ];
  return step.find((seq) => {
    const entry = log.entry(seq);
    return entry.type === 'transition' && isMade(entry);
  });
}

/** For a finished run, explain its end. */
function answerAt({ log, fold: { places }, at }: WhyView): FinalAnswer | null {
  const seq = lastUpTo(places.of('answer'), at);
  const entry = seq === undefined ? undefined : log.entry(seq);
  return entry?.type === 'answer' ? entry.answer : null;
}

function whyEnded({ status, metadata }: FinalAnswer, { log, fold, at }: WhyView, book: ChartBook): Why {
  const { reason, explanation, missingFields, decision } = metadata;
  const facts: WhyFact[] = [];
  if (reason !== null) facts.push({ label: 'Reason', text: reason.replaceAll('_', ' ') });
  if (explanation !== '') facts.push({ label: 'Explanation', text: explanation, said: true });
  if (missingFields.length > 0) facts.push({ label: 'Missing', text: missingFields.join(', ') });
  const decided = decision?.complete === true ? decision : null;
  if (decided !== null) {
    facts.push({ label: 'Decided by', text: `${guardInWords(decided.rule)}, in cycle ${decided.cycle}` });
    facts.push({ label: 'Rationale', text: decided.rationale, said: true });
  }
  const into = fold.transitions.ways.filter(
    ({ machine, source, target }) =>
      machine === book.first?.id && target.includes('synthesizing') && !source.includes('synthesizing'),
  );
  const seqs = into.flatMap((way) => lastUpTo(way.seqs, at) ?? []);
  const transition = tell(log, seqs.length > 0 ? Math.max(...seqs) : transitionAt(fold.transitions, at), book);
  const saw = decided === null || transition?.candidates.length ? [] : seenNumbers(decided.inputs);
  return {
    ...NOTHING,
    heading: status === 'completed' ? 'Why did the run end?' : `Why did the run end ${status}?`,
    facts,
    saw,
    transition,
  };
}

interface IgnoredEvent {
  readonly seq: number;
  readonly name: string;
  readonly why: string;
}

/** The most events without a transition that are checked, newest first. */
const LOOKED_AT = 60;

/** The ignored events up to an entry, newest first; `more`: earlier ones were not checked. */
export function ignoredEvents(view: WhyView): { readonly events: readonly IgnoredEvent[]; readonly more: boolean } {
  const { log, fold, charts, at, end, run } = view;
  const { quiet, seqs } = fold.externalEvents;
  const known = { fold, charts, ended: end !== null || !run.live };
  const count = countUpTo(quiet, at);
  const newest = seqs.at(-1);
  const candidates = quiet.slice(Math.max(0, count - LOOKED_AT), count).reverse();
  if (newest !== undefined && newest <= at && !candidates.includes(newest)) candidates.unshift(newest);
  const settled = settledOf(view);
  const events = candidates.flatMap((seq) => {
    const told = settled.get(seq);
    if (told !== undefined) return told;
    const entry = log.entry(seq);
    if (!isExternalEvent(entry)) return [];
    const said = WHY[eventOutcome(entry, known).kind];
    const event = said === undefined ? [] : [{ seq, name: explainEvent(entry, fold.spans).name, why: said }];
    if (seq !== newest) settled.set(seq, event);
    return event;
  });
  return { events, more: count > LOOKED_AT };
}

type Settled = Map<number, readonly IgnoredEvent[]>;
const bySituation = new WeakMap<RunFold, { readonly charts: RunCharts | null; readonly settled: Settled }>();

/** What is known of events whose step is over: it stays so as long as the charts do. */
function settledOf({ fold, charts }: WhyView): Settled {
  const there = bySituation.get(fold);
  if (there !== undefined && there.charts === charts) return there.settled;
  const settled: Settled = new Map();
  bySituation.set(fold, { charts, settled });
  return settled;
}

const WHY: Readonly<Partial<Record<EventOutcome['kind'], string>>> = {
  refused: 'every guard was false',
  'no-way': 'no transition for this event',
};
