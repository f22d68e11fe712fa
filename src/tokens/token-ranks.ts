import type { RankOf } from './merged-parts.ts';

/** At the place of its rank each token's text, or its bytes where these make no whole characters. */
export type Vocabulary = readonly (string | readonly number[])[];

/** The ranks of a vocabulary's tokens: by their text, and for parts of characters by their bytes. */
export interface TokenRanks {
  readonly ofTexts: ReadonlyMap<string, number>;
  readonly ofBytes: ReadonlyMap<string, number>;
}

export function tokenRanks(vocabulary: Vocabulary): TokenRanks {
  const ofTexts = new Map<string, number>();
  const ofBytes = new Map<string, number>();
  vocabulary.forEach((token, rank) => {
    if (typeof token === 'string') {
      ofTexts.set(token, rank);
      return;
    }
    const bytes = Buffer.from(token);
    // What begins with a byte order mark is text, too, though the library has it as bytes.
    const text = bytes.toString();
    if (Buffer.from(text).equals(bytes)) ofTexts.set(text, rank);
    else ofBytes.set(bytes.toString('latin1'), rank);
  });
  return { ofTexts, ofBytes };
}

/** A piece of text as its UTF-8 bytes: how many they are, and the ranks of the tokens in them. */
export function bytesOf(piece: string, { ofTexts, ofBytes }: TokenRanks): { readonly length: number; rankOf: RankOf } {
  const bytes = Buffer.from(piece);
  if (bytes.length === piece.length) {
    return { length: bytes.length, rankOf: (start, end) => ofTexts.get(piece.slice(start, end)) };
  }
  // With what UTF-8 has in the place of half a character.
  const text = bytes.toString();
  const placeOf = placesOf(text, bytes.length);
  const rankOf: RankOf = (start, end) => {
    const from = placeOf[start] ?? -1;
    const to = placeOf[end] ?? -1;
    return from >= 0 && to >= 0 ? ofTexts.get(text.slice(from, to)) : ofBytes.get(bytes.toString('latin1', start, end));
  };
  return { length: bytes.length, rankOf };
}

/** Of each byte that begins a character, and of the end, where that is in the text; -1 for the others. */
function placesOf(text: string, bytes: number): readonly number[] {
  const places = new Array<number>(bytes + 1).fill(-1);
  let byte = 0;
  let place = 0;
  for (const character of text) {
    places[byte] = place;
    byte += Buffer.byteLength(character);
    place += character.length;
  }
  places[byte] = place;
  return places;
}
