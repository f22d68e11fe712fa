import {
  isGeneral,
  requestTerms,
  stemsOf,
  type Term,
  type TermWeight,
  termWeights,
} from '../../../machines/text/terms.ts';
import type { Evidence } from './evidence.ts';

/** A set of a question's terms, one bit each. */
export type TermSet = number;

/** A request as the offline model sees it: its content words, and how much each of them tells in this evidence. */
export interface Question {
  readonly text: string;
  readonly terms: readonly Term[];
  /** The terms that a text has. */
  readonly termsIn: (text: string) => TermSet;
  /** The share of the question's weight that a set of terms has, 0..1; 0 if the question has no content words. */
  readonly share: (set: TermSet) => number;
  /** How the terms of a set stand in the request; general words are left out where there are others. */
  readonly words: (set: TermSet) => string[];
  readonly all: TermSet;
  /** The terms that each piece of evidence has, its heading included; in the evidence's order. */
  readonly inEvidence: readonly TermSet[];
}

/** As many as fit into the bits of a small integer. */
const MAX_TERMS = 30;

/** Reads a request against the evidence at hand, which says how rare its words are. Linear in the evidence. */
export function questionOf(request: string, evidence: readonly Evidence[]): Question {
  const terms = requestTerms(request, MAX_TERMS).slice(0, MAX_TERMS);
  const telling = terms.filter(({ stem }) => !isGeneral(stem));
  const shown = telling.length > 0 ? telling : terms;
  const bits = new Map(terms.map(({ stem }, at) => [stem, 1 << at]));
  const termsIn = (text: string): TermSet => stemsOf(text).reduce((set, stem) => set | (bits.get(stem) ?? 0), 0);
  const inEvidence = evidence.map(({ heading, body }) => termsIn(heading) | termsIn(body));
  const weights = weightsOf(terms, inEvidence);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {
    text: request,
    terms,
    termsIn,
    share: (set) =>
      total === 0
        ? 0
        : Math.min(1, weights.reduce((sum, weight, at) => sum + (set & (1 << at) ? weight : 0), 0) / total),
    words: (set) => [...new Set(shown.filter(({ stem }) => set & (bits.get(stem) ?? 0)).map(({ surface }) => surface))],
    all: terms.reduce((set, _, at) => set | (1 << at), 0),
    inEvidence,
  };
}

function weightsOf(terms: readonly Term[], sets: readonly TermSet[]): number[] {
  const textsWith = new Map(terms.map(({ stem }, at) => [stem, sets.filter((set) => set & (1 << at)).length]));
  const weight: TermWeight = termWeights(sets.length, (stem) => textsWith.get(stem) ?? 0);
  return terms.map(({ stem }) => weight(stem));
}
