import { isBrief, type RequestKind } from '../answer-fit/request-kind.ts';
import type { Bearing } from '../grounding/bearing.ts';
import type { Grounding } from '../grounding/grounding.ts';
import type { Certainty } from './certainty.ts';
import { ON_SUBJECT } from './negative-signals.ts';

/** What one reason not to believe an answer leaves of its score. */
export const DISBELIEVED = 0.3;
/** With as much of the request's content as this, texts speak of nearly all of it. */
const WELL_COVERED = 0.6;
/** An open answer of which less than this stands anywhere was not made from what was gathered. */
const OPEN_SUPPORT = 0.25;
/** What may be right without standing anywhere: a number is counted or summed, a choice stands in the request, a text is made up. */
const DERIVED: ReadonlySet<RequestKind> = new Set(['number', 'choice', 'writing']);

/**
 * How far an answer is trusted for where it stands, 0..1. A short answer that stands in part but not word for word was put
 * together or changed. One that stands nowhere may be what the model knows, where the texts speak of a part of the request
 * only; a date never is. A sentence is trusted as far as it is supported.
 */
export function trustInGrounding(
  { support, span }: Grounding,
  kind: RequestKind,
  terse: boolean,
  bearing: Bearing | null,
): number {
  if (support === null || span || DERIVED.has(kind)) return 1;
  if (!isBrief(kind)) return support < OPEN_SUPPORT ? DISBELIEVED : 1;
  if (support === 0) return kind !== 'date' && leavesAGap(bearing) ? 1 : DISBELIEVED;
  return terse ? DISBELIEVED : support;
}

const leavesAGap = (bearing: Bearing | null): boolean =>
  bearing !== null && bearing.coverage >= ON_SUBJECT && bearing.coverage < WELL_COVERED;

/** How far an answer is trusted for what the model says of it, 0..1. That it has not solved the task weighs less where the answer stands word for word. */
export function trustInRationale(certainty: Certainty, { span }: Grounding): number {
  if (certainty === 'guessed') return DISBELIEVED;
  return certainty === 'unsolved' && !span ? DISBELIEVED : 1;
}
