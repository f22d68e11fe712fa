/**
 * Finds the JSON value in a stream of text: prose and fences before it and after it are left out. Each character is looked at
 * once, so the cost is linear in the text whatever the chunks.
 */
export interface JsonSpan {
  /** The part of this chunk that belongs to the value; empty before its beginning and after its end. */
  push(chunk: string): string;
  readonly state: 'before' | 'inside' | 'after';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function createJsonSpan(): JsonSpan {
  let state: JsonSpan['state'] = 'before';
  let depth = 0;
  let inString = false;
  let escaped = false;

  /** Where the value ends in this chunk, or -1; counts brackets outside strings. */
  function endOf(chunk: string, from: number): number {
    for (let i = from; i < chunk.length; i += 1) {
      const code = chunk.charCodeAt(i);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === BACKSLASH) escaped = true;
        else if (code === QUOTE) inString = false;
      } else if (code === QUOTE) inString = true;
      else if (code === 0x7b || code === 0x5b) depth += 1;
      else if (code === 0x7d || code === 0x5d) {
        depth -= 1;
        if (depth === 0) return i + 1;
      }
    }
    return -1;
  }

  return {
    get state() {
      return state;
    },
    push(chunk) {
      if (state === 'after') return '';
      const start = state === 'inside' ? 0 : chunk.search(/[{[]/);
      if (start === -1) return '';
      state = 'inside';
      const end = endOf(chunk, start);
      if (end === -1) return start === 0 ? chunk : chunk.slice(start);
      state = 'after';
      return chunk.slice(start, end);
    },
  };
}

const MAX_CANDIDATES = 32;

/**
 * The JSON object or array in a whole text whose first bracket was none of a value's: fenced blocks first, then every place
 * where a bracket opens, 32 at the most. Undefined where there is none.
 */
export function findJson(text: string): unknown {
  const fenced = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  const opened = [...text.matchAll(/[{[]/g)].map(({ index }) => text.slice(index));
  for (const candidate of [...fenced, ...opened.slice(0, MAX_CANDIDATES)]) {
    const span = createJsonSpan();
    const json = span.push(candidate);
    if (span.state !== 'after') continue;
    try {
      return JSON.parse(json);
    } catch {
      // Not this one: the next candidate may be.
    }
  }
  return undefined;
}
