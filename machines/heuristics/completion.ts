import { type Grounding, isBare, TERSE_WORDS } from './grounding.ts';
import type { Features, Reading } from './reading.ts';

/** What speaks against a claim that the task is complete; each 0 or 1, all 0 without evidence. */
export type CompletionFeature = 'long' | 'recombined' | 'repeatedResults';

/** With less support than this, the evidence has only words of the answer that occur everywhere. */
const INCIDENTAL = 0.1;

/**
 * Returns the features of an answer whose model claims completion.
 * - `long`: more than five words.
 * - `recombined`: the evidence has words of the answer, but not together: it was combined or changed.
 * - `repeatedResults`: the search returned the same text more than once.
 *
 * An answer that a text has verbatim, a yes or no, and a choice from the request have none of these.
 */
export function completionFeatures(
  answer: Reading,
  request: Reading,
  grounding: Grounding,
  repeated: boolean,
): Features<CompletionFeature> {
  const fromRequest = request.plain.includes(answer.plain);
  const open = grounding.support !== null && !grounding.verbatim && !isBare(answer) && !fromRequest;
  const support = grounding.support ?? 0;
  const flag = (holds: boolean) => (open && holds ? 1 : 0);
  return {
    long: flag(answer.length > TERSE_WORDS),
    recombined: flag(support > INCIDENTAL),
    repeatedResults: flag(repeated),
  };
}
