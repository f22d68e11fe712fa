import type { Chart } from '../../src/durable/charts/chart.ts';
import { humanizeGuard } from './format.ts';

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
  nextPhaseInvalid: 'no valid next phase',
  nextPhaseIs: 'another cycle',
  phaseSucceeded: 'succeeded',
  recallWanted: 'has a session',
  replyIsKnown: 'already known',
  summariesWanted: 'summaries needed',
  taskComplete: 'task complete',
};

const EVENTS: Readonly<Record<string, string>> = {
  error: 'failed',
  'run.cancelled': 'cancelled',
  'run.directed': 'directed by the user',
  'run.expired': 'out of time',
  'run.finished': 'finished by the user',
  'run.interrupted': 'interrupted',
};

const wordsIn = (words: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(words, key) ? words[key] : undefined;

/** What takes a transition: in words for the chain's charts, by its names for those of other programs. */
export function transitionWords(chartId: string, transition: Transition): string {
  const { event, guard, otherwise } = transition;
  if (!OWN_CHARTS.has(chartId)) return transitionName(transition);
  const known = wordsIn(EVENTS, event);
  if (known !== undefined) return known;
  if (otherwise) return event === 'done' ? 'failed' : 'otherwise';
  if (guard !== null) return wordsIn(GUARDS, guard.replace(/\(.*\)$/su, '')) ?? humanizeGuard(guard);
  return event.startsWith('after ') ? 'out of time' : event === '' ? 'always' : event;
}

/** The event and the guard of a transition, as the chart names them. */
export function transitionName({ event, guard, otherwise }: Transition): string {
  return [event, guard ?? (otherwise ? 'else' : '')].filter((part) => part !== '').join(': ') || 'always';
}
