import { foldWord, stemOfFolded } from '../../machines/text/words.ts';

const TWO_LETTERS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
/** British or American endings, each with the common form that replaces it before stemming. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/(?<=[a-z]{2})our/, 'or'],
  [/(?<=[a-z]{3}i|[a-z]y)z(?=e[sdr]?$|ers$|ing$|ation|able)/, 's'],
  [/([tb])re(?=[sd]?$)/, '$1er'],
  [/(?<=[a-z]{2}og)ue(?=s?$)/, ''],
  [/^(def|off|lic|pret)enc/, '$1ens'],
  [/(?<=gram)me(?=s?$)/, ''],
];
/** Matches all words that may have another spelling, and few others. */
const MAY_VARY =
  /[äöüøåÄÖÜØÅ]|\u0308|\u030a|our|OUR|[iy]z[eia]|[IY]Z[EIA]|[tb]re|[TB]RE|ogue|OGUE|enc|ENC|gramme|GRAMME/;

/**
 * Returns the stem of the other spelling of a word, or null if it has none: "Müller" is also spelled "Mueller", and "colour" "color".
 * Null for "Mueller", because "ue" does not always stand for "ü".
 */
export function otherSpelling(word: string, stem: string): string | null {
  if (!MAY_VARY.test(word)) return null;
  const folded = foldWord(word);
  // The stem is that of a part of a camelCase word, or includes symbols (C++).
  if (stemOfFolded(folded) !== stem) return null;
  const spelled = word
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüøå]/gu, (letter) => TWO_LETTERS[letter] ?? letter);
  const other = ENDINGS.reduce((text, [ending, same]) => text.replace(ending, same), foldWord(spelled));
  return other === folded ? null : stemOfFolded(other);
}

/** The letters that link the parts of a German compound, such as the "s" between "Kündigung" and "Frist". */
const LINKS = ['', 's', 'es', 'n', 'en', 'er', 'e'];
/** Shorter parts also occur in words that are not compounds: "car" and "pet" in "carpet". */
const MIN_PART = 4;
const PART = new RegExp(String.raw`^[\p{L}\p{M}]{${MIN_PART},}$`, 'u');

/** Returns the existing compounds of any two of the stems, in either order, with the positions of both stems. */
export function compoundsOf(
  stems: readonly string[],
  exists: (compound: string) => boolean,
): readonly (readonly [compound: string, first: number, last: number])[] {
  const compounds: [string, number, number][] = [];
  const parts = [...stems.entries()].filter(([, stem]) => PART.test(stem));
  // "Schule" and "Ferien" form "Schulferien".
  for (const [first, start] of parts)
    for (const one of start.endsWith('e') ? [start, start.slice(0, -1)] : [start])
      for (const link of LINKS)
        for (const [last, end] of parts)
          if (first !== last && exists(one + link + end)) compounds.push([one + link + end, first, last]);
  return compounds;
}

/** Returns the pairs of existing stems that form a compound. */
export function partsOfCompound(
  stem: string,
  exists: (part: string) => boolean,
): readonly (readonly [string, string])[] {
  const pairs: [string, string][] = [];
  for (let at = MIN_PART; at <= stem.length - MIN_PART; at += 1) {
    const end = stem.slice(at);
    if (!PART.test(end) || !exists(end)) continue;
    const starts = LINKS.filter((link) => stem.slice(0, at).endsWith(link)).map((link) =>
      stem.slice(0, at - link.length),
    );
    for (const start of new Set(starts.flatMap((one) => [one, `${one}e`])))
      if (PART.test(start) && exists(start)) pairs.push([start, end]);
  }
  return pairs;
}
