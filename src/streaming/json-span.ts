/** What a chunk gives to the value under way: its part of the JSON, and what is left of the chunk after the value's end. */
interface SpanPiece {
  readonly json: string;
  readonly rest: string;
}

/**
 * Finds one JSON object in a stream of text: prose and fences before it are left out, and it ends where its braces balance.
 *
 * 1. An object begins at a brace followed by a quote; other braces are prose. 2. Every character is looked at once, so the cost is
 * linear in the text whatever the chunks. 3. A run of white space outside strings is given as one character, and a number of more
 * than 400 characters is refused, because an incremental parser would go over them again with every chunk.
 */
export interface JsonSpan {
  /** Throws SyntaxError for a number that is too long; the span goes on to its end all the same. */
  push(chunk: string): SpanPiece;
  readonly state: 'before' | 'inside' | 'after';
  /** `{}` was seen where an object could have begun. */
  readonly sawEmptyObject: boolean;
}

const MAX_NUMBER_CHARS = 400;
const [TAB, NEW_LINE, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

const isSpace = (code: number): boolean => code === SPACE || code === NEW_LINE || code === RETURN || code === TAB;
const isNumeric = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || code === 0x65 || code === 0x45;

export function createJsonSpan(): JsonSpan {
  let state: JsonSpan['state'] = 'before';
  let opened = false;
  let sawEmptyObject = false;
  let depth = 1;
  let [inString, escaped, spaced] = [true, false, false];
  let numeric = 0;

  /** The place after the quote that makes a brace a beginning, or -1. */
  function beginning(chunk: string): number {
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (opened && code === QUOTE) return at + 1;
      if (opened && code === CLOSE) sawEmptyObject = true;
      if (code === OPEN) opened = true;
      else if (!isSpace(code)) opened = false;
    }
    return -1;
  }

  /** Takes one character in; whether it is part of what the parser needs. */
  function take(code: number): boolean {
    if (inString) {
      if (escaped) escaped = false;
      else if (code === BACKSLASH) escaped = true;
      else if (code === QUOTE) inString = false;
      return true;
    }
    const again = spaced && isSpace(code);
    spaced = isSpace(code);
    numeric = isNumeric(code) ? numeric + 1 : 0;
    if (code === QUOTE) inString = true;
    else if (code === OPEN || code === OPEN_LIST) depth += 1;
    else if (code === CLOSE || code === CLOSE_LIST) depth -= 1;
    return !again;
  }

  function inside(chunk: string, from: number, head: string): SpanPiece {
    let json = head;
    let kept = from;
    for (let at = from; at < chunk.length; at += 1) {
      if (!take(chunk.charCodeAt(at))) {
        json += chunk.slice(kept, at);
        kept = at + 1;
      }
      if (numeric > MAX_NUMBER_CHARS) throw new SyntaxError(`a number of more than ${MAX_NUMBER_CHARS} characters`);
      if (depth === 0) {
        state = 'after';
        return { json: json + chunk.slice(kept, at + 1), rest: chunk.slice(at + 1) };
      }
    }
    return { json: json + chunk.slice(kept), rest: '' };
  }

  return {
    get state() {
      return state;
    },
    get sawEmptyObject() {
      return sawEmptyObject;
    },
    push(chunk) {
      if (state === 'after') return { json: '', rest: chunk };
      if (state === 'inside') return inside(chunk, 0, '');
      const start = beginning(chunk);
      if (start === -1) return { json: '', rest: '' };
      state = 'inside';
      return inside(chunk, start, '{"');
    },
  };
}
