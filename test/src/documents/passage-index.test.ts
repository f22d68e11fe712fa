import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retrievalSchema } from '../../../machines/contracts/passage.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import { readMarkdown } from '../../../src/documents/read-markdown.ts';
import { atOnce } from '../../support/at-once.ts';
import { turnsDuring } from '../../support/turns.ts';

const pages = {
  'yield.md':
    '# Yield\n\nYield decides whether the run is complete.\n\n## Order\n\nThe cycle limit comes first, then the budget.',
  'experience.md':
    '# Experience\n\nExperience retrieves passages from the documents.\n\nA dead source degrades the phase.',
  'consent.md': '# Consent\n\nA long message asks consent before it is summarized.',
};
const documents = Object.entries(pages).map(([path, text]) => ({ path, blocks: atOnce(readMarkdown(text)) }));
const index = createPassageIndex(documents);
const { signal } = new AbortController();
const search = (query: string, minRelevance = 0, limit = 5) => index.search(query, { limit, minRelevance, signal });

describe('the passage index', () => {
  it('[C5] returns passages with source, heading and relevance, the best first', async () => {
    const { passages, widened } = await search('What retrieves passages from documents?');
    expect(widened).toBe(false);
    expect(passages[0]).toMatchObject({
      source: { path: 'experience.md', startLine: 3 },
      heading: ['Experience'],
      relevance: 1,
    });
  });

  it('[C5] finds a passage by its headings', async () => {
    const { passages } = await search('order of Yield', 0.9);
    expect(passages).toMatchObject([{ heading: ['Yield', 'Order'], relevance: 1 }]);
  });

  it('[C5] returns an absolute relevance, which a word missing from all documents lowers', async () => {
    const [known] = (await search('consent')).passages;
    const [half] = (await search('consent for cryptocurrencies')).passages;
    expect(known?.relevance).toBe(1);
    expect(half?.relevance).toBeLessThan(0.6);
    expect((await search('consent for cryptocurrencies', 0.7)).passages).toEqual([]);
  });

  it('[C5] returns a passage that defines the term of the question first', async () => {
    const text =
      '# Cycles repeat\n\nThe cycle repeats a cycle.\n\n# Phases\n\nSix phases run. A cycle is one pass through all six.';
    const defining = createPassageIndex([{ path: 'a.md', blocks: atOnce(readMarkdown(text)) }]);
    const first = async (query: string) =>
      (await defining.search(query, { limit: 1, minRelevance: 0, signal })).passages[0]?.text;
    expect(await first('What is a cycle?')).toContain('A cycle is one pass');
    expect(await first('What repeats a cycle?')).not.toContain('A cycle is one pass');
  });

  const found = async (texts: readonly string[], query: string, minRelevance = 0.5) => {
    const index = createPassageIndex(texts.map((text, at) => ({ path: `${at}.txt`, text })));
    const { passages } = await index.search(query, { limit: 5, minRelevance, signal });
    return passages.map(({ text }) => text);
  };

  it.each([
    ['Kündigungsfrist', 'Die Frist für die Kündigung beträgt drei Monate.'],
    ['Frist für die Kündigung', 'Die Kündigungsfrist beträgt drei Monate.'],
    ['Beginn der Schule', 'Der Schulbeginn ist um acht.'],
    ['Herr Müller', 'Herr Mueller leitet das Team.'],
    ['Herr Mueller', 'Herr Müller leitet das Team.'],
    ['Straße gesperrt', 'Die Strasse ist gesperrt.'],
    ['colour of the organisation', 'The color of the organization is red.'],
    ['center catalog', 'The catalogue is in the centre.'],
    ['cafe resume', 'Le résumé du café.'],
  ])('[C5] finds "%s" in other words: %s', async (query, text) => {
    // Each word is in other passages as well, so that the search is not widened.
    const others = ['Die Frist ist lang.', 'Die Kündigung ist da.', 'Herr Maier', 'Schule', 'gesperrt', 'The center'];
    expect((await found([...others, text], query))[0]).toBe(text);
  });

  it('[C5] prefers the words of the query to their compounds and parts', async () => {
    const parts = fc.constantFrom('Kündigung', 'Frist', 'Versicherung', 'Beitrag', 'Zahlung', 'Termin');
    const link = fc.constantFrom('', 's');
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(parts, { minLength: 2, maxLength: 2 }),
        link,
        async ([one = '', two = ''], by) => {
          const compound = `Die ${one}${by}${two.toLowerCase()} ist hier vermerkt.`;
          const both = `Die ${two} der ${one} ist vermerkt.`;
          const [first, ...others] = [`Die ${one} ist vermerkt.`, `Die ${two} ist vermerkt.`, 'Nichts ist vermerkt.'];
          const texts = [first ?? '', compound, both, ...others];
          expect((await found(texts, `${two} der ${one}`, 0)).slice(0, 2)).toEqual([both, compound]);
          expect(await found(texts, `${one}${by}${two.toLowerCase()}`, 0)).toEqual([compound, both]);
        },
      ),
    );
  });

  it('[C5] does not confuse words with similar letters', async () => {
    expect(await found(['The pot is full.', 'The poet sings.'], 'poet')).toEqual(['The poet sings.']);
    expect(await found(['A carpet.', 'My pet.', 'Your car.'], 'pet car', 0)).not.toContain('A carpet.');
  });

  it('[C5] widens a search without results and reports it', async () => {
    const { passages, widened } = await search('experiense retreves');
    expect(widened).toBe(true);
    expect(passages[0]?.source.path).toBe('experience.md');
    expect(passages[0]?.relevance).toBeLessThan(1);
    expect(await search('zzzzqqqq')).toEqual({ query: 'zzzzqqqq', passages: [], widened: true });
  });

  it('[C5] returns no more than the limit and none below the minimum relevance', async () => {
    expect((await search('the phase, the run, the documents', 0, 2)).passages).toHaveLength(2);
    expect((await search('phase run documents', 0, 0)).passages).toEqual([]);
  });

  const circular: unknown[] = [];
  circular.push({ path: 'a.md', blocks: circular });
  it.each([
    [
      'x',
      'documents: expected an array of documents, each with a path and text, for example from loadDocuments; received "x".',
    ],
    [
      undefined,
      'documents: expected an array of documents, each with a path and text, for example from loadDocuments; received undefined.',
    ],
    [{ documents: [] }, /^documents: expected an array of documents.* received an object with documents\.$/],
    [[{ path: 'a.md' }], /^documents\.0: expected either text, bytes or blocks; received an object with path\.$/],
    [[{ path: '', blocks: [] }], /^documents\.0\.path: /],
    [[{ path: 'a.md', blocks: ['x'] }], /^documents\.0\.blocks\.0: expected a block .* received "x"\.$/],
    [circular, /^documents\.0\.blocks\.0\.text: expected a string; received undefined\.$/],
  ])('throws invalid_option for the documents %#', (given, message) => {
    const create = () => createPassageIndex(given as never);
    expect(create).toThrow(message);
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('lets timers fire while it builds the index and searches it', async () => {
    const block = { heading: [], startLine: 1, endLine: 1, kind: 'prose' as const, lines: [1] };
    const blocks = Array.from({ length: 4_000 }, (_, at) => ({ ...block, text: `word${at} ${'x'.repeat(400)}` }));
    const large = createPassageIndex([{ path: 'large.md', blocks }]);
    const turnsOf = (query: string) => turnsDuring(() => large.search(query, { limit: 5, minRelevance: 0, signal }));
    expect(await turnsOf('word1')).toBeGreaterThan(40);
    expect(await turnsOf('word1 word2 word3 word4')).toBeGreaterThanOrEqual(4);
  });

  it('finds nothing in no documents', async () => {
    const empty = createPassageIndex([]);
    expect((await empty.search('anything', { limit: 5, minRelevance: 0, signal })).passages).toEqual([]);
  });

  it('rejects with the reason of an aborted signal, and answers the next search', async () => {
    const fresh = createPassageIndex(documents);
    const abort = new AbortController();
    const pending = fresh.search('yield', { limit: 5, minRelevance: 0, signal: abort.signal });
    abort.abort(new Error('stopped'));
    await expect(pending).rejects.toThrow('stopped');
    await expect(fresh.search('yield', { limit: 5, minRelevance: 0, signal: abort.signal })).rejects.toThrow('stopped');
    expect((await fresh.search('yield', { limit: 5, minRelevance: 0, signal })).passages).not.toEqual([]);
  });

  it('returns a relevance from the minimum to 1 for any query', async () => {
    const query = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom('yield', 'consnet', 'phase', 'x1', 'the')).map((words) => words.join(' ')),
    );
    await fc.assert(
      fc.asyncProperty(query, fc.double({ min: 0, max: 1, noNaN: true }), async (text, least) => {
        const retrieval = await search(text, least);
        expect(retrievalSchema.safeParse(retrieval).success).toBe(true);
        for (const { relevance } of retrieval.passages) expect(relevance).toBeGreaterThanOrEqual(least);
      }),
      { examples: ['', '\u0000', 'x'.repeat(100_000), 'yield '.repeat(50_000)].map((text) => [text, 0]) },
    );
  });
});
