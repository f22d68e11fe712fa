import type { Reading, Word } from './reading.ts';

/** At most so many places of one text are looked at. */
const MAX_PLACES = 64;
/** Written before a name without being part of it: the forms of address and office. */
const TITLES: ReadonlySet<string> = new Set(
  `mr mrs ms miss dr sir dame lady lord king queen prince princess emperor pope saint president chancellor minister senator governor
  mayor judge justice professor doctor captain colonel general major admiral director chairman coach`.split(/\s+/),
);

/**
 * Whether words stand in a text one after another. With `names`, a name that the text only ever has within a longer one ("Helena
 * Marsh" in "Helena Marsh Institute") does not. Titles make no name longer, nor do words whose stems are all `known`.
 */
export function standsIn(text: Reading, sought: readonly Word[], names: boolean, known: ReadonlySet<string>): boolean {
  if (sought.length === 0) return false;
  const needle = ` ${sought.map(({ folded }) => folded).join(' ')} `;
  const named = names && sought.length > 1 && sought.some(({ capital }) => capital);
  let place = text.plain.indexOf(needle);
  for (let seen = 0; place !== -1 && seen < MAX_PLACES; seen += 1) {
    if (!named) return true;
    const first = wordAt(text.starts, place + 1);
    if (!precedes(text.words, first, known) && !follows(text.words, first + sought.length, known)) return true;
    place = text.plain.indexOf(needle, place + 1);
  }
  return false;
}

/** Whether the word before the one at `at` belongs to the same name. */
function precedes(words: readonly Word[], at: number, known: ReadonlySet<string>): boolean {
  const before = words[at - 1];
  if (before === undefined || words[at]?.joined !== true) return false;
  return !before.opens && !TITLES.has(before.folded) && isName(before, known);
}

function follows(words: readonly Word[], at: number, known: ReadonlySet<string>): boolean {
  const word = words[at];
  return word?.joined === true && isName(word, known);
}

function isName(word: Word, known: ReadonlySet<string>): boolean {
  return word.capital && word.stems.length > 0 && !word.stems.every((stem) => known.has(stem));
}

/** The word that begins at a place, by bisection. */
function wordAt(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
