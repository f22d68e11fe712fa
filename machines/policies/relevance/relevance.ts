import type { Message } from '../../contracts/message.ts';
import { requestTerms } from '../../text/terms.ts';
import { lexicalMatch } from './lexical-match.ts';
import { termsOfMessage } from './message-terms.ts';
import { neighbours } from './neighbours.ts';
import { sharedNames } from './shared-names.ts';
import { finite, importance, linked, recency, referencedIds } from './standing.ts';

/**
 * What each factor counts [U1]. `text` is the best of a message's own match, with a share of the names that it has in common with
 * others, and its neighbours' match; `similarity` counts only where there are embeddings; the others make a whole.
 */
export const RELEVANCE_WEIGHTS = {
  text: 0.42,
  speaker: 0.08,
  recency: 0.2,
  reference: 0.15,
  importance: 0.1,
  links: 0.05,
  similarity: 0.42,
} as const;

/** What names in common count beside a match of their own. */
const NAMES_SHARE = 0.3;

export interface RelevanceInputs {
  readonly request: string;
  readonly cycle: number;
  readonly halfLifeCycles: number;
  /** How similar each message is to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
}

/** The factors of a message's relevance, and the score that their weighted mean gives; all are cut to 0..1 where they are told. */
export interface Relevance {
  readonly match: number;
  readonly names: number;
  readonly neighbours: number;
  readonly speaker: number;
  readonly recency: number;
  readonly reference: number;
  readonly importance: number;
  readonly links: number;
  readonly similarity: number | null;
  readonly score: number;
}

/** How relevant each message is to the request, in order [U1]. No message is read twice; linear in messages times request words. */
export function relevanceOf(messages: readonly Message[], inputs: RelevanceInputs): readonly Relevance[] {
  const wanted = requestTerms(inputs.request).map(({ stem }) => stem);
  const texts = messages.map(termsOfMessage);
  const match = lexicalMatch(wanted, texts);
  const names = sharedNames(wanted, texts, match);
  const own = match.map((value, at) => value + NAMES_SHARE * (names[at] ?? 0));
  const beside = neighbours(messages, own);
  const asked = new Set(wanted);
  const says = own.some((value) => value > 0);
  const referenced = referencedIds(messages);
  return messages.map((message, at) => {
    const relevance = {
      match: clamp(match[at] ?? 0),
      names: clamp(names[at] ?? 0),
      neighbours: clamp(beside[at] ?? 0),
      speaker: texts[at]?.speaker.some((name) => asked.has(name)) ? 1 : 0,
      recency: recency(inputs.cycle - message.cycle, inputs.halfLifeCycles),
      reference: referenced.has(message.id) ? 1 : 0,
      importance: importance(message),
      links: linked(message),
      similarity: inputs.similarity === null ? null : clamp(inputs.similarity[at] ?? 0),
      score: 0,
    };
    relevance.score = weighed(relevance, says ? Math.max(own[at] ?? 0, beside[at] ?? 0) : null);
    return relevance;
  });
}

/**
 * The weighted mean. `text` counts as it is, above 1 too: cut, all full matches would be the same. It is null where no message has a
 * word of the request ("And why is that?"): then it says nothing of any, and the other factors make the whole.
 */
function weighed(relevance: Omit<Relevance, 'score'>, text: number | null): number {
  const { speaker, recency: recent, reference, importance: important, links, similarity } = relevance;
  const sum =
    W.text * (text ?? 0) +
    W.speaker * speaker +
    W.recency * recent +
    W.reference * reference +
    W.importance * important +
    W.links * links;
  const whole = 1 - (text === null ? W.text : 0);
  return clamp(similarity === null ? sum / whole : (sum + W.similarity * similarity) / (whole + W.similarity));
}

const W = RELEVANCE_WEIGHTS;

const clamp = (value: number): number => Math.min(1, Math.max(0, finite(value)));
