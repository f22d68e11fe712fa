import { firstLongNumber, parseJson } from './json-text.ts';

/** A text that is nearly JSON, from a bracket to the one that closes it. */
interface Extent {
  /** Exclusive. */
  readonly to: number;
  /** How many brackets are not closed at the end of the text. */
  readonly open: number;
  /** The content of every quoted string, in order. */
  readonly strings: readonly string[];
  /** The text without comments, with JSON's punctuation, and with a number in place of each string, which cannot be mistaken for anything else. */
  readonly code: string;
}

/** jsonrepair is recursive. */
const MAX_DEPTH = 200;

/** jsonrepair may take quadratic time. Strings do not count. */
const MAX_CHARS = 50_000;

const DOUBLE = '"“”';
const SINGLE = "'‘’`´";

/**
 * Returns the extent of nearly JSON that starts at a bracket; null if there is none, or if its strings are uncertain: one does not end, is
 * joined to another with +, or has an escape sequence that is not JSON's. A quote ends its string only if what follows it can follow a string.
 */
export function extentOf(text: string, from: number): Extent | null {
  const strings: string[] = [];
  const open: string[] = [];
  let code = '';
  let [previous, sign] = ['', ''];
  for (let at = from; at < text.length; ) {
    const given = text.charAt(at);
    const comment = commentAt(text, at);
    const within = open.at(-1);
    const isName = within === '{' && '{,'.includes(sign);
    const isQuote = DOUBLE.includes(given) || SINGLE.includes(given);
    const after = isName ? AFTER_NAME : within === '(' ? AFTER_ITEM : AFTER_STRING;
    const string = isQuote ? stringAt(text, at, after) : null;
    const isTuple = given === '(' ? ':,['.includes(previous) : given === ')' && within === '(';
    const character = isTuple ? (given === '(' ? '[' : ']') : isName && '=：'.includes(given) ? ':' : given;
    const isEnd = '}]'.includes(character);
    if (isEnd) open.pop();
    else if ('{['.includes(character)) open.push(given);
    const lacksValue = previous === ':' ? isEnd || character === ',' : previous === ',' && character === ',';
    if ((isQuote && string === null) || open.length > MAX_DEPTH || lacksValue || character === '\\') return null;
    code += string !== null ? `"string ${strings.length}"` : comment !== null ? ' ' : character;
    if (string !== null) strings.push(string.content);
    if (open.length === 0) return { to: at + 1, open: 0, strings, code };
    if (comment === null && character.trim() !== '') previous = character;
    if (comment === null && '{[:,'.includes(character)) sign = character;
    at = string?.to ?? comment ?? at + (isName && text.startsWith('=>', at) ? 2 : 1);
  }
  return previous === ':' ? null : { to: text.length, open: open.length, strings, code };
}

const COMMENT = /(?<=^|[\s"'”’,:{}[\]])(?:\/\/.*\n?|\/\*[\s\S]*?(?:\*\/|$))|(?<=[\s"'”’,{}[\]])#(?=\s).{0,500}\r?\n/uy;

/** Returns the end of a comment; null if none starts here. */
function commentAt(text: string, at: number): number | null {
  COMMENT.lastIndex = at;
  return COMMENT.test(text) ? COMMENT.lastIndex : null;
}

const ESCAPE = /\\(?:["'\\/bfnrt]|u[\da-fA-F]{4})/uy;

function stringAt(text: string, from: number, after: RegExp): { readonly content: string; readonly to: number } | null {
  const quote = /^(?:"{3}|'{3}|.)/su.exec(text.slice(from, from + 3))?.[0] ?? '';
  const ends = '"\''.includes(quote.charAt(0)) ? [quote] : DOUBLE.includes(quote) ? [...DOUBLE] : [...SINGLE];
  let content = '';
  for (let at = from + quote.length; at < text.length; ) {
    const character = text.charAt(at);
    if (ends.includes(text.slice(at, at + quote.length))) {
      const to = at + quote.length;
      const rest = text.slice(to, to + MAX_GAP);
      if (after.test(rest)) return { content, to };
      if (ADDED.test(rest)) return null;
    }
    ESCAPE.lastIndex = at;
    const sequence = character === '\\' ? ESCAPE.exec(text)?.[0] : '';
    if (sequence === undefined) return null;
    content += sequence === '' ? character : sequence === "\\'" ? "'" : JSON.parse(`"${sequence}"`);
    at += Math.max(1, sequence.length);
  }
  return null;
}

/** What may follow a string: a sign, a comment, a member in the next line, or the end. */
const AFTER_STRING = /^\s*(?:[,:}\]/]|# .*\n|$)|^[^\S\n]*\n\s*["“'‘]/u;
const AFTER_NAME = /^\s*[:=：]/u;
const AFTER_ITEM = /^\s*[,)]/u;
const ADDED = /^\s*(?:\+|\|\|)?\s*["“'‘`]/u;

/** The longest gap after a string. */
const MAX_GAP = 500;

let library: Promise<typeof import('jsonrepair')> | null = null;

/**
 * Returns the value of a text that is JSON, or nearly JSON: with other quotes, raw line breaks in strings, comments, trailing commas,
 * unquoted names, Python's literals, or without its last brackets. Returns undefined if it is neither.
 *
 * The strings and the numbers of the value are exactly those of the text: the library never sees the strings. It is loaded only if needed.
 */
export async function parseNearly(
  text: string,
  extent: Extent,
): Promise<{ readonly value: unknown; readonly isRepaired: boolean } | undefined> {
  const strict = parseJson(text);
  if (strict !== undefined) return firstLongNumber(text) === null ? { value: strict, isRepaired: false } : undefined;
  if (extent.code.length > MAX_CHARS) return undefined;
  library ??= import('jsonrepair');
  const { jsonrepair } = await library;
  try {
    const code = withJsonWords(extent.code);
    const json = withStrings(jsonrepair(code), extent.strings, code);
    return json === null || firstLongNumber(json) !== null ? undefined : { value: JSON.parse(json), isRepaired: true };
  } catch {
    return undefined;
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/gu;

/** A bare word that stands for itself: not a number in another notation, a value that JSON does not have, or one with signs in it. */
/** A call, whose name the library drops, or a slash in a word, which it takes for a comment. */
const UNCERTAIN = /[\p{L}\p{N}_$]\s*\(|\/[/*]/u;
const BARE_WORD = /^(?!(?:undefined|nan|infinity)$)[\p{L}_$][\p{L}\p{M}\p{N}_$.-]*$/iu;
const WORD = /[^\s,:{}[\]]+/gu;

/** A word that is not the name of a member. */
const VALUE = /(?<![^\s,:{}[\]])[^\s,:{}[\]]+(?=\s*(?:[,}\]\n]|$))/gu;
const NUMBER = /^(?:\+|(-))?(?=\.?\d)(\d*)(?:\.(\d*))?(e[+-]?\d+)?$/iu;
const LITERALS = new Map(Object.entries({ TRUE: 'true', FALSE: 'false', NULL: 'null', Null: 'null', nil: 'null' }));

/** Replaces other spaces, numbers such as .5 and +5, and literals such as NULL by those of JSON. */
const withJsonWords = (code: string): string =>
  code.replaceAll(/[^\S\n]/gu, ' ').replaceAll(VALUE, (word) => LITERALS.get(word) ?? word.replace(NUMBER, inJson));

const inJson = (_: string, minus = '', whole = '', digits = '', exponent = ''): string =>
  `${minus}${whole || '0'}${digits && `.${digits}`}${exponent}`;

/** Returns repaired JSON with the strings of the text; null if it has other strings or numbers than those and the words outside of them. */
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
