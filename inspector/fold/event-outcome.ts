import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import type { ChartState } from '../../src/durable/charts/chart.ts';
import { eventMatches } from '../../src/durable/charts/taken-transitions.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type ChartIndex, type Configuration, chartIndexOf, type IndexedChart } from './chart-index.ts';
import { humanizeEvent, type WhyFact } from './explain.ts';
import { humanize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo } from './sorted.ts';
import type { Spans } from './spans.ts';
import { excerpt, jsonExcerpt } from './text.ts';

export type EventOutcome =
  /** Transitions, by their entries. */
  | { readonly kind: 'transitions'; readonly transitions: readonly number[] }
  /** Handled by actions, without exiting or entering a state. */
  | { readonly kind: 'handled' }
  /** There are transitions for it, but all guards were false. */
  | { readonly kind: 'guards-false'; readonly guards: readonly string[] }
  | { readonly kind: 'no-transition' }
  /** The actor of an observed system failed while processing it. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' }
  /** No transition followed. Without a chart, the reason is unknown. */
  | { readonly kind: 'unknown' }
  /** Effects may still follow. */
  | { readonly kind: 'pending' };

interface OutcomeContext {
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  /** Nothing more will follow the last entry. */
  readonly ended: boolean;
}

/**
 * The outcome of an external event: from the entries after it, or if there are none, from the chart's transitions in
 * its state.
 */
export function eventOutcome(
  entry: JournalEntry & ExternalEvent,
  { fold, charts, ended }: OutcomeContext,
): EventOutcome {
  if (entry.type === 'run-stopped') return { kind: 'stopped' };
  const { to } = fold.externalEvents.stepOf(entry.seq);
  const { seqs } = fold.transitions;
  const transitions = seqs.slice(countUpTo(seqs, entry.seq), countUpTo(seqs, to - 1));
  if (transitions.length > 0) return { kind: 'transitions', transitions };
  if (entry.type === 'delivery' && 'actor' in entry) return recordedIn(fold, entry.seq, ended || Number.isFinite(to));
  if (charts === null) return ended || Number.isFinite(to) ? { kind: 'unknown' } : { kind: 'pending' };
  const byChart = foundIn(chartIndexOf(charts), entry, fold);
  return byChart.kind === 'no-transition' || ended || Number.isFinite(to) ? byChart : { kind: 'pending' };
}

/** An observed system records why an event led to no transition. */
function recordedIn({ externalEvents }: RunFold, seq: number, isOver: boolean): EventOutcome {
  const recorded = externalEvents.recordedOutcome(seq);
  if (recorded?.type === 'actor-end') {
    const { message = jsonExcerpt(recorded.error, MAX_CHARS) } = Object(recorded.error) as {
      readonly message?: string;
    };
    return { kind: 'failed', message: excerpt(`${message}`, MAX_CHARS) };
  }
  if (recorded === undefined) return { kind: isOver ? 'handled' : 'pending' };
  const { guards } = recorded;
  return guards.length > 0 ? { kind: 'guards-false', guards: [...new Set(guards)] } : { kind: 'no-transition' };
}

function foundIn(index: ChartIndex, entry: JournalEntry & ExternalEvent, fold: RunFold): EventOutcome {
  const guards: string[] = [];
  for (const { chart, accepts } of listeners(index, entry)) {
    const position = fold.transitions.positionAt(chart.id, entry.seq);
    const configuration = chart.entered(position?.targets ?? []);
    if (isOver(chart, configuration)) continue;
    // Inner states handle an event before outer ones.
    for (const state of configuration.possible) {
      for (const { event, guard, target, actions } of chart.transitionsFrom(state.id)) {
        if (!accepts(event, state)) continue;
        if (guard !== null) guards.push(guard);
        else if (target.length === 0 && actions.length === 0) break;
        else return { kind: 'handled' };
      }
    }
  }
  return guards.length > 0 ? { kind: 'guards-false', guards: [...new Set(guards)] } : { kind: 'no-transition' };
}

/** The ids of the actors that actions of the chain start, by their names. */
const SPAWNED: Readonly<Record<string, string>> = { retrievePassages: 'search', callAhead: 'early' };

interface Listener {
  readonly chart: IndexedChart;
  readonly accepts: (event: string, state: ChartState) => boolean;
}

