import { firstLongNumber, parseJson } from './json-text.ts';

/** A text that is nearly JSON, from a bracket to the one that closes it. */
interface Extent {
  /** Exclusive. */
  readonly to: number;
  /** How many brackets are not closed at the end of the text. */
  readonly open: number;
  /** The content of every quoted string, in order. */
  readonly strings: readonly string[];
  /** The text without comments, with JSON's punctuation, and with `"string N"` in place of each string, so that its content has no effect. */
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
 * joined to another (with `+`, `||` or nothing), or has an escape sequence that is not JSON's. A quote ends its string only if what follows can
 * follow a string.
 */
export function extentOf(text: string, from: number): Extent | null {
  const strings: string[] = [];
  const open: string[] = [];
  let code = '';
  let [previous, punctuation] = ['', ''];
  for (let at = from; at < text.length; ) {
    const given = text.charAt(at);
    const comment = commentAt(text, at);
    const within = open.at(-1);
    const isName = within === '{' && '{,'.includes(punctuation);
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
    if (comment === null && '{[:,'.includes(character)) punctuation = character;
    at = string?.to ?? comment ?? at + 1;
  }
  return previous === ':' ? null : { to: text.length, open: open.length, strings, code };
}

const COMMENT = /(?<=[\s"'”’,:{}[\]])(?:\/\/.*\n?|\/\*[\s\S]*?(?:\*\/|$)|#(?=\s).{0,500}\r?\n)/uy;

/** Returns the end of a comment; null if none starts here. */
function commentAt(text: string, at: number): number | null {
  COMMENT.lastIndex = at;
  return COMMENT.test(text) ? COMMENT.lastIndex : null;
}

const ESCAPE = /\\(?:["'\\/bfnrt]|u[\da-fA-F]{4})/uy;

function stringAt(text: string, from: number, after: RegExp): { readonly content: string; readonly to: number } | null {
  const quote = text.charAt(from);
  const ends = '"\''.includes(quote) ? quote : DOUBLE.includes(quote) ? DOUBLE : SINGLE;
  let content = '';
  for (let at = from + 1; at < text.length; ) {
    const character = text.charAt(at);
    if (ends.includes(character)) {
      const rest = text.slice(at + 1, at + 1 + MAX_GAP);
      if (after.test(rest)) return { content, to: at + 1 };
      if (JOINED.test(rest)) return null;
    }
    ESCAPE.lastIndex = at;
    const sequence = character === '\\' ? ESCAPE.exec(text)?.[0] : '';
    if (sequence === undefined) return null;
    content += sequence === '' ? character : sequence === "\\'" ? "'" : JSON.parse(`"${sequence}"`);
    at += Math.max(1, sequence.length);
  }
  return null;
}

/** What may follow a string: punctuation, a comment, a member in the next line, or the end. */
const AFTER_STRING = /^\s*(?:[,:}\]/]|# .*\n|$)|^[^\S\n]*\n\s*["“'‘]/u;
const AFTER_NAME = /^\s*[:=：]/u;
const AFTER_ITEM = /^\s*[,)]/u;
const JOINED = /^\s*(?:\+|\|\|)?\s*["“'‘`]/u;

/** The longest gap after a string. */
const MAX_GAP = 500;

let library: Promise<typeof import('./repair-json.ts')> | null = null;

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
  library ??= import('./repair-json.ts');
  const { repairedJson } = await library;
  try {
    const json = repairedJson(extent.code, extent.strings);
    return json === null || firstLongNumber(json) !== null ? undefined : { value: JSON.parse(json), isRepaired: true };
  } catch {
    return undefined;
  }
}
