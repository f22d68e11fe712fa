import { isPhase } from '../../machines/policies/progress.ts';
import { capitalize } from './format.ts';
import { RETRIEVAL } from './selection.ts';
import { countStartedBy, firstIndexWhere, lastStartedBy, startedIn } from './sorted.ts';
import { type AttemptSpan, type CallSpan, type PhaseSpan, type Spans, stepOf } from './spans.ts';

/** Whether a call that is numbered with the step of a phase is for it. A call that started early is not, if another phase came instead. */
const isFor = ({ task }: AttemptSpan, { phase }: PhaseSpan): boolean => task === phase || !isPhase(task);

/** The model calls of a phase, and those that started early for a phase that another one replaced. */
export function callsOfPhase({ byStep }: Spans, phase: PhaseSpan) {
  const calls = byStep.get(phase.step) ?? [];
  return { own: calls.filter((call) => isFor(call, phase)), unused: calls.filter((call) => !isFor(call, phase)) };
}

/** The phase that a model call is for; undefined if it has not started, or there is none. */
export function phaseOf({ phases }: Spans, call: AttemptSpan): PhaseSpan | undefined {
  const step = stepOf(call);
  const phase = phases[firstIndexWhere(phases, (one) => one.step >= step)];
  return phase?.step === step && isFor(call, phase) ? phase : undefined;
}

/** The phase during which something started early, in words. */
export const earlyWords = ({ phases }: Spans, from: number): string =>
  // Calls that start with the first phase are recorded before it.
  `started early during ${capitalize((lastStartedBy(phases, from) ?? phases[0])?.phase ?? '')}`;

/** During which phase, or for which one, a call started early; empty if it did not. */
export function earlyCallWords(spans: Spans, call: AttemptSpan): string {
  const [own, during] = [phaseOf(spans, call), lastStartedBy(spans.phases, call.from)];
  if (during === undefined || call.task === during.phase) return '';
  if (own !== undefined) return call.from < own.from ? earlyWords(spans, call.from) : '';
  if (!isPhase(call.task)) return '';
  const isPassed = spans.phases.some(({ step }) => step >= stepOf(call));
  return `started early for ${capitalize(call.task)}${isPassed ? ', not used' : ''}`;
}

export const searchesBetween = ({ calls }: Spans, from: number, to: number): readonly CallSpan[] =>
  startedIn(calls, from, to).filter(({ source }) => source === RETRIEVAL);

/** Returns the phase that a search belongs to. One that starts before Experience, or before all phases, belongs to Experience. */
export function searchPhase({ phases }: Spans, from: number): PhaseSpan | undefined {
  const index = Math.max(0, countStartedBy(phases, from) - 1);
  const [phase, next] = [phases[index], phases[index + 1]];
  return phase?.phase !== 'experience' && next?.phase === 'experience' ? next : phase;
}

export function searchesOf(spans: Spans, phase: PhaseSpan): readonly CallSpan[] {
  const index = countStartedBy(spans.phases, phase.from) - 1;
  const from = index < 2 ? 0 : (spans.phases[index - 1]?.from ?? 0);
  const to = (spans.phases[index + 1]?.from ?? Number.POSITIVE_INFINITY) - 1;
  return searchesBetween(spans, from, to).filter((search) => searchPhase(spans, search.from) === phase);
}
