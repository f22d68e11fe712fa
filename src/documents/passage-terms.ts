import { stemsOfRun } from '../../machines/text/terms.ts';
import { eachRun } from '../../machines/text/words.ts';
import type { Steps } from '../internal/async.ts';
import type { ParsedDocument } from './document.ts';
import { passagesOf, type UnrankedPassage } from './passages.ts';

/**
 * The terms of a document's passages. `stems` has each stem once. `counts` has the following numbers per passage, for its text and then
 * for its headings: how many distinct stems there are, and per stem its index in `stems` and how often it occurs.
 */
export interface PassageTerms {
  readonly stems: readonly string[];
  readonly counts: Uint32Array;
}

const PASSAGES_PER_STEP = 50;

/** Counts the terms of a document's passages, in steps of 50 passages. */
function* countTerms(passages: readonly UnrankedPassage[]): Steps<PassageTerms> {
  const counter = new TermCounter();
  for (const [at, { text, heading }] of passages.entries()) {
    counter.add(text);
    counter.add(heading.join('\n'));
    if (at % PASSAGES_PER_STEP === PASSAGES_PER_STEP - 1) yield;
  }
  return counter.finish();
}

class TermCounter {
  /** The indices of each word's stems. Nearly every word has one stem, stored as a number instead of a list to save a memory access. */
  readonly #words = new Map<string, number | readonly number[]>();
  readonly #indices = new Map<string, number>();
  readonly #stems: string[] = [];
  readonly #times: number[] = [];
  readonly #counts: number[] = [];

  add(text: string): void {
    const found: number[] = [];
    const count = (index: number): void => {
      const times = this.#times[index] ?? 0;
      if (times === 0) found.push(index);
      this.#times[index] = times + 1;
    };
    eachRun(text, (word) => {
      const indices = this.#words.get(word) ?? this.#indicesOf(word);
      if (typeof indices === 'number') count(indices);
      else for (const index of indices) count(index);
    });
    this.#counts.push(found.length);
    for (const index of found) {
      this.#counts.push(index, this.#times[index] ?? 0);
      this.#times[index] = 0;
    }
  }

  finish(): PassageTerms {
    return { stems: this.#stems, counts: Uint32Array.from(this.#counts) };
  }

  #indicesOf(word: string): number | readonly number[] {
    const all = stemsOfRun(word).map((stem) => this.#indexOf(stem));
    const indices = all.length === 1 ? (all[0] ?? all) : all;
    this.#words.set(word, indices);
    return indices;
  }

  #indexOf(stem: string): number {
    const known = this.#indices.get(stem);
    if (known !== undefined) return known;
    this.#indices.set(stem, this.#stems.length);
    this.#stems.push(stem);
    this.#times.push(0);
    return this.#stems.length - 1;
  }
}

const cached = new WeakMap<ParsedDocument, PassageTerms>();

/** Keeps the terms of a document that came from a cache, so that its index need not count them. */
export function keepTerms(document: ParsedDocument, terms: PassageTerms): void {
  cached.set(document, terms);
}

/** A document's passages and their terms. */
export interface DocumentTerms {
  readonly passages: readonly UnrankedPassage[];
  readonly terms: PassageTerms;
}

/** Returns a document's passages with their terms, in steps. */
export function* documentTerms(document: ParsedDocument): Steps<DocumentTerms> {
  const passages = yield* passagesOf(document);
  return { passages, terms: cached.get(document) ?? (yield* countTerms(passages)) };
}
