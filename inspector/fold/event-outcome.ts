import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import type { ChartState } from '../../src/engine/charts/chart.ts';
import { eventMatches } from '../../src/engine/charts/taken-transitions.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type ChartBook, chartBook, type OpenChart, type Stand } from './chart-index.ts';
import { eventInWords, type WhyFact } from './explain.ts';
import { namedInWords } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo } from './sorted.ts';
import type { Spans } from './spans.ts';

/** The outcome of an external event. */
export type EventOutcome =
  /** Transitions, by their entries. */
  | { readonly kind: 'led'; readonly transitions: readonly number[] }
  /** Something was done with it, and no state was left or entered. */
  | { readonly kind: 'taken-in' }
  /** There are ways for it, and none of their guards held. */
  | { readonly kind: 'refused'; readonly guards: readonly string[] }
  | { readonly kind: 'no-way' }
  | { readonly kind: 'stopped' }
  /** Nothing followed, and there is no chart to explain why. */
  | { readonly kind: 'unknown' }
  /** More may follow. */
  | { readonly kind: 'open' };

interface Known {
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  /** Nothing more will follow the last entry. */
  readonly ended: boolean;
}

/**
 * The outcome of an external event: from the entries after it, or if there are none, from the chart's transitions in
 * its state.
 */
export function eventOutcome(entry: JournalEntry & ExternalEvent, { fold, charts, ended }: Known): EventOutcome {
  if (entry.type === 'run-stopped') return { kind: 'stopped' };
  const { to } = fold.externalEvents.stepOf(entry.seq);
  const { seqs } = fold.transitions;
  const transitions = seqs.slice(countUpTo(seqs, entry.seq), countUpTo(seqs, to - 1));
  if (transitions.length > 0) return { kind: 'led', transitions };
  if (charts === null) return ended || Number.isFinite(to) ? { kind: 'unknown' } : { kind: 'open' };
  // What XState sends to its own actors, such as promises, no chart has a transition for.
  if (entry.type === 'delivery' && 'actor' in entry && entry.event.type.startsWith('xstate.'))
    return { kind: 'taken-in' };
  const byChart = foundIn(chartBook(charts), entry, fold);
  return byChart.kind === 'no-way' || ended || Number.isFinite(to) ? byChart : { kind: 'open' };
}

function foundIn(book: ChartBook, entry: JournalEntry & ExternalEvent, fold: RunFold): EventOutcome {
  const guards: string[] = [];
  for (const { chart, hears } of listeners(book, entry)) {
    const stands = fold.transitions.standingAt(chart.id, entry.seq);
    const stand = chart.entered(stands?.targets ?? []);
    if (isOver(chart, stand)) continue;
    // Inner states handle an event before outer ones.
    for (const state of stand.possible) {
      for (const { event, guard, target, actions } of chart.transitionsFrom(state.id)) {
        if (!hears(event, state)) continue;
        if (guard !== null) guards.push(guard);
        else if (target.length === 0 && actions.length === 0) break;
        else return { kind: 'taken-in' };
      }
    }
  }
  return guards.length > 0 ? { kind: 'refused', guards: [...new Set(guards)] } : { kind: 'no-way' };
}

interface Listener {
  readonly chart: OpenChart;
  readonly hears: (event: string, state: ChartState) => boolean;
}

/** The charts that a external event may reach, and by which of their events. */
function listeners(book: ChartBook, entry: ExternalEvent): readonly Listener[] {
  switch (entry.type) {
    case 'delivery': {
      const { type } = entry.event;
      // In other actor systems the event names its actor, which can be any machine.
      const charts = 'actor' in entry ? book.all : book.all.slice(0, 1);
      return charts.map((chart) => ({
        chart,
        hears: (event, state) => event !== '' && eventMatches(event, type, state.id),
      }));
    }
    case 'call-event': {
      const { port, event } = entry;
      const ends = { settled: 'done', broken: 'error' } as const;
      const type = event.type === 'settled' || event.type === 'broken' ? ends[event.type] : event.type;
      return book.all
        .filter(({ states }) => states.some(({ invokes }) => invokes.includes(port)))
        .map((chart) => ({
          chart,
          hears: (heard, state) => heard === type && (event.type.startsWith('reply.') || state.invokes.includes(port)),
        }));
    }
    case 'timer':
      return book.all.map((chart) => ({ chart, hears: (event) => event.startsWith('after ') }));
    default:
      return [];
  }
}

/** Whether nothing can happen in the machine any more. */
const isOver = ({ root }: OpenChart, { possible }: Stand): boolean =>
  possible.some(({ type, parent }) => type === 'final' && parent === root?.id);

/** An external event: its name and details. */
interface ExplainedEvent {
  readonly name: string;
  readonly facts: readonly WhyFact[];
}

const LONGEST = 400;

export function explainEvent(entry: JournalEntry & ExternalEvent, { calls }: Spans): ExplainedEvent {
  switch (entry.type) {
    case 'delivery': {
      const { type, ...members } = entry.event as { readonly type: string };
      const { actor, sender } = entry as { readonly actor?: string; readonly sender?: string | null };
      const said = JSON.stringify(members);
      const facts: WhyFact[] = [];
      if (actor !== undefined) facts.push({ label: 'To', text: actor, said: true });
      if (typeof sender === 'string') facts.push({ label: 'From', text: sender, said: true });
      if (said !== '{}') facts.push({ label: 'With', text: said.slice(0, LONGEST), said: true });
      return { name: eventInWords(type), facts };
    }
    case 'call-event': {
      const { event } = entry;
      const call = calls[entry.call];
      const subject = call === undefined || call.subject === '' ? '' : ` for ${call.subject}`;
      const asked =
        entry.port === 'readReply' ? `the model's reply${subject}` : `${namedInWords(entry.port)}${subject}`;
      const facts: WhyFact[] = [{ label: 'Call', text: `${entry.call}: ${asked}` }];
      if (event.type === 'broken') facts.push({ label: 'Error', text: event.error.message, said: true });
      if (event.type === 'reply.ended' && event.reply.failure !== null)
        facts.push({
          label: 'Failure',
          text: `${event.reply.failure.code}: ${event.reply.failure.message}`,
          said: true,
        });
      if (event.type === 'settled') return { name: `the result of ${asked}`, facts };
      return { name: event.type === 'broken' ? `the error of ${asked}` : event.type, facts };
    }
    case 'timer':
      return { name: 'a delay that elapsed', facts: [{ label: 'Timer', text: String(entry.timer) }] };
    case 'run-stopped':
      return { name: 'an external stop', facts: [] };
    default:
      return entry satisfies never;
  }
}

/** What became of it, in one sentence. */
export function outcomeInWords(outcome: EventOutcome): string {
  switch (outcome.kind) {
    case 'led':
      return outcome.transitions.length === 1
        ? 'It caused a transition:'
        : `It caused ${outcome.transitions.length} transitions:`;
    case 'taken-in':
      return 'Handled without a transition: no state was exited or entered.';
    case 'refused':
      return `Ignored: every guard was false (${outcome.guards.map(namedInWords).join(', ')}).`;
    case 'no-way':
      return 'Ignored: the current states have no transition for this event.';
    case 'stopped':
      return 'It stopped the run.';
    case 'unknown':
      return 'No transition followed. The reason is unknown without a chart.';
    case 'open':
      return 'It has just arrived; its outcome is not known yet.';
    default:
      return outcome satisfies never;
  }
}
