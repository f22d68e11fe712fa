import type { Steps } from '../internal/async.ts';
import type { DocumentTerms, PassageTerms } from './passage-terms.ts';

/** The occurrences of all terms in one field of the passages. Those of term `t` are at `starts[t]` to `starts[t + 1]` (exclusive). */
interface Field {
  readonly boost: number;
  readonly starts: Uint32Array;
  readonly passages: Uint32Array;
  readonly times: Uint32Array;
  /** The number of distinct terms, by passage. */
  readonly lengths: Uint32Array;
  readonly meanLength: number;
}

/** An inverted index of passages, which are numbered from 0. */
export interface TermIndex {
  readonly passages: number;
  /** The numbers of the terms, by stem. */
  readonly terms: ReadonlyMap<string, number>;
  /** How many passages have a term in their text or headings, by term. */
  readonly passagesWith: Uint32Array;
  readonly fields: readonly Field[];
}

/** The text and the headings of a passage, in the order of `PassageTerms`. */
const FIELD_BOOSTS = [1, 2];
const PASSAGES_PER_STEP = 1_000;

/** Builds the index of the passages of documents, in steps of 1,000 passages. */
export function* buildTermIndex(documents: readonly DocumentTerms[]): Steps<TermIndex> {
  const terms = new Map<string, number>();
  const numbers: Uint32Array[] = [];
  let passages = 0;
  for (const document of documents) {
    numbers.push(termNumbers(document.terms, terms));
    passages += document.passages.length;
    if (numbers.length % 10 === 0) yield;
  }
  const fields = FIELD_BOOSTS.map((boost) => new FieldBuilder(boost, passages, terms.size));
  const passagesWith = new Uint32Array(terms.size);
  const lastWith = new Int32Array(terms.size).fill(-1);
  yield* eachOccurrence(documents, numbers, (field, passage, term) => {
    fields[field]?.count(passage, term);
    if (lastWith[term] === passage) return;
    lastWith[term] = passage;
    passagesWith[term] = (passagesWith[term] ?? 0) + 1;
  });
  for (const field of fields) field.allocate();
  yield* eachOccurrence(documents, numbers, (field, passage, term, times) => fields[field]?.add(passage, term, times));
  return { passages, terms, passagesWith, fields: fields.map((field) => field.finish()) };
}

/** Numbers the terms of one document like those of all documents so far. */
function termNumbers({ stems }: PassageTerms, terms: Map<string, number>): Uint32Array {
  return Uint32Array.from(stems, (stem) => {
    const number = terms.get(stem) ?? terms.size;
    if (number === terms.size) terms.set(stem, number);
    return number;
  });
}

type VisitOccurrence = (field: number, passage: number, term: number, times: number) => void;

function* eachOccurrence(
  documents: readonly DocumentTerms[],
  numbers: readonly Uint32Array[],
  visit: VisitOccurrence,
): Steps<void> {
  let passage = 0;
  for (const [document, { passages, terms }] of documents.entries()) {
    const numberOf = numbers[document] ?? new Uint32Array();
    const { counts } = terms;
    let at = 0;
    for (let left = passages.length; left > 0; left -= 1) {
      for (const field of FIELD_BOOSTS.keys()) {
        const end = at + 1 + 2 * (counts[at] ?? 0);
        for (at += 1; at < end; at += 2) visit(field, passage, numberOf[counts[at] ?? 0] ?? 0, counts[at + 1] ?? 0);
      }
      passage += 1;
      if (passage % PASSAGES_PER_STEP === 0) yield;
    }
  }
}

/** Sorts the occurrences by term: counts them first, and then puts each in its place. */
class FieldBuilder {
  readonly #boost: number;
  readonly #starts: Uint32Array;
  readonly #lengths: Uint32Array;
  #next = new Uint32Array();
  #passages = new Uint32Array();
  #times = new Uint32Array();

  constructor(boost: number, passages: number, terms: number) {
    this.#boost = boost;
    this.#starts = new Uint32Array(terms + 1);
    this.#lengths = new Uint32Array(passages);
  }

  count(passage: number, term: number): void {
    this.#starts[term + 1] = (this.#starts[term + 1] ?? 0) + 1;
    this.#lengths[passage] = (this.#lengths[passage] ?? 0) + 1;
  }

