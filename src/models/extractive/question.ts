import type { Message } from '../../../machines/contracts/message.ts';
import { sentencesOf } from '../../../machines/text/sentences.ts';
import {
  isGeneral,
  requestTerms,
  stemsOf,
  type Term,
  type TermWeight,
  termWeights,
} from '../../../machines/text/terms.ts';
import type { Steps } from '../../internal/async.ts';
import type { Evidence } from './evidence.ts';
import { isEmptyAnswer } from './wording.ts';

/** A set of a question's terms, one bit each. */
export type TermSet = number;

/** The content words of a request, and their weight in the given evidence. */
export interface Question {
  readonly text: string;
  readonly terms: readonly Term[];
  /** Returns the terms that a text contains. */
  readonly termsIn: (text: string) => TermSet;
  /** Returns the weight of a set of terms relative to the whole question, 0..1; 0 if the question has no content words. */
  readonly share: (set: TermSet) => number;
  /** Returns the terms as written in the request, without general words if there are others. */
  readonly words: (set: TermSet) => string[];
  readonly all: TermSet;
  /** The terms in each piece of evidence and its heading, in order. */
  readonly inEvidence: readonly TermSet[];
}

/** The bits of a small integer. */
const MAX_TERMS = 30;

/** Returns the question of a request, in a step per piece of evidence. The evidence determines how rare its words are. */
export function* questionOf(request: string, evidence: readonly Evidence[]): Steps<Question> {
  const terms = requestTerms(request, MAX_TERMS).slice(0, MAX_TERMS);
  const specific = terms.filter(({ stem }) => !isGeneral(stem));
  const shown = specific.length > 0 ? specific : terms;
  const bits = new Map(terms.map(({ stem }, at) => [stem, 1 << at]));
  const termsIn = (text: string): TermSet => stemsOf(text).reduce((set, stem) => set | (bits.get(stem) ?? 0), 0);
  const inEvidence: TermSet[] = [];
  for (const { heading, body } of evidence) {
    inEvidence.push(termsIn(heading) | termsIn(body));
    yield;
  }
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

/** Whether a text contains the kind of information that a question asks for. */
export type AnswerCue = (text: string) => boolean;

const NUMBER_WORD =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred|thousand|million|half|twice|once)\b/i;
const TIME =
  /\b(?:1\d|20)\d\d\b|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|\b\d+(?:st|nd|rd|th) century\b|\b\d{1,2}:\d\d\b/;
const REASON = /\b(?:because|since|so that|due to|in order to|therefore|as a result|to avoid|otherwise)\b/i;
const ORDER =
  /^\s*\d+[.)]\s[\s\S]*^\s*\d+[.)]\s|\bfirst\b[\s\S]*\b(?:then|second|next|last)\b|→|\bin (?:this |that )?order\b/im;
const NAME = /(?<![.!?]\s)(?<!^)\p{Lu}[\p{L}'’-]+/gu;

/** Returns the cue for a request's question word, or null if the answer has no recognizable form. */
export function answerCue(request: string): AnswerCue | null {
  if (/\b(?:how (?:many|much|long|often|far|old|large|big|tall)|what (?:number|percentage|share))\b/i.test(request)) {
    return (text) => NUMBER_WORD.test(text);
  }
  if (/\b(?:when|(?:what|which) (?:year|date|day|month|century|decade))\b/i.test(request))
    return (text) => TIME.test(text);
  if (/\bwhy\b|\bfor what reason\b/i.test(request)) return (text) => REASON.test(text);
  if (/\b(?:order|sequence|steps)\b/i.test(request)) return (text) => ORDER.test(text);
  if (/\b(?:who|whom|whose|where)\b/i.test(request)) return namesBeyond(request);
  return null;
}

/** A text must contain a name that is not in the question. */
function namesBeyond(request: string): AnswerCue {
  const asked = new Set(stemsOf(request));
  return (text) => (text.match(NAME) ?? []).some((name) => stemsOf(name).some((stem) => !asked.has(stem)));
}

const MAX_FACETS = 5;
const MAX_REQUEST_CHARS = 20_000;
const NEXT_QUESTION =
  /[,;]?\s+and\s+(?=(?:(?:in|by|from|to|at|for|with|on) )?(?:what|which|who|whom|whose|how|why|when|where)\b)/i;
const COMPARISON = /\b(?:compare|compared|contrast|differ|differs|difference|differences|versus|vs)\b/i;

/** Returns the questions in a request, in order, or none if there is only one. */
export function facetsOf(request: string): string[] {
  const asking = sentencesOf(request.slice(0, MAX_REQUEST_CHARS)).filter(({ text }) => /[?？]/.test(text));
  const facets = asking.flatMap(({ text }) => text.split(NEXT_QUESTION)).filter((facet) => stemsOf(facet).length > 0);
  return facets.length < 2 ? [] : facets.slice(0, MAX_FACETS).map((facet) => facet.trim());
}

/** Whether a request asks for more than one thing: several questions, or a comparison. */
export function asksSeveralThings(request: string): boolean {
  return COMPARISON.test(request.slice(0, MAX_REQUEST_CHARS)) || facetsOf(request).length > 0;
}

const CAPITALIZED = /\p{Lu}[\p{L}\p{N}'’-]+(?:\s+(?:(?:of|the|and|de|for|in)\s+)?\p{Lu}[\p{L}\p{N}'’-]+)*/gu;
const CODE_SPAN = /`([^`\n]{2,60})`/g;

/** Returns the names in a text (capitalized phrases and code spans), in order, with repetitions. */
export function namesIn(text: string): string[] {
  const code = [...text.matchAll(CODE_SPAN)].map((match) => match[1] ?? '');
  return [...(text.replace(CODE_SPAN, ' . ').match(CAPITALIZED) ?? []), ...code];
}

/** The share of a request's weight that a message covers, 0..1, and the covered words. */
interface MessageRelevance {
  readonly message: Message;
  readonly relevance: number;
  readonly words: readonly string[];
}

/**
 * Returns the relevance of each message to the request, in order: the share of the request's content words, weighted by rarity. An answer
 * that nothing was found repeats the request's words, but has relevance 0. Takes a step per message.
 */
export function* messageRelevance(request: string, messages: readonly Message[]): Steps<MessageRelevance[]> {
  const evidence = messages.map(({ id, content }) => ({ id, heading: '', body: content }));
  const question = yield* questionOf(request, evidence);
  return messages.map((message, at) => {
    const empty = message.role === 'assistant' && isEmptyAnswer(message.content);
    const set = empty ? 0 : (question.inEvidence[at] ?? 0);
    return { message, relevance: question.share(set), words: question.words(set) };
  });
}
