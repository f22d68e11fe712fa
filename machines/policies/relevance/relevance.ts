import type { Message } from '../../contracts/message.ts';
import { eachStem, requestTerms, stemsOf } from '../../text/terms.ts';

/** What of a message's relevance is not in its words. Each factor is 0..1. */

/** Half as much with each half-life; a clock or cycle that goes back, or is no number, counts as now [U11]. */
export function recency(age: number, halfLife: number): number {
  return age > 0 ? 0.5 ** (age / halfLife) : 1;
}

/** Ids that other messages were made from or are linked to, and not only themselves [U2]. */
export function referencedIds(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { id: own, references, links } of messages) {
    for (const id of references) if (id !== own) ids.add(id);
    for (const { to } of links) if (to !== own) ids.add(to);
  }
  return ids;
}

const RAISING: ReadonlySet<string> = new Set(['relevant', 'important', 'persist']);
const LOWERING = 'low_relevance';
const TAG_SHARE = 0.25;

/** The importance that a message was given; a tag that says so moves it by a quarter. */
function importance({ importance: given, tags }: Message): number {
  const raised = tags.some((tag) => RAISING.has(tag)) ? TAG_SHARE : 0;
  const lowered = tags.includes(LOWERING) ? TAG_SHARE : 0;
  return Math.min(1, Math.max(0, finite(given) + raised - lowered));
}

/** Two links are as good as more. */
function linked({ links }: Message): number {
  return Math.min(1, links.length / 2);
}

/** A score that is no number counts as nothing. */
function finite(score: number): number {
  return Number.isFinite(score) ? score : 0;
}

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

/** What a message has of the match of one that is one, two or three places away. */
const SHARES = [0.8, 0.6, 0.4];

/**
 * How well the neighbours of each message match, on the scale of `match`: the best of the three before and after it, less with each place. Turns of one
 * conversation are neighbours, and passages of one document: an answer stands beside its question, and often has none of its words.
 */
function neighbours(messages: readonly Message[], match: readonly number[]): readonly number[] {
  return messages.map((message, at) => {
    let best = 0;
    for (const [place, share] of SHARES.entries())
      for (const next of [at - place - 1, at + place + 1]) {
        const other = messages[next];
        if (other !== undefined && together(message, other)) best = Math.max(best, share * (match[next] ?? 0));
      }
    return best;
  });
}

/** What a phase made stands alone: it is about the request as a whole. */
function together(one: Message, other: Message): boolean {
  if (one.role === 'search' || other.role === 'search')
    return one.role === other.role && one.source !== null && one.source.path === other.source?.path;
  return one.phase === null && other.phase === null;
}

/** The two best matches of the texts that have a name, which text has the best, and how many have it. */
interface Holders {
  best: number;
  at: number;
  second: number;
  count: number;
}

/**
 * How much each text has to do with others that match, from 0 on, by the names that they share and the request does not say: the
 * second step of a question that needs two ("the founder of X" leads to a text about that founder). A name counts by its rarity and
 * by the best match of the other texts that have it: spreading activation of one step (Collins and Loftus 1975). Linear in the names.
 */
function sharedNames(
  wanted: readonly string[],
  texts: readonly MessageTerms[],
  match: readonly number[],
): readonly number[] {
  const holders = holdersOf(new Set(wanted), texts, match);
  const most = rarity(texts.length, 0);
  for (const held of holders.values()) {
    const weight = held.count < 2 ? 0 : rarity(texts.length, held.count) / most;
    held.best *= weight;
    held.second *= weight;
  }
  return texts.map(({ names }, at) => {
    let sum = 0;
    for (const name of names) {
      const held = holders.get(name);
      if (held !== undefined) sum += held.at === at ? held.second : held.best;
    }
    return sum;
  });
}

function holdersOf(asked: ReadonlySet<string>, texts: readonly MessageTerms[], match: readonly number[]) {
  const holders = new Map<string, Holders>();
  for (const [at, { names }] of texts.entries()) {
    const score = match[at] ?? 0;
    for (const name of names) {
      const held = holders.get(name);
      if (held !== undefined) {
        held.count += 1;
        if (score > held.best) {
          held.second = held.best;
          held.best = score;
          held.at = at;
        } else if (score > held.second) held.second = score;
      } else if (!asked.has(name)) holders.set(name, { best: score, at, second: 0, count: 1 });
    }
  }
  return holders;
}

/** BM25's saturation of repeated words and its share of length normalisation, as usual. */
const K1 = 1.2;
const B = 0.75;

/** How much a word tells that so many of the messages have (Robertson and Spärck Jones 1976, smoothed): above 0 for every word. */
function rarity(messages: number, having: number): number {
  return Math.log(1 + (messages - having + 0.5) / (having + 0.5));
}

/**
 * How well each text matches the words asked for: BM25 (Robertson et al. 1994) over the texts, as a share of what a text of mean
 * length has that holds every word once, so that 1 is a full match and little is above it. A word that no text has counts in the whole. Linear in texts times words.
 */
function lexicalMatch(wanted: readonly string[], texts: readonly MessageTerms[]): readonly number[] {
  const meanLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length || 1;
  const weights = wanted.map((stem) => {
    let having = 0;
    for (const { counts } of texts) if (counts.has(stem)) having += 1;
    return rarity(texts.length, having);
  });
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return texts.map(({ counts, length }) => {
    const dampened = K1 * (1 - B + (B * length) / meanLength);
    let score = 0;
    for (const [at, stem] of wanted.entries()) {
      const times = counts.get(stem);
      if (times !== undefined) score += ((weights[at] ?? 0) * times * (K1 + 1)) / (times + dampened);
    }
    return whole === 0 ? 0 : score / whole;
  });
}

/** What relevance reads in a message: how often each content word stands in it, the names in it, and who speaks. */
interface MessageTerms {
  readonly counts: ReadonlyMap<string, number>;
  /** Content words, repetitions included. */
  readonly length: number;
  /** Stems of words with a capital letter, and of numbers of three digits and more: what a text is about by name. */
  readonly names: ReadonlySet<string>;
  /** Stems of the name before the colon, where a message begins with one: "Ada Lovelace: …". */
  readonly speaker: readonly string[];
}

/** Of a longer message only the beginning is read. */
const MAX_CHARS = 100_000;
const NAME = /^(?:\p{Lu}|\p{N}{3})/u;
const SPEAKER = /^\s*(\p{Lu}[\p{L}\p{M}.’'-]{0,30}(?: \p{Lu}[\p{L}\p{M}.’'-]{0,30}){0,2}):\s/u;

/** A message never changes, so it is read once, however often the context is evaluated. */
const known = new WeakMap<Message, MessageTerms>();

export function termsOfMessage(message: Message): MessageTerms {
  const read = known.get(message);
  if (read !== undefined) return read;
  const terms = readTerms(message.content.slice(0, MAX_CHARS));
  known.set(message, terms);
  return terms;
}

function readTerms(content: string): MessageTerms {
  const label = SPEAKER.exec(content);
  const counts = new Map<string, number>();
  const names = new Set<string>();
  let length = 0;
  eachStem(label === null ? content : content.slice(label[0].length), (stem, surface) => {
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
    if (NAME.test(surface)) names.add(stem);
    length += 1;
  });
  return { counts, length, names, speaker: stemsOf(label?.[1] ?? '') };
}
