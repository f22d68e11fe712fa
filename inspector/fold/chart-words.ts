import type { Chart } from '../../src/durable/charts/chart.ts';
import { type IndexedChart, lastName } from './chart-index.ts';
import { formatDelay, humanizeGuard, UNNAMED } from './format.ts';
import { excerpt } from './text.ts';

type Transition = Chart['transitions'][number];

const OWN_CHARTS: ReadonlySet<string> = new Set(['postChain', 'attempt', 'actionLoop']);

/** Guards whose names say less than these words. */
const GUARDS: Readonly<Record<string, string>> = {
  answerConverged: 'answer no longer changes',
  answerIsProse: 'answer in prose',
  attemptSucceeded: 'succeeded',
  budgetExhausted: 'budget used up',
  budgetSpent: 'budget used up',
  comparisonWanted: 'compare answers',
  confidenceReached: 'confident enough',
  directionWanted: 'user decides',
  gradingWanted: 'grade the answer',
  loopDetected: 'would repeat itself',
  measuringPays: 'worth measuring',
  nextPhaseInvalid: 'no valid phase',
  nextPhaseIs: 'another cycle',
  phaseMayBeSkipped: 'skip phase',
  phaseMayRepeat: 'repeat phase',
  phaseSucceeded: 'succeeded',
  recallWanted: 'has a session',
  replyIsKnown: 'already known',
  summariesWanted: 'summaries needed',
};

const EVENTS: Readonly<Record<string, string>> = {
  error: 'failed',
  'run.cancelled': 'cancelled',
  'run.directed': 'directed by the user',
  'run.expired': 'out of time',
  'run.finished': 'finished by the user',
  'run.interrupted': 'interrupted',
};

/** Whether a chart is one of the chain's, whose guards and events have words of their own. */
export const isOwnChart = (chartId: string): boolean => OWN_CHARTS.has(chartId);

const wordsIn = (words: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(words, key) ? words[key] : undefined;

/** What a state invokes, or the events that it handles without being left; the phases of the chain have names for these. */
export function noteText(chartId: string, invokes: readonly string[], own: readonly Transition[]): string {
  if (invokes.length > 0) return `${isOwnChart(chartId) ? '' : 'invokes '}${invokes.join(', ')}`;
  const events = own.flatMap(({ event, target }) => (target.length > 0 || event === '' ? [] : [event]));
  if (events.length === 0 || isOwnChart(chartId)) return '';
  return `on ${[...new Set(events.map(eventName))].join(', ')}`;
}

/** What takes a transition: in words for the chain's charts, by its names for those of other programs. */
export function transitionWords(chartId: string, transition: Transition): string {
  const { event, guard, otherwise } = transition;
  if (!isOwnChart(chartId)) return transitionName(transition);
  const known = wordsIn(EVENTS, event);
  if (known !== undefined) return known;
  if (otherwise) return event === 'done' ? 'failed' : 'otherwise';
  if (guard !== null) return wordsIn(GUARDS, guard.replace(/\(.*\)$/su, '')) ?? humanizeGuard(guard);
  return event.startsWith('after ') ? 'out of time' : event === '' ? 'always' : event;
}

/** The label of a line: what takes the transition and, in charts of other programs, its actions. */
function labelWords(chartId: string, transition: Transition): string {
  const words = transitionWords(chartId, transition);
  const { actions } = transition;
  return isOwnChart(chartId) || actions.length === 0 ? words : `${words} / ${actionNames(actions)}`;
}

type Ends = Readonly<Record<'source' | 'target', string | null>>;

const MAX_INNER = 24;
/** If more inner states than this leave a box in the same way, their label has only their number. */
const MAX_SOURCES = 2;

/** The labels of the transitions between two boxes, with the states inside them that they leave and enter: `step2: JUMP › step1`. */
export function lineWords(chart: IndexedChart, ways: readonly Transition[], ends: Ends): readonly string[] {
  if (isOwnChart(chart.id)) return ways.map((way) => labelWords(chart.id, way));
  const inside = (id: string, box: string | null): string =>
    box === null || id === box || !chart.isInside(id, box) ? '' : excerpt(chart.state(id)?.name ?? '', MAX_INNER);
  const words = ways.map((way) => {
    const entered = way.target.map((id) => inside(id, ends.target)).filter(Boolean);
    return `${labelWords(chart.id, way)}${entered.length === 0 ? '' : ` › ${entered.join(', ')}`}`;
  });
  return ways.map(({ source }, at) => {
    const sources = new Set(ways.flatMap((way, other) => (words[other] === words[at] ? way.source : [])));
    const left = sources.size > MAX_SOURCES ? `${sources.size} states` : inside(source, ends.source);
    return left === '' ? (words[at] ?? '') : `${left}: ${words[at]}`;
  });
}

/** Whether a transition begins and ends inside a state, so that a folded state hides it. */
export function isInsideOf(chart: IndexedChart, id: string, { source, target }: Transition): boolean {
  if (!chart.isInside(source, id)) return false;
  return target.length === 0 ? source !== id : target.some((one) => one !== id && chart.isInside(one, id));
}

/** A transition without a line, as its source shows it: `failed ×2 › recovering`. */
export function wayText(chartId: string, transition: Transition, count = ''): string {
  const words = `${transitionWords(chartId, transition)} ${count}`.trim();
  const target = lastName(transition.target[0] ?? '');
  return words.includes(target) ? words : `${words} › ${target}`;
}

/** An event of a chart; a delay has its unit. */
const eventName = (event: string): string =>
  event.replace(/^after (.*)$/su, (_, delay: string) => `after ${formatDelay(delay)}`);

/** The event and the guard of a transition, as the chart names them: `after hold (2 d) [isCheap]`. */
export function transitionName({ event, guard, otherwise, delayMs }: Transition): string {
  const name = guard === UNNAMED ? 'unnamed guard' : guard;
  const condition = name ?? (otherwise ? 'else' : null);
  return [
    eventName(event) || 'always',
    delayMs === undefined ? '' : `(${formatDelay(String(delayMs))})`,
    condition === null ? '' : `[${condition}]`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

export const actionNames = (actions: readonly string[]): string =>
  actions.map((action) => (action === UNNAMED ? 'unnamed action' : action.replace(/^xstate\./u, ''))).join(', ');
