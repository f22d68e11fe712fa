/** What one request holds at most; OpenAI takes 2,048 texts and 300,000 tokens, other servers less. */
const MAX_TEXTS = 256;
const MAX_CHARS = 200_000;

/** Texts of one request, and where they stand among all. */
interface EmbeddingBatch {
  readonly places: number[];
  readonly texts: string[];
}

/** The texts, each cut to `longest` characters, in batches of at most 256 and 200,000 characters; blank ones are in none. */
export function embeddingBatches(texts: readonly string[], longest: number): readonly EmbeddingBatch[] {
  const batches: EmbeddingBatch[] = [];
  let chars = 0;
  for (const [place, whole] of texts.entries()) {
    const text = cut(whole, longest);
    if (text.trim() === '') continue;
    let batch = batches.at(-1);
    if (batch === undefined || batch.texts.length === MAX_TEXTS || chars + text.length > MAX_CHARS) {
      batch = { places: [], texts: [] };
      batches.push(batch);
      chars = 0;
    }
    batch.places.push(place);
    batch.texts.push(text);
    chars += text.length;
  }
  return batches;
}

/** The beginning of a text, never ending within a surrogate pair. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const last = text.charCodeAt(longest - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longest - 1 : longest);
}
