import { eventMatches } from '../../src/engine/charts/taken-transitions.ts';
import type { ChartBook } from './chart-book.ts';
import type { EntryOf } from './entry-of.ts';
import { eventInWords } from './event-words.ts';
import { guardInWords } from './guard-words.ts';
import type { OpenChart } from './open-chart.ts';
import { nameIn, pathInWords, sameIds } from './state-tree.ts';
import { type SeenNumber, seenNumbers } from './verdict-numbers.ts';

export type Transition = EntryOf<'transition'>;
type Candidate = Transition['candidates'][number];

/** A state by its name, and by those around it. */
interface ToldState {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

export interface ExplainedCandidate {
  /** Counts from 0, in the order in which they are tried. */
  readonly place: number;
  /** In words; "otherwise" where it has none and others stand before it. */
  readonly guard: string;
  /** As the chart names it; null where it has none. */
  readonly name: string | null;
  readonly verdict: Candidate['verdict'];
  readonly saw: readonly SeenNumber[];
  readonly target: readonly ToldState[];
}

/** One transition as people read it. */
export interface ExplainedTransition {
  readonly seq: number;
  readonly machine: string;
  readonly event: string;
  readonly source: ToldState;
  /** Empty where no state was left. */
  readonly target: readonly ToldState[];
  /** What the chart says of the state that it went to, or stayed in. */
  readonly description: string;
  /** All of them, in their order; empty where it was the only way. */
  readonly candidates: readonly ExplainedCandidate[];
}

export function explainTransition(entry: Transition, book: ChartBook): ExplainedTransition {
  const { seq, machine, source, candidates } = entry;
  const chart = book.chart(machine);
  const told = (id: string): ToldState => ({ id, name: nameIn(chart, id), path: pathInWords(chart, id) });
  const [target = source] = entry.target;
  return {
    ...{ seq, machine, event: eventOf(entry, chart), source: told(source), target: entry.target.map(told) },
    description: chart?.state(target)?.description ?? '',
    candidates: candidates.map(({ guard, verdict, inputs, target: to }, place) => ({
      place,
      guard: guard === null ? (place === 0 ? 'always' : 'otherwise') : guardInWords(guard),
      name: guard,
      verdict,
      saw: inputs === null ? [] : seenNumbers(inputs),
      target: to.map(told),
    })),
  };
}

/** One that the chart takes at once bears the event that led to its state: the chart knows which it is. */
function eventOf({ event, source, target }: Transition, chart: OpenChart | undefined): string {
  const said = eventInWords(event);
  const ways = (chart?.transitionsFrom(source) ?? []).filter((way) => sameIds(way.target, target));
  const isHeard = ways.some((way) => way.event !== '' && eventMatches(way.event, event, source));
  return !isHeard && ways.some((way) => way.event === '') ? `at once, after ${said.replace(/^after /u, '')}` : said;
}
