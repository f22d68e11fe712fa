import Database from 'libsql';
import { createPostChain, type EmbeddingModel, type PassageSource } from 'postchain';

// In place of openaiEmbeddings() from 'postchain/openai': counts pairs of letters, so that the example needs no key.
const embeddings: EmbeddingModel = {
  id: 'letters',
  async embed(texts) {
    return texts.map((text) => {
      const letters = text.toLowerCase();
      const pairs = Array.from(letters.slice(1), (letter, at) => letters.charCodeAt(at) * 31 + letter.charCodeAt(0));
      return Array.from({ length: 64 }, (_, place) => pairs.filter((pair) => pair % 64 === place).length + 0.001);
    });
  },
};

const never = new AbortController().signal;
const texts = ['The library opens at nine and closes at five.', 'A lost book costs ten euros.'];

// libSQL stores vectors and computes their distance.
const database = new Database(':memory:');
database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, vector F32_BLOB(64))');
const insert = database.prepare('INSERT INTO notes (body, vector) VALUES (?, vector32(?))');
for (const [at, vector] of (await embeddings.embed(texts, { signal: never })).entries())
  insert.run(texts[at], JSON.stringify(vector));

const select = database.prepare(
  'SELECT id, body, vector_distance_cos(vector, vector32(?)) AS distance FROM notes ORDER BY distance LIMIT ?',
);

const documents: PassageSource = {
  async search(query, { limit, minRelevance, signal }) {
    const [vector] = await embeddings.embed([query], { signal });
    const rows = select.all(JSON.stringify(vector), limit) as { id: number; body: string; distance: number }[];
    const passages = rows.map(({ id, body, distance }) => ({
      id: `note-${id}`,
      text: body,
      heading: [],
      source: { path: `notes/${id}` },
      relevance: Math.min(1, Math.max(0, 1 - distance)),
    }));
    return { query, passages: passages.filter(({ relevance }) => relevance >= minRelevance), widened: false };
  },
};

const run = createPostChain({ documents }).run({ request: 'When does the library open?' });
const { answerText, sources } = await run.answer;
console.log(answerText, sources);
