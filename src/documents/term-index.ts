import { type Bm25, rarity, termScore } from '../../machines/text/bm25.ts';
import { eachStem } from '../../machines/text/terms.ts';
import type { Steps } from '../internal/async.ts';
import type { UnrankedPassage } from './passages.ts';

const BM25: Bm25 = { saturation: 1.2, length: 0.7, least: 0.5 };

/** The stems of one field of all passages. */
interface Field {
  readonly boost: number;
  /** For each passage with the stem, in order, its number and how often it has the stem. */
  readonly occurrences: Map<string, number[]>;
  /** The number of distinct stems, by passage. */
  readonly lengths: number[];
  total: number;
}

const newField = (boost: number): Field => ({ boost, occurrences: new Map(), lengths: [], total: 0 });

/** An inverted index of passages, which are numbered from 0. */
export class TermIndex {
  readonly #text = newField(1);
  readonly #heading = newField(2);
  readonly #passagesWith = new Map<string, number>();

  get passages(): number {
    return this.#text.lengths.length;
  }

  /** How many passages have a stem in their text or headings. */
  passagesWith(stem: string): number {
    return this.#passagesWith.get(stem) ?? 0;
  }

  add({ text, heading }: UnrankedPassage): void {
    const stems = [...this.#count(this.#text, text), ...this.#count(this.#heading, heading.join('\n'))];
    for (const stem of new Set(stems)) this.#passagesWith.set(stem, this.passagesWith(stem) + 1);
  }

  /**
   * Returns the passages that have a stem of the query, in order, in one step per stem. `widened` includes similar stems: those that begin
   * like the query's, or differ in a quarter of the letters.
   */
  *search(query: readonly QueryTerm[], widened: boolean): Steps<TermMatch[]> {
    const found = new Map<number, { score: number; covered: number; matching: number; last: number }>();
    for (const [place, { stem, weight }] of query.entries()) {
      const exact = this.#passagesWith.has(stem) ? [{ stem, factor: 1, share: 1 }] : [];
      for (const { stem: one, factor, share } of [...exact, ...(widened ? yield* this.#similar(stem) : [])]) {
        this.#eachScore(one, (passage, score) => {
          const match = found.get(passage) ?? { score: 0, covered: 0, matching: 0, last: -1 };
          found.set(passage, match);
          match.score += factor * score;
          if (match.last === place) return;
          match.last = place;
          match.matching += 1;
          match.covered += share * weight;
        });
      }
      yield;
    }
    return [...found]
      .map(([passage, { score, covered, matching }]) => ({ passage, score: score * matching, covered }))
      .sort((left, right) => left.passage - right.passage);
  }

  #count(field: Field, text: string): Iterable<string> {
    const passage = field.lengths.length;
    const times = new Map<string, number>();
    eachStem(text, (stem) => times.set(stem, (times.get(stem) ?? 0) + 1));
    for (const [stem, count] of times) {
      const occurrences = field.occurrences.get(stem);
      if (occurrences === undefined) field.occurrences.set(stem, [passage, count]);
      else occurrences.push(passage, count);
    }
    field.lengths.push(times.size);
    field.total += times.size;
    return times.keys();
  }

  #eachScore(stem: string, visit: (passage: number, score: number) => void): void {
    for (const { boost, occurrences, lengths, total } of [this.#text, this.#heading]) {
      const found = occurrences.get(stem) ?? [];
      const weight = boost * rarity(this.passages, found.length / 2);
      for (let at = 0; at < found.length; at += 2) {
        const passage = found[at] ?? 0;
        const length = ((lengths[passage] ?? 0) * this.passages) / total;
        visit(passage, weight * termScore(found[at + 1] ?? 0, length, BM25));
      }
    }
  }

  /** Returns the stems that begin with a stem, or whose edit distance is at most a quarter of its length; not the stem itself. */
  *#similar(stem: string): Steps<SimilarStem[]> {
    const most = Math.min(MAX_DISTANCE, Math.round(stem.length * FUZZY_SHARE));
    const similar: SimilarStem[] = [];
    let read = 0;
    for (const other of this.#passagesWith.keys()) {
      const longer = other.length - stem.length;
      if (stem.length >= MIN_PREFIX_CHARS && longer > 0 && other.startsWith(stem)) {
        const factor = (PREFIX_FACTOR * other.length) / (other.length + 0.3 * longer);
        similar.push({ stem: other, factor, share: SIMILAR_SHARE });
      } else if (Math.abs(longer) <= most && other !== stem) {
        const distance = editDistance(stem, other, most);
        const factor = (FUZZY_FACTOR * other.length) / (other.length + distance);
        if (distance <= most) similar.push({ stem: other, factor, share: SIMILAR_SHARE });
      }
      read += 1;
      if (read % STEMS_PER_STEP === 0) yield;
    }
    return similar;
  }
}

export interface TermMatch {
  readonly passage: number;
  /** The BM25+ score, times the number of the query's stems that match. */
  readonly score: number;
  /** The sum of the weights of the query's stems that match. */
  readonly covered: number;
}

/** A stem of a query, and its weight in `covered`. */
interface QueryTerm {
  readonly stem: string;
  readonly weight: number;
}

interface SimilarStem {
  readonly stem: string;
  /** 0..1; the less similar, the lower. */
  readonly factor: number;
  /** The share of the weight that it covers. */
  readonly share: number;
}

const SIMILAR_SHARE = 0.7;
const PREFIX_FACTOR = 0.375;
const FUZZY_FACTOR = 0.45;
const MIN_PREFIX_CHARS = 3;
const FUZZY_SHARE = 0.25;
const MAX_DISTANCE = 6;
const STEMS_PER_STEP = 20_000;

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
