import fc from 'fast-check';
import MiniSearch, { type SearchResult } from 'minisearch';
import { describe, expect, it } from 'vitest';
import { requestTerms, stemsOf, termWeights } from '../../../machines/text/terms.ts';
import type { ParsedDocument } from '../../../src/documents/document.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import { passagesOf } from '../../../src/documents/passages.ts';
import { atOnce } from '../../support/at-once.ts';

/** Ranks passages as the index should, with a well-tested implementation of BM25+, prefixes and edit distances. */
function oracle(documents: readonly ParsedDocument[]) {
  const passages = documents.flatMap((document) => atOnce(passagesOf(document)));
  const entries = passages.map(({ text, heading }, id) => ({ id, text, heading: heading.join('\n') }));
  const search = new MiniSearch({ fields: ['text', 'heading'], tokenize: stemsOf, processTerm: (stem) => stem });
  search.addAll(entries);
  const sets = entries.map(({ text, heading }) => new Set([...stemsOf(text), ...stemsOf(heading)]));
  const weight = termWeights(passages.length, (stem) => sets.filter((set) => set.has(stem)).length);
  return (query: string) => {
    const stems = requestTerms(query).map(({ stem }) => stem);
    const total = stems.reduce((sum, stem) => sum + weight(stem), 0);
    const relevanceOf = ({ terms, queryTerms }: SearchResult): number =>
      Math.min(1, queryTerms.reduce((sum, stem) => sum + weight(stem) * (terms.includes(stem) ? 1 : 0.7), 0) / total);
    const searched = (wider: object) =>
      search
        .search(stems.join(' '), { boost: { heading: 2 }, tokenize: (text) => text.split(' '), ...wider })
        .map((result) => ({ id: passages[result.id]?.id, relevance: relevanceOf(result), score: result.score }))
        .map(({ id, relevance, score }) => ({ id, relevance, rank: score * Math.sqrt(relevance) }));
    const exact = searched({});
    return exact.length > 0 ? exact : searched({ fuzzy: 0.25, prefix: (term: string) => term.length > 2 });
  };
}

const word = fc.constantFrom(
  ...'retry retries retrieve phase phases model modal token tokens yield yields cost costs budget x ab abc abcd'.split(
    ' ',
  ),
  ...'Überlauf naïve 東京都 camelCase 3.14 budgeting budgeted reply replies limit limits'.split(' '),
);
const text = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => `${words.join(' ')}.`);
const document = fc.record({ headings: fc.array(word, { maxLength: 2 }), texts: fc.array(text, { maxLength: 6 }) });
const query = fc.oneof(
  fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' ')),
  fc.constantFrom('retrei', 'modle', 'tokne budgte', 'abcde', 'zzz', 'yiel cos', '京都'),
);

describe('the term index', () => {
  it('[C5] finds the passages that MiniSearch finds, in the same order and with the same relevance', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { maxLength: 8 }),
        fc.array(query, { maxLength: 5 }),
        async (made, queries) => {
          const documents = made.map(({ headings, texts }, at) => ({
            path: `${at}.md`,
            blocks: texts.map((written, line) => ({
              text: written,
              heading: line % 2 === 0 ? headings : headings.slice(0, 1),
              startLine: line + 1,
              endLine: line + 1,
              kind: 'prose' as const,
              lines: [line + 1],
            })),
          }));
          const index = createPassageIndex(documents);
          const expected = oracle(documents);
          for (const one of queries) {
            const options = { limit: 100, minRelevance: 0, signal: new AbortController().signal };
            const { passages } = await index.search(one, options);
            const ranks = new Map(expected(one).map(({ id, relevance, rank }) => [id, { relevance, rank }]));
            expect(new Set(passages.map(({ id }) => id))).toEqual(new Set(ranks.keys()));
            for (const [at, { id, relevance }] of passages.entries()) {
              expect(relevance).toBeCloseTo(ranks.get(id)?.relevance ?? -1, 10);
              const next = ranks.get(passages[at + 1]?.id ?? '')?.rank ?? 0;
              expect(ranks.get(id)?.rank).toBeGreaterThanOrEqual(next - 1e-9);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
