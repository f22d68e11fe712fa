import type { Message } from '../../machines/contracts/message.ts';
import { firstChars } from '../../machines/text/clip.ts';

/** Control and format characters, which could hide or reorder text, and unpaired surrogates; not line breaks and tabs. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u180e\u2060-\u206f\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Makes hidden characters in text from models and documents visible, as `‹U+202E›`. */
export function revealHidden(text: string): string {
  return text.replace(
    HIDDEN,
    (found) => `‹U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** Like `revealHidden`, but on one line of at most `chars` characters. */
export function excerpt(text: string, chars: number): string {
  const trimmed = text.trim();
  const line = revealHidden(firstChars(trimmed, chars * 2).replace(/\s+/gu, ' ')).trim();
  if (line.length <= chars && trimmed.length <= chars * 2) return line;
  return `${firstChars(line, chars - 1)}…`;
}

export const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** A value as JSON of at most `chars` characters; reads no more than it shows. Undefined becomes "nothing". */
export function jsonExcerpt(value: unknown, chars: number): string {
  if (value === undefined) return 'nothing';
  const text = jsonStart(value, chars + 1);
  return revealHidden(text.length <= chars ? text : `${firstChars(text, chars - 1)}…`);
}

/** Writes at least the first `minChars` characters of a value's JSON. */
function jsonStart(value: unknown, minChars: number): string {
  if (typeof value === 'string') return JSON.stringify(firstChars(value, minChars));
  if (typeof value !== 'object' || value === null) return String(JSON.stringify(value));
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const name of isList ? value.keys() : Object.keys(value)) {
    if (text.length >= minChars) return text;
    const label = isList ? '' : `${JSON.stringify(name)}: `;
    const member = (value as Readonly<Record<PropertyKey, unknown>>)[name];
    text += `${text.length > 1 ? ', ' : ''}${label}${jsonStart(member, minChars - text.length)}`;
  }
  return `${text}${isList ? ']' : '}'}`;
}

/** The start of a UUID; other ids, such as those of actors, are not cut, because they may have the same start. */
export const shortRunId = (runId: string): string =>
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu.test(runId) ? runId.slice(0, 8) : excerpt(runId, 80);

/** A short state name, with its parent if that helps: `yield.deciding`. */
export function stateName(id: string): string {
  return id
    .split('.')
    .slice(-2)
    .join('.')
    .replace(/^(?:postChain|attempt|actionLoop|cycling)\./u, '');
}

/** Returns a source as `path:line` or `path:from-to`, or as its path if it has no lines. */
export function sourceText({ path, startLine, endLine }: NonNullable<Message['source']>): string {
  if (startLine === undefined) return path;
  return `${path}:${endLine === undefined || endLine === startLine ? startLine : `${startLine}-${endLine}`}`;
}

/** The arguments of a tool in short: a single one without its name. */
export function argumentWords(given: Readonly<Record<string, unknown>>, max = 200): string {
  const all = Object.entries(given);
  const words = all.map(([name, value]) => {
    const text = typeof value === 'string' ? value : jsonExcerpt(value, Math.max(60, max - 200));
    return all.length === 1 ? text : `${name}: ${text}`;
  });
  return excerpt(words.join(', '), max);
}