/** The charts that an external event may reach, with a predicate for the events they accept it as. */
function listeners(index: ChartIndex, entry: ExternalEvent): readonly Listener[] {
  switch (entry.type) {
    case 'delivery': {
      const { type } = entry.event;
      return index.all.slice(0, 1).map((chart) => ({
        chart,
        accepts: (event, state) => event !== '' && eventMatches(event, type, state.id),
      }));
    }
    case 'call-event': {
      const { actor, event } = entry;
      const ends = { done: 'done', failed: 'error' } as const;
      const type = event.type === 'done' || event.type === 'failed' ? ends[event.type] : event.type;
      const isReply = event.type.startsWith('reply.');
      return index.all
        .filter(({ states }) => SPAWNED[actor] !== undefined || states.some(({ invokes }) => invokes.includes(actor)))
        .map((chart) => ({
          chart,
          accepts: (event, state) =>
            event === `${SPAWNED[actor]}: ${type}` || (event === type && (isReply || state.invokes.includes(actor))),
        }));
    }
    case 'timer':
      return index.all.map((chart) => ({ chart, accepts: (event) => event.startsWith('after ') }));
    default:
      return [];
  }
}

const isOver = ({ root }: IndexedChart, { possible }: Configuration): boolean =>
  possible.some(({ type, parent }) => type === 'final' && parent === root?.id);

interface ExplainedEvent {
  readonly name: string;
  readonly facts: readonly WhyFact[];
}

const MAX_CHARS = 400;

export function explainEvent(entry: JournalEntry & ExternalEvent, { calls }: Spans): ExplainedEvent {
  switch (entry.type) {
    case 'delivery': {
      const { type, ...members } = entry.event as { readonly type: string };
      const { actor, sender } = entry as { readonly actor?: string; readonly sender?: string | null };
      const data = JSON.stringify(members);
      const facts: WhyFact[] = [];
      if (actor !== undefined) facts.push({ label: 'To', text: actor, verbatim: true });
      if (typeof sender === 'string') facts.push({ label: 'From', text: sender, verbatim: true });
      if (data !== '{}') facts.push({ label: 'With', text: data.slice(0, MAX_CHARS), verbatim: true });
      return { name: humanizeEvent(type), facts };
    }
    case 'call-event': {
      const { event } = entry;
      const call = calls[entry.call];
      const subject = call === undefined || call.subject === '' ? '' : ` for ${call.subject}`;
      const activity =
        entry.actor === 'readReply' ? `the model's reply${subject}` : `${humanize(entry.actor)}${subject}`;
      const facts: WhyFact[] = [{ label: 'Call', text: `${entry.call}: ${activity}` }];
      if (event.type === 'failed') facts.push({ label: 'Error', text: event.error.message, verbatim: true });
      if (event.type === 'reply.ended' && event.reply.failure !== null)
        facts.push({
          label: 'Failure',
          text: `${event.reply.failure.code}: ${event.reply.failure.message}`,
          verbatim: true,
        });
      if (event.type === 'done') return { name: `the result of ${activity}`, facts };
      return { name: event.type === 'failed' ? `the error of ${activity}` : event.type, facts };
    }
    case 'timer':
      return { name: 'a delay that elapsed', facts: [{ label: 'Timer', text: String(entry.timer) }] };
    case 'run-stopped':
      return { name: 'an external stop', facts: [] };
    default:
      return entry satisfies never;
  }
}

export function describeOutcome(outcome: EventOutcome): string {
  switch (outcome.kind) {
    case 'transitions':
      return outcome.transitions.length === 1
        ? 'It caused a transition:'
        : `It caused ${outcome.transitions.length} transitions:`;
    case 'handled':
      return 'Handled without a transition: no state was exited or entered.';
    case 'guards-false':
      return `Ignored: every guard was false (${outcome.guards.map(humanize).join(', ')}).`;
    case 'no-transition':
      return 'Ignored: the current states have no transition for this event.';
    case 'stopped':
      return 'It stopped the run.';
    case 'failed':
      return `The actor failed: ${outcome.message}`;
    case 'unknown':
      return 'No transition followed. The reason is unknown without a chart.';
    case 'pending':
      return 'It has just arrived; its outcome is not known yet.';
    default:
      return outcome satisfies never;
  }
}
