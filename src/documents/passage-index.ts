import * as z from 'zod/mini';
import type { EmbeddingModel } from '../../machines/contracts/model.ts';
import type { Passage, PassageSource, Retrieval, SearchOptions } from '../../machines/contracts/passage.ts';
import { type Bm25, rarity, termScore } from '../../machines/text/bm25.ts';
import { eachStem, requestTerms, type Term, termWeights } from '../../machines/text/terms.ts';
import { inTurns, type Steps, unlessAborted } from '../internal/async.ts';
import { editDistance } from '../internal/edit-distance.ts';
import { hasMethod, parseOption } from '../internal/options.ts';
import { definitionOf } from './definitions.ts';
import type { ParsedDocument } from './document.ts';
import { MeaningIndex, type SimilarPassage } from './meaning-index.ts';
import { passagesOf, type UnrankedPassage } from './passages.ts';
import { type Document, documentsSchema, readDocument } from './read-document.ts';
import { compoundsOf, otherSpelling, partsOfCompound } from './word-forms.ts';

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
class TermIndex {
  readonly #text = newField(1);
  readonly #heading = newField(2);
  readonly #passagesWith = new Map<string, number>();
  /** The stems of words, by the stem of the word's other spelling. */
  readonly #spellings = new Map<string, Set<string>>();

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

