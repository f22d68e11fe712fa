const APOSTROPHES = /[’‘`´]/g;
/** What stands in quotation marks is spoken of, not said. */
const QUOTED = /"[^"\n]{1,200}"|“[^”\n]{1,200}”/g;
const CLAUSE_END = /[.!?…;:,()\n]|\s-|[–—]|\b(?:and|but)\b/u;
const NOT_OF_A_WORD = /[^\p{L}\p{N}']+/gu;

/** A turn as clauses: lower case, words with single spaces between them. Linear in the text. */
export function clausesOf(turn: string): readonly string[] {
  const text = turn.toLowerCase().replace(APOSTROPHES, "'").replace(QUOTED, ' quoted ');
  return text
    .split(CLAUSE_END)
    .map((part) => part.replace(NOT_OF_A_WORD, ' ').trim())
    .filter((clause) => clause !== '');
}

const anyOf = (words: string): string => words.trim().split(/\s+/).join('|').replaceAll('_', ' ');

/** Words that may stand before those that matter. */
const LEAD = `^(?:(?:${anyOf(`
  so also then now well oh ok okay alright great good fine perfect cool awesome wonderful excellent yes yeah sure no
  nope nah nothing actually instead first next because since many thanks thank_you a_lot so_much very_much please just
  kindly sounds_good i_think i_guess i_believe`)}) )*`;

/** Words that may stand after those that matter. */
const CODA = `(?: (?:${anyOf(`
  here now then today thanks thank_you again anyway indeed right_now for_now for_today for_the_moment at_the_moment
  at_this_moment at_this_time from_me for_me from_you to_know very_much so_much a_lot all_the_same`)}))*$`;

/** A clause that starts with the words, after no more than a lead. */
export const startsWith = (words: string): RegExp => new RegExp(`${LEAD}(?:${words})(?![\\p{L}\\p{N}'])`, 'u');

/** A clause that is the words, with no more than a lead and a coda. */
export const isOnly = (words: string): RegExp => new RegExp(`${LEAD}(?:${words})${CODA}`, 'u');
