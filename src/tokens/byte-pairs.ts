import { mergedParts } from './merged-parts.ts';

/** At the place of its rank each token's text, or its bytes where these make no whole characters. */
type Vocabulary = readonly (string | readonly number[])[];

/** The tokens of a text. It remembers pieces of the texts it saw: let go of it when they are counted. */
export type TokenCounter = (text: string) => number;

/** Merging takes time by the square of a piece's length, so a longer one is cut. */
const MAX_PIECE_CHARS = 256;

/**
 * Makes counters of tokens by byte-pair encoding, as OpenAI's models do it: a text is split into pieces, about words, and a piece that
 * is no token by itself is merged from its bytes.
 *
 * Exact, but for a piece of more than 256 characters ("aaaa…"), which is cut: each cut may make a token or so more.
 */
export function bytePairs(vocabulary: Vocabulary, pieces: RegExp): () => TokenCounter {
  const ofTexts = new Map<string, number>();
  vocabulary.forEach((token, rank) => {
    if (typeof token === 'string') ofTexts.set(token, rank);
  });
  let ofBytes: ReadonlyMap<string, number> | null = null;
  const tokensIn = (piece: string): number => {
    const bytes = byteString(piece);
    if (bytes.length === piece.length) return mergedParts(bytes, ofTexts);
    ofBytes ??= new Map(vocabulary.map((token, rank) => [byteString(token), rank]));
    return mergedParts(bytes, ofBytes);
  };

  return () => {
    const merged = new Map<string, number>();
    const count = (piece: string): number => {
      if (ofTexts.has(piece)) return 1;
      const known = merged.get(piece) ?? tokensIn(piece);
      merged.set(piece, known);
      return known;
    };
    return (text) => {
      let tokens = 0;
      for (const piece of text.match(pieces) ?? []) {
        if (piece.length <= MAX_PIECE_CHARS) tokens += count(piece);
        else for (const part of parts(piece)) tokens += count(part);
      }
      return tokens;
    };
  };
}

/** UTF-8 with one character for each byte; of ASCII the text itself. */
function byteString(token: string | readonly number[]): string {
  return Buffer.from(token as string).toString('latin1');
}

function* parts(piece: string): Generator<string> {
  for (let at = 0; at < piece.length; at += MAX_PIECE_CHARS) yield piece.slice(at, at + MAX_PIECE_CHARS);
}
