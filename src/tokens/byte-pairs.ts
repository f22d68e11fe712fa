import { mergedParts } from './merged-parts.ts';
import { bytesOf, tokenRanks, type Vocabulary } from './token-ranks.ts';

/** The tokens of a text. It remembers pieces of the texts it saw: let go of it when they are counted. */
export type TokenCounter = (text: string) => number;

/** Merging takes time by the square of a piece's length, so a longer one is cut. */
const MAX_PIECE_CHARS = 256;

/**
 * Makes counters of tokens by byte-pair encoding, as OpenAI's models do it: a text is split into pieces, about words, and a piece that
 * is no token by itself is merged from its bytes. Vocabulary and pattern are gpt-tokenizer's, whose own count takes half as long again,
 * and by the square of a long piece.
 *
 * Exact, but for a piece of more than 256 characters ("aaaa…"), which is cut: each cut may make a token or so more.
 */
export function bytePairs(vocabulary: Vocabulary, pieces: RegExp): () => TokenCounter {
  const ranks = tokenRanks(vocabulary);
  return () => {
    const merged = new Map<string, number>();
    const tokensIn = (piece: string): number => {
      if (ranks.ofTexts.has(piece)) return 1;
      const known = merged.get(piece);
      if (known !== undefined) return known;
      const { length, rankOf } = bytesOf(piece, ranks);
      const tokens = mergedParts(length, rankOf);
      merged.set(piece, tokens);
      return tokens;
    };
    return (text) => {
      let tokens = 0;
      for (const piece of text.match(pieces) ?? []) {
        if (piece.length <= MAX_PIECE_CHARS) tokens += tokensIn(piece);
        else for (const part of partsOf(piece)) tokens += tokensIn(part);
      }
      return tokens;
    };
  };
}

function* partsOf(piece: string): Generator<string> {
  for (let at = 0; at < piece.length; at += MAX_PIECE_CHARS) yield piece.slice(at, at + MAX_PIECE_CHARS);
}
