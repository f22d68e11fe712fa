import { isBrief, type RequestKind } from '../answer-fit/request-kind.ts';
import type { Bearing } from '../grounding/bearing.ts';
import type { Certainty } from './certainty.ts';

/**
 * A weak sign against an answer to a question for one thing: it says words of the request again, it has more words than a name,
 * the texts hardly speak of the request, no text that has the answer does, the texts repeat themselves (the search went in
 * circles), or the model says that it has not solved it.
 */
export type NegativeSignal = 'restating' | 'wordy' | 'off the subject' | 'unlinked' | 'repetitive' | 'unsolved';

export interface DoubtInputs {
  readonly kind: RequestKind;
  readonly terse: boolean;
  readonly words: number;
  /** How many different content words the answer has, and how many of them the request has not. */
  readonly content: number;
  readonly added: number;
  readonly certainty: Certainty;
  /** Null with nothing gathered. */
  readonly bearing: Bearing | null;
}

/** So many words are more than most names. */
const WORDY = 3;
/** With less of the request's content than this, texts hardly speak of it. */
export const ON_SUBJECT = 0.25;

/** The doubts about an answer. One says little: they count together. */
export function negativeSignals({
  kind,
  terse,
  words,
  content,
  added,
  certainty,
  bearing,
}: DoubtInputs): readonly NegativeSignal[] {
  if (!isBrief(kind)) return [];
  const signs: readonly (readonly [NegativeSignal, boolean])[] = [
    ['restating', terse && added < content],
    ['wordy', terse && words >= WORDY],
    ['off the subject', bearing !== null && bearing.coverage < ON_SUBJECT],
    ['unlinked', bearing !== null && !bearing.linked],
    ['repetitive', bearing !== null && bearing.repeats > 0],
    ['unsolved', certainty === 'unsolved'],
  ];
  return signs.filter(([, holds]) => holds).map(([doubt]) => doubt);
}
