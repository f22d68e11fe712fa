import { jsonrepair } from 'jsonrepair';

/**
 * Returns nearly valid JSON as JSON; null if the repair is uncertain. In `given`, each of the `strings` is replaced by `"string N"`, so that
 * the library never sees their content. Throws if the library cannot repair it.
 */
export function repairedJson(given: string, strings: readonly string[]): string | null {
  const code = withJsonWords(given);
  return withStrings(jsonrepair(code), strings, code);
}

const STRING = /"(?:[^"\\]|\\.)*"/gu;

/** A function call, whose name the library drops, or `//` or `/*` in a word, which it takes for a comment. */
const UNCERTAIN = /[\p{L}\p{N}_$]\s*\(|\/[/*]/u;
/** An unquoted word that may become a string: not a number in another notation, not a value unknown to JSON, no other punctuation. */
const BARE_WORD = /^(?!(?:undefined|nan|infinity)$)[\p{L}_$][\p{L}\p{M}\p{N}_$.-]*$/iu;
const WORD = /[^\s,:{}[\]]+/gu;

/** A word that is not the name of a member. */
const VALUE = /(?<![^\s,:{}[\]])[^\s,:{}[\]]+(?=\s*(?:[,}\]\n]|$))/gu;
const NUMBER = /^(?:\+|(-))?(?=\.?\d)(\d*)(?:\.(\d*))?(e[+-]?\d+)?$/iu;
const LITERALS = new Map(Object.entries({ TRUE: 'true', FALSE: 'false', NULL: 'null', Null: 'null', nil: 'null' }));

/** Replaces other spaces, numbers such as .5 and +5, and literals such as NULL with those of JSON. */
const withJsonWords = (code: string): string =>
  code.replaceAll(/[^\S\n]/gu, ' ').replaceAll(VALUE, (word) => LITERALS.get(word) ?? word.replace(NUMBER, inJson));

const inJson = (_: string, minus = '', whole = '', digits = '', exponent = ''): string =>
  `${minus}${whole || '0'}${digits && `.${digits}`}${exponent}`;

/** Returns the repaired JSON with its original strings; null if the repair added a string or a number that is not in the text. */
function withStrings(repaired: string, strings: readonly string[], code: string): string | null {
  const words = new Set(code.replaceAll(STRING, ' ').match(WORD));
  if (words.has('undefined') || words.has('...') || UNCERTAIN.test(code.replaceAll(STRING, ' '))) return null;
  const numbers = repaired.replaceAll(STRING, ' ').match(/-?\d[\w.+-]*/gu) ?? [];
  let next = 0;
  let isFaithful = numbers.every((number) => words.has(number));
  const json = repaired.replaceAll(STRING, (literal) => {
    const isNext = literal === `"string ${next}"`;
    const word = JSON.parse(literal) as string;
    isFaithful &&= isNext || (BARE_WORD.test(word) && words.has(word));
    next += isNext ? 1 : 0;
    return isNext ? JSON.stringify(strings[next - 1]) : literal;
  });
  return isFaithful && next === strings.length ? json : null;
}