  /** Returns, for each term, the stems in the passages that match it: those of its spellings, and of its compounds with other terms. */
  formsOf(terms: readonly Term[]): readonly Forms[] {
    const forms = terms.map(({ stem, surface }) => {
      const spellings = [stem, otherSpelling(surface, stem) ?? stem];
      const all = spellings.flatMap((one) => [one, ...(this.#spellings.get(one) ?? [])]);
      return new Map(all.filter((one) => this.#passagesWith.has(one)).map((one) => [one, 1]));
    });
    const stems = terms.map(({ stem }) => stem);
    for (const [compound, first, last] of compoundsOf(stems, (stem) => this.#passagesWith.has(stem)))
      for (const place of [first, last]) forms[place]?.set(compound, COMPOUND_FACTOR);
    return forms;
  }

  /**
   * Returns the passages that have a word of the query, in order, in one step per word. A compound matches passages that have both parts, and
   * two words match their compound. `widened` includes similar stems: those that begin or end with a stem of the query, or differ from it in
   * at most a quarter of its letters.
   */
  *search(query: readonly QueryTerm[], widened: boolean): Steps<TermMatch[]> {
    const found = new Map<number, { score: number; covered: number; matching: number; last: number }>();
    for (const [place, { stem, forms, weight }] of query.entries()) {
      const add = (
        scores: Iterable<readonly [passage: number, score: number]>,
        factor: number,
        share: number,
      ): void => {
        for (const [passage, score] of scores) {
          const match = found.get(passage) ?? { score: 0, covered: 0, matching: 0, last: -1 };
          found.set(passage, match);
          match.score += factor * score;
          if (match.last === place) continue;
          match.last = place;
          match.matching += 1;
          match.covered += share * weight;
        }
      };
      add(this.#scores(forms), 1, 1);
      for (const [start, end] of partsOfCompound(stem, (part) => this.#passagesWith.has(part))) {
        const starts = this.#scores(new Map([[start, 1]]));
        const both = [...this.#scores(new Map([[end, 1]]))].filter(([passage]) => starts.has(passage));
        add(both, COMPOUND_FACTOR, SIMILAR_SHARE);
      }
      if (widened)
        for (const { stem: one, factor } of yield* this.#similar(stem))
          add(this.#scores(new Map([[one, 1]])), factor, SIMILAR_SHARE);
      yield;
    }
    return [...found]
      .map(([passage, { score, covered, matching }]) => ({ passage, score: score * matching, covered }))
      .sort((left, right) => left.passage - right.passage);
  }

  #count(field: Field, text: string): Iterable<string> {
    const passage = field.lengths.length;
    const times = new Map<string, number>();
    eachStem(text, (stem, surface) => {
      times.set(stem, (times.get(stem) ?? 0) + 1);
      const other = otherSpelling(surface, stem);
      if (other !== null) this.#spellings.set(other, (this.#spellings.get(other) ?? new Set()).add(stem));
    });
    for (const [stem, count] of times) {
      const occurrences = field.occurrences.get(stem);
      if (occurrences === undefined) field.occurrences.set(stem, [passage, count]);
      else occurrences.push(passage, count);
    }
    field.lengths.push(times.size);
    field.total += times.size;
    return times.keys();
  }

  /** Returns the scores, by passage, of a word that has these forms. */
  #scores(forms: Forms): ReadonlyMap<number, number> {
    const scores = new Map<number, number>();
    for (const { boost, occurrences, lengths, total } of [this.#text, this.#heading]) {
      let passageCount = 0;
      for (const stem of forms.keys()) passageCount += (occurrences.get(stem)?.length ?? 0) / 2;
      const weight = boost * rarity(this.passages, passageCount);
      for (const [stem, factor] of forms) {
        const found = occurrences.get(stem) ?? [];
        for (let at = 0; at < found.length; at += 2) {
          const passage = found[at] ?? 0;
          const length = ((lengths[passage] ?? 0) * this.passages) / total;
          const score = factor * weight * termScore(found[at + 1] ?? 0, length, BM25);
          scores.set(passage, (scores.get(passage) ?? 0) + score);
        }
      }
    }
    return scores;
  }

  /** Returns the stems that begin or end with a stem, or whose edit distance is at most a quarter of its length; not the stem itself. */
  *#similar(stem: string): Steps<SimilarStem[]> {
    const most = Math.min(MAX_DISTANCE, Math.round(stem.length * FUZZY_SHARE));
    const similar: SimilarStem[] = [];
    let read = 0;
    for (const other of this.#passagesWith.keys()) {
      const longer = other.length - stem.length;
      const begins = stem.length >= MIN_PREFIX_CHARS && other.startsWith(stem);
      if (longer > 0 && (begins || (stem.length >= MIN_SUFFIX_CHARS && other.endsWith(stem)))) {
        const factor = (PREFIX_FACTOR * other.length) / (other.length + 0.3 * longer);
        similar.push({ stem: other, factor });
      } else if (Math.abs(longer) <= most && other !== stem) {
        const distance = editDistance(stem, other, most);
        const factor = (FUZZY_FACTOR * other.length) / (other.length + distance);
        if (distance <= most) similar.push({ stem: other, factor });
      }
      read += 1;
      if (read % STEMS_PER_STEP === 0) yield;
    }
    return similar;
  }
}

interface TermMatch {
  readonly passage: number;
  /** The BM25+ score, times the number of the query's stems that match. */
  readonly score: number;
  /** The sum of the weights of the query's stems that match. */
  readonly covered: number;
}

/** The stems that match one term, each with its weight, 0..1. */
type Forms = ReadonlyMap<string, number>;

/** A stem of a query, its forms in the passages, and its weight in `covered`. */
interface QueryTerm {
  readonly stem: string;
  readonly forms: Forms;
  readonly weight: number;
}

interface SimilarStem {
  readonly stem: string;
  /** 0..1; the less similar, the lower. */
  readonly factor: number;
}

/** The share of a word's weight that a similar word, or the two parts of a compound, cover. */
const SIMILAR_SHARE = 0.7;
/** The weight of a compound as a match for its parts, and of the parts for the compound: below 1, so that the word itself ranks first. */
const COMPOUND_FACTOR = 0.7;
const PREFIX_FACTOR = 0.375;
const FUZZY_FACTOR = 0.45;
const MIN_PREFIX_CHARS = 3;
const MIN_SUFFIX_CHARS = 5;
const FUZZY_SHARE = 0.25;
const MAX_DISTANCE = 6;
const STEMS_PER_STEP = 20_000;

const argumentsSchema = z.object({ documents: documentsSchema });
const optionsSchema = z.strictObject({
  embeddings: z.optional(hasMethod('embed', 'expected an embedding model, for example openaiEmbeddings()')),
});

interface BuiltIndex {
  readonly passages: readonly UnrankedPassage[];
  readonly terms: TermIndex;
}

/**
 * Returns a passage source that searches the documents (each with a path and text, or already read). It uses BM25+ (Lv and Zhai 2011) over
 * English stems, with boosted headings.
 *
 * `relevance` is absolute: the share of the query's distinct content terms, weighted by rarity, that occur in the passage or its
 * headings. A term that occurs in no document lowers it. Passages are ordered by BM25+ times the square root of relevance; for a question like
 * "What is a cycle?", those that define the term come first. If no passage has more than 0.35 of the query, similar words and prefixes
 * count, too (`widened`). The first search builds the index.
 *
 * With `embeddings`, passages are also found by meaning: the first search embeds all of them, and each search its query. Both orders are
 * combined by reciprocal rank fusion (Cormack et al. 2009), and `relevance` is at least the cosine similarity. A search rejects if the model does.
 *
 * Documents that cannot be read are left out; use `documentsFrom` to get the reasons. If none can be read, the search rejects with the
 * first reason. Timers and I/O get their turn while it builds and searches. An aborted search rejects with the signal's reason.
 *
 * @throws PostChainError `invalid_option` if `documents` is not an array of documents with different paths, or if `embeddings` is not a model.
 */
export function createPassageIndex(
  documents: readonly (Document | ParsedDocument)[],
  options: { readonly embeddings?: EmbeddingModel | undefined } = {},
): PassageSource {
  parseOption(argumentsSchema, { documents }, 'documents');
  parseOption(optionsSchema, options, 'options of createPassageIndex');
  const { embeddings } = options;
  const meaning = embeddings === undefined ? null : new MeaningIndex(embeddings);
  let built: Promise<BuiltIndex> | undefined;
  return {
    async search(query: string, { signal, minRelevance, ...asking }: SearchOptions): Promise<Retrieval> {
      signal.throwIfAborted();
      built ??= indexOf(documents);
      const index = await unlessAborted(built, signal);
      const asked = requestTerms(query);
      const limit = Math.max(0, Math.floor(asking.limit));
      if (limit === 0 || (asked.length === 0 && meaning === null)) return { query, passages: [], widened: false };
      const most = meaning === null ? limit : Math.max(limit, FUSED);
      const search = async (widened: boolean): Promise<Passage[]> =>
        asked.length === 0 ? [] : inTurns(ranked(index, { query, asked, widened, minRelevance, limit: most }), signal);
      const exact = await search(false);
      const wider = highest(exact) > WIDENED_BELOW ? [] : await search(true);
      const widened = exact.length === 0 || highest(wider) > highest(exact);
      const byWords = widened ? wider : exact;
      if (meaning === null) return { query, passages: byWords, widened };
      const similar = await meaning.search(query, index.passages, { limit: most, signal });
      return { query, passages: fused(index, byWords, similar, minRelevance).slice(0, limit), widened };
    },
  };
}

const highest = (passages: readonly Passage[]): number =>
  passages.reduce((most, { relevance }) => Math.max(most, relevance), 0);

/** If the best passage has no more than this of the query, similar words are tried: the query may have typing errors, or forms that no document has. */
const WIDENED_BELOW = 0.35;

/** Of each of two orders, this many passages are combined. */
const FUSED = 20;
/** The constant of reciprocal rank fusion, from the publication. */
const FIRST_RANK = 60;

/** Combines the orders by words and by meaning: each passage counts by the sum of its reciprocal ranks. */
function fused(
  { passages }: BuiltIndex,
  byWords: readonly Passage[],
  similar: readonly SimilarPassage[],
  minRelevance: number,
): readonly Passage[] {
  const found = new Map<string, { passage: Passage; score: number }>();
  for (const [rank, passage] of byWords.entries()) found.set(passage.id, { passage, score: 1 / (FIRST_RANK + rank) });
  for (const [rank, { passage: at, similarity }] of similar.entries()) {
    const passage = passages[at];
    if (passage === undefined) continue;
    const known = found.get(passage.id);
    const relevance = Math.max(known?.passage.relevance ?? 0, similarity);
    if (relevance < minRelevance) continue;
    const score = (known?.score ?? 0) + 1 / (FIRST_RANK + rank);
    found.set(passage.id, { passage: { ...passage, relevance }, score });
  }
  return [...found.values()].sort((one, other) => other.score - one.score).map(({ passage }) => passage);
}

/** Of this many best passages, those that define the term that a question asks about come first. */
const DEFINITION_CANDIDATES = 200;

interface Search extends Pick<SearchOptions, 'minRelevance' | 'limit'> {
  readonly query: string;
  readonly asked: readonly Term[];
  readonly widened: boolean;
}

/** Leaves out documents that cannot be read. If that is all of them, rejects with the first reason. */
async function indexOf(documents: readonly (Document | ParsedDocument)[]): Promise<BuiltIndex> {
  const read: ParsedDocument[] = [];
  const failures: unknown[] = [];
  for (const document of documents) {
    if ('blocks' in document && document.blocks !== undefined) read.push(document);
    else {
      try {
        read.push(await readDocument(document as Document));
      } catch (error) {
        failures.push(error);
      }
    }
  }
  if (read.length === 0 && failures.length > 0) throw failures[0];
  return inTurns(buildIndex(read));
}

const PASSAGES_PER_STEP = 50;

function* buildIndex(documents: readonly ParsedDocument[]): Steps<BuiltIndex> {
  const passages: UnrankedPassage[] = [];
  const terms = new TermIndex();
  for (const document of documents) {
    for (const passage of yield* passagesOf(document)) {
      passages.push(passage);
      terms.add(passage);
      if (passages.length % PASSAGES_PER_STEP === 0) yield;
    }
    yield;
  }
  return { passages, terms };
}

function* ranked(
  { passages, terms }: BuiltIndex,
  { query: question, asked, widened, minRelevance, limit }: Search,
): Steps<Passage[]> {
  const forms = terms.formsOf(asked);
  const query = asked.map(({ stem }, at) => {
    const own: Forms = forms[at] ?? new Map();
    const passageCount = [...own.keys()].reduce((sum, form) => sum + terms.passagesWith(form), 0);
    return { stem, forms: own, weight: termWeights(passages.length, () => passageCount)(stem) };
  });
  const total = query.reduce((sum, term) => sum + term.weight, 0);
  const matches = yield* terms.search(query, widened);
  const definition = definitionOf(question);
  const best = matches
    .map(({ passage, score, covered }) => ({ passage, score, relevance: Math.min(1, covered / total) }))
    .filter(({ relevance }) => relevance >= minRelevance)
    .map(({ passage, score, relevance }) => ({ passage, relevance, rank: score * Math.sqrt(relevance) }))
    .sort((left, right) => right.rank - left.rank || left.passage - right.passage)
    .slice(0, definition === null ? limit : Math.max(limit, DEFINITION_CANDIDATES))
    .flatMap(({ passage: at, relevance }) => {
      const passage = passages[at];
      return passage === undefined ? [] : [{ ...passage, relevance }];
    });
  if (definition === null) return best;
  const defines = ({ text }: Passage): boolean => definition.sentence.test(text);
  const enters = (one: Passage): boolean =>
    !defines(one) && definition.entry.test(`${one.heading.at(-1) ?? ''}:\n${one.text}`);
  return [...new Set([...best.filter(defines), ...best.filter(enters), ...best])].slice(0, limit);
}