  allocate(): void {
    for (let term = 1; term < this.#starts.length; term += 1)
      this.#starts[term] = (this.#starts[term] ?? 0) + (this.#starts[term - 1] ?? 0);
    this.#next = this.#starts.slice();
    this.#passages = new Uint32Array(this.#starts.at(-1) ?? 0);
    this.#times = new Uint32Array(this.#passages.length);
  }

  add(passage: number, term: number, times: number): void {
    const at = this.#next[term] ?? 0;
    this.#next[term] = at + 1;
    this.#passages[at] = passage;
    this.#times[at] = times;
  }

  finish(): Field {
    return {
      boost: this.#boost,
      starts: this.#starts,
      passages: this.#passages,
      times: this.#times,
      lengths: this.#lengths,
      meanLength: this.#passages.length / Math.max(1, this.#lengths.length),
    };
  }
}

/** A passage that matches a query. */
export interface TermMatch {
  readonly passage: number;
  /** The BM25+ score, times the number of the query's terms that match. */
  readonly score: number;
  /** The sum of the weights of the query's terms that match. */
  readonly covered: number;
}

/** A term of a query, and its weight in `covered`. */
interface QueryTerm {
  readonly stem: string;
  readonly weight: number;
}

/** The factor of a query term's weight if only a similar term matches. */
const SIMILAR_TERM_WEIGHT = 0.7;

/**
 * Returns the passages that have a term of the query, in order, in one step per term. `widened` includes similar terms: those that begin
 * like the query's, or differ in a quarter of the letters.
 */
export function* searchTerms(index: TermIndex, query: readonly QueryTerm[], widened: boolean): Steps<TermMatch[]> {
  const scores = new Float64Array(index.passages);
  const covered = new Float64Array(index.passages);
  const matching = new Uint32Array(index.passages);
  const lastMatch = new Int32Array(index.passages).fill(-1);
  for (const [place, { stem, weight }] of query.entries()) {
    const similar = widened ? yield* similarTerms(index, stem) : [];
    const exact = index.terms.get(stem);
    for (const { term, factor } of exact === undefined ? similar : [{ term: exact, factor: 1 }, ...similar]) {
      eachScore(index, term, (passage, score) => {
        scores[passage] = (scores[passage] ?? 0) + factor * score;
        if (lastMatch[passage] === place) return;
        lastMatch[passage] = place;
        matching[passage] = (matching[passage] ?? 0) + 1;
        covered[passage] = (covered[passage] ?? 0) + (term === exact ? 1 : SIMILAR_TERM_WEIGHT) * weight;
      });
    }
    yield;
  }
  const matches: TermMatch[] = [];
  for (const [passage, times] of matching.entries())
    if (times > 0) matches.push({ passage, score: (scores[passage] ?? 0) * times, covered: covered[passage] ?? 0 });
  return matches;
}

/** The parameters of BM25+: how soon further occurrences stop to count, the effect of the length, and the least score of an occurrence. */
const [K, B, D] = [1.2, 0.7, 0.5];

/** Visits the BM25+ score (Lv and Zhai 2011) of a term in each field of each passage that has it. */
function eachScore(index: TermIndex, term: number, visit: (passage: number, score: number) => void): void {
  for (const { boost, starts, passages, times, lengths, meanLength } of index.fields) {
    const [from, to] = [starts[term] ?? 0, starts[term + 1] ?? 0];
    const rarity = Math.log(1 + (index.passages - (to - from) + 0.5) / (to - from + 0.5));
    for (let at = from; at < to; at += 1) {
      const passage = passages[at] ?? 0;
      const frequency = times[at] ?? 0;
      const norm = K * (1 - B + (B * (lengths[passage] ?? 0)) / meanLength);
      visit(passage, boost * rarity * (D + (frequency * (K + 1)) / (frequency + norm)));
    }
  }
}

const PREFIX_FACTOR = 0.375;
const FUZZY_FACTOR = 0.45;
const MIN_PREFIX_CHARS = 3;
const FUZZY_SHARE = 0.25;
const MAX_DISTANCE = 6;
const TERMS_PER_STEP = 20_000;

interface SimilarTerm {
  readonly term: number;
  /** 0..1; the less similar, the lower. */
  readonly factor: number;
}

/** Returns the terms that begin with a stem, or whose edit distance is at most a quarter of its length; not the stem itself. */
function* similarTerms({ terms }: TermIndex, stem: string): Steps<SimilarTerm[]> {
  const most = Math.min(MAX_DISTANCE, Math.round(stem.length * FUZZY_SHARE));
  const similar: SimilarTerm[] = [];
  for (const [other, term] of terms) {
    const longer = other.length - stem.length;
    if (stem.length >= MIN_PREFIX_CHARS && longer > 0 && other.startsWith(stem)) {
      similar.push({ term, factor: (PREFIX_FACTOR * other.length) / (other.length + 0.3 * longer) });
    } else if (Math.abs(longer) <= most && other !== stem) {
      const distance = editDistance(stem, other, most);
      if (distance <= most) similar.push({ term, factor: (FUZZY_FACTOR * other.length) / (other.length + distance) });
    }
    if (term % TERMS_PER_STEP === TERMS_PER_STEP - 1) yield;
  }
  return similar;
}

/** Returns the number of characters to insert, delete or replace (Levenshtein 1966), or more than `most` if it is more. */
function editDistance(from: string, to: string, most: number): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const distance = Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(distance);
      least = Math.min(least, distance);
    }
    if (least > most) return least;
    above = current;
  }
  return above[to.length] ?? 0;
}
