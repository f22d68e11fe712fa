import Database from 'libsql';
import { createPostChain, type PassageSource } from 'postchain';

// Your database, with a full-text index (SQLite FTS5).
const database = new Database(':memory:');
database.exec(`CREATE VIRTUAL TABLE faq USING fts5(title, body, tokenize = 'porter')`);
const insert = database.prepare('INSERT INTO faq (title, body) VALUES (?, ?)');
insert.run('Opening hours', 'The library opens at nine and closes at five. On Sundays it is closed.');
insert.run('Lost books', 'A lost book costs ten euros.');

const select = database.prepare(`SELECT rowid, title, body FROM faq WHERE faq MATCH ? ORDER BY bm25(faq) LIMIT ?`);

/** Returns an FTS5 expression that matches any of the words. They are quoted, so none is an operator. */
const matchAny = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' OR ');

const documents: PassageSource = {
  async search(query, { limit, minRelevance }) {
    const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu))];
    if (words.length === 0) return { query, passages: [], widened: false };
    const rows = select.all(matchAny(words), limit) as { rowid: number; title: string; body: string }[];
    const passages = rows.map(({ rowid, title, body }) => {
      const text = `${title} ${body}`.toLowerCase();
      const relevance = words.filter((word) => text.includes(word)).length / words.length;
      return { id: `faq-${rowid}`, text: body, heading: [title], source: { path: `faq/${rowid}` }, relevance };
    });
    return { query, passages: passages.filter((passage) => passage.relevance >= minRelevance), widened: false };
  },
};

const run = createPostChain({ documents }).run({ request: 'When does the library open?' });
const { answerText, sources } = await run.answer;
console.log(answerText, sources);
