import type MiniSearch from 'minisearch';
import type { SearchResult } from 'minisearch';
import { z } from 'zod';
import type { Passage, PassageSource, Retrieval, SearchOptions } from '../../machines/contracts/passage.ts';
import { requestTerms, stemsOf, type TermWeight, termWeights } from '../../machines/text/terms.ts';
import { nextTurn, unlessAborted } from '../internal/async.ts';
import { parseOption } from '../internal/options.ts';
import type { Block, Document } from './document.ts';
import { passagesOf, type UnrankedPassage } from './passages.ts';

const HEADING_BOOST = 2;
/** The weight of a term in a widened search if only a similar word matches. */
const SIMILAR_WORD_WEIGHT = 0.7;
const CHUNK = 250;

const KINDS: ReadonlySet<unknown> = new Set(['prose', 'list', 'code', 'table']);
const blockSchema = z.custom(isBlock, 'expected a block with text, heading, startLine, endLine, kind and lines');
const documentSchema = z.object({ path: z.string().min(1), blocks: z.array(blockSchema) });
const argumentsSchema = z.object({
  documents: z.array(documentSchema, 'expected an array of documents, for example from loadDocuments'),
});

function isBlock(value: unknown): boolean {
  const { text, heading, startLine, endLine, kind, lines } = (value ?? {}) as Partial<Record<keyof Block, unknown>>;
  const isText = typeof text === 'string' && Array.isArray(heading) && KINDS.has(kind);
  return isText && Number.isInteger(startLine) && Number.isInteger(endLine) && Array.isArray(lines);
}

interface Entry {
  readonly id: number;
  readonly text: string;
  readonly heading: string;
}

interface BuiltIndex {
  readonly passages: readonly UnrankedPassage[];
  readonly search: MiniSearch<Entry>;
  readonly weight: TermWeight;
}

/**
 * Returns a passage source that searches the documents with BM25+ (Lv and Zhai 2011, implemented by MiniSearch) over English stems, with
 * boosted headings.
 *
 * `relevance` is absolute: the share of the query's distinct content terms, weighted by rarity, that occur in the passage or its
 * headings. A term that occurs in no document lowers it. Passages are ordered by BM25+ times the square root of relevance. If nothing
 * matches, the search is repeated with similar words and prefixes (`widened`). The first search builds the index and yields to the
 * event loop in between. An aborted search rejects with the signal's reason.
 *
 * @throws PostChainError `invalid_option` if `documents` is not an array of documents.
 */
export function createPassageIndex(documents: readonly Document[]): PassageSource {
  parseOption(argumentsSchema, { documents }, 'documents');
  let built: Promise<BuiltIndex> | undefined;
  return {
    async search(query: string, options: SearchOptions): Promise<Retrieval> {
      options.signal.throwIfAborted();
      built ??= buildIndex(documents);
      const index = await unlessAborted(built, options.signal);
      const stems = requestTerms(query).map(({ stem }) => stem);
      const limit = Math.max(0, Math.floor(options.limit));
      if (stems.length === 0 || limit === 0) return { query, passages: [], widened: false };
      const exact = ranked(index, stems, false, options.minRelevance).slice(0, limit);
      if (exact.length > 0) return { query, passages: exact, widened: false };
      return { query, passages: ranked(index, stems, true, options.minRelevance).slice(0, limit), widened: true };
    },
  };
}

async function buildIndex(documents: readonly Document[]): Promise<BuiltIndex> {
  const { default: MiniSearchClass } = await import('minisearch');
  const search = new MiniSearchClass<Entry>({
    fields: ['text', 'heading'],
    tokenize: stemsOf,
    processTerm: (stem) => stem,
    searchOptions: { boost: { heading: HEADING_BOOST }, tokenize: (query) => query.split(' ') },
  });
  const passages = documents.flatMap(passagesOf);
  const textsWith = new Map<string, number>();
  for (let from = 0; from < passages.length; from += CHUNK) {
    for (const [at, passage] of passages.slice(from, from + CHUNK).entries()) {
      const heading = passage.heading.join('\n');
      search.add({ id: from + at, text: passage.text, heading });
      for (const stem of new Set([...stemsOf(passage.text), ...stemsOf(heading)])) {
        textsWith.set(stem, (textsWith.get(stem) ?? 0) + 1);
      }
    }
    await nextTurn();
  }
  return { passages, search, weight: termWeights(passages.length, (stem) => textsWith.get(stem) ?? 0) };
}

function ranked(index: BuiltIndex, stems: readonly string[], widened: boolean, minRelevance: number): Passage[] {
  const total = stems.reduce((sum, stem) => sum + index.weight(stem), 0);
  const relevanceOf = (result: SearchResult): number => {
    const known = new Set(result.terms);
    const covered = result.queryTerms.reduce(
      (sum, stem) => sum + index.weight(stem) * (known.has(stem) ? 1 : SIMILAR_WORD_WEIGHT),
      0,
    );
    return Math.min(1, covered / total);
  };
  const wider = widened ? { fuzzy: 0.25, prefix: (term: string) => term.length > 2 } : {};
  return index.search
    .search(stems.join(' '), wider)
    .map((result) => ({ result, relevance: relevanceOf(result) }))
    .map(({ result, relevance }) => ({ result, relevance, rank: result.score * Math.sqrt(relevance) }))
    .filter(({ relevance }) => relevance >= minRelevance)
    .sort((left, right) => right.rank - left.rank || left.result.id - right.result.id)
    .flatMap(({ result, relevance }) => {
      const passage = index.passages[result.id];
      return passage === undefined ? [] : [{ ...passage, relevance }];
    });
}
