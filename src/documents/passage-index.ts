import * as z from 'zod/mini';
import type { Passage, PassageSource, Retrieval, SearchOptions } from '../../machines/contracts/passage.ts';
import { requestTerms, type TermWeight, termWeights } from '../../machines/text/terms.ts';
import { inTurns, type Steps, unlessAborted } from '../internal/async.ts';
import { parseOption } from '../internal/options.ts';
import { definitionOf } from './definitions.ts';
import type { ParsedDocument } from './document.ts';
import { passagesOf, type UnrankedPassage } from './passages.ts';
import { type Document, documentsSchema, readDocument } from './read-document.ts';
import { TermIndex } from './term-index.ts';

const argumentsSchema = z.object({ documents: documentsSchema });

interface BuiltIndex {
  readonly passages: readonly UnrankedPassage[];
  readonly terms: TermIndex;
  readonly weight: TermWeight;
}

/**
 * Returns a passage source that searches the documents (each with a path and text, or already read). It uses BM25+ (Lv and Zhai 2011) over
 * English stems, with boosted headings.
 *
 * `relevance` is absolute: the share of the query's distinct content terms, weighted by rarity, that occur in the passage or its
 * headings. A term that occurs in no document lowers it. Passages are ordered by BM25+ times the square root of relevance; for a question like
 * "What is a cycle?", those that define the term come first. If nothing
 * matches, the search is repeated with similar words and prefixes (`widened`). The first search builds the index.
 * Documents that cannot be read are left out; use `documentsFrom` to get the reasons. If none can be read, the search rejects with the
 * first reason. Timers and I/O get their turn while it builds and searches. An aborted search rejects with the signal's reason.
 *
 * @throws PostChainError `invalid_option` if `documents` is not an array of documents with different paths.
 */
export function createPassageIndex(documents: readonly (Document | ParsedDocument)[]): PassageSource {
  parseOption(argumentsSchema, { documents }, 'documents');
  let built: Promise<BuiltIndex> | undefined;
  return {
    async search(query: string, options: SearchOptions): Promise<Retrieval> {
      options.signal.throwIfAborted();
      built ??= indexOf(documents);
      const index = await unlessAborted(built, options.signal);
      const stems = requestTerms(query).map(({ stem }) => stem);
      const limit = Math.max(0, Math.floor(options.limit));
      if (stems.length === 0 || limit === 0) return { query, passages: [], widened: false };
      const search = (widened: boolean): Promise<Passage[]> =>
        inTurns(ranked(index, { ...options, query, stems, widened, limit }), options.signal);
      const exact = await search(false);
      if (exact.length > 0) return { query, passages: exact, widened: false };
      return { query, passages: await search(true), widened: true };
    },
  };
}

/** Of this many best passages, those that define the term that a question asks about come first. */
const DEFINITION_CANDIDATES = 200;

interface Search extends Pick<SearchOptions, 'minRelevance' | 'limit'> {
  readonly query: string;
  readonly stems: readonly string[];
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
  return { passages, terms, weight: termWeights(passages.length, (stem) => terms.passagesWith(stem)) };
}

function* ranked(
  { passages, terms, weight }: BuiltIndex,
  { query: asked, stems, widened, minRelevance, limit }: Search,
): Steps<Passage[]> {
  const query = stems.map((stem) => ({ stem, weight: weight(stem) }));
  const total = query.reduce((sum, term) => sum + term.weight, 0);
  const matches = yield* terms.search(query, widened);
  const definition = definitionOf(asked);
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
