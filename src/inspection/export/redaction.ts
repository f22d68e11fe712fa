import { PostChainError } from '../../../machines/contracts/error.ts';
import { type JournalEntry, journalEntrySchema, type Redact } from '../../../machines/contracts/journal.ts';

import { asRedacted } from '../../journal/journal-lines.ts';
import { textsOf, withTexts } from './texts.ts';

const REDACTED = '[redacted]';

/** `/…/` with its flags is a regular expression, anything else a text as it stands. */
const EXPRESSION = /^\/(?<source>.+)\/(?<flags>[dgimsuv]*)$/su;

/** What puts `[redacted]` in place of each of these. Throws `invalid_option` for what is no expression, or would match everywhere. */
export function redactionOf(patterns: readonly string[]): Redact {
  const expressions = patterns.flatMap(expressionsOf);
  return (text) => expressions.reduce((left, expression) => left.replace(expression, REDACTED), text);
}

/** What looks like an expression may be a path, `/home/sim`: it is hidden as it stands, too. */
function expressionsOf(pattern: string): readonly RegExp[] {
  const { source, flags = '' } = EXPRESSION.exec(pattern)?.groups ?? {};
  const expressions = pattern === '' ? [] : [new RegExp(escapedVariants(pattern), 'gu')];
  if (source !== undefined) expressions.push(compiled(source, `g${flags.replace('g', '')}`, pattern));
  if (expressions.length > 0 && !expressions.some((expression) => ''.search(expression) === 0)) return expressions;
  throw new PostChainError(
    'invalid_option',
    `redact: got ${JSON.stringify(pattern)}, which is everywhere; wanted a text.`,
  );
}

function compiled(source: string, flags: string, pattern: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new PostChainError('invalid_option', `redact: got ${pattern}, no regular expression (${why}).`, { cause });
  }
}

/**
 * A journal with its texts redacted. Throws `invalid_option` where what is hidden is a word that the journal itself needs: the name of a
 * phase, say.
 */
export function redacted(entries: readonly JournalEntry[], redact: Redact): readonly JournalEntry[] {
  return entries.map((entry) => {
    const hidden = withTexts(asRedacted(entry), redact);
    const [issue] = journalEntrySchema.safeParse(hidden).error?.issues ?? [];
    if (issue === undefined) return hidden;
    const place = `${entry.seq} ${entry.type}.${issue.path.join('.')}`;
    throw new PostChainError(
      'invalid_option',
      `redact: it would hide a word of the journal itself (${place}); wanted another text.`,
    );
  });
}

/** A place where something is, or would be, redacted: what stands there now, with a little around it. */
export interface Redaction {
  readonly seq: number;
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

const AROUND = 24;

/** What a redaction changes in a journal: the preview of an export. */
export function* redactionsIn(entries: Iterable<JournalEntry>, redact: Redact): Generator<Redaction> {
  for (const { seq, path, text } of textsOf(entries)) {
    const after = redact(text);
    if (after !== text) yield { seq, path, ...around(text, after) };
  }
}

/** Of two texts, what differs, with a little of what both have on either side. */
function around(before: string, after: string): { readonly before: string; readonly after: string } {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const cut = (text: string): string => {
    const [from, to] = [Math.max(0, start - AROUND), Math.min(text.length, text.length - end + AROUND)];
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  };
  return { before: cut(before), after: cut(after) };
}

/** Characters that JSON writes with a letter behind a backslash. */
const LETTERS: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };

/**
 * The source of an expression that finds a text as it stands, and as it stands in JSON that is text itself, as the replies of models are:
 * `"` is `\"` there, and `ü` may be `\u00fc`; in JSON that stands in JSON the backslashes are more.
 */
function escapedVariants(text: string): string {
  return Array.from(text, writingsOf).join('');
}

function writingsOf(character: string): string {
  const plain = character.replace(/[.*+?^${}()|[\]\\/]/u, '\\$&');
  if (character === '\\') return '(?:\\\\+(?:u005[cC])?)';
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const escaped = units.map(
    (unit) => `\\\\+u${unit.replace(/[a-f]/gu, (digit) => `[${digit}${digit.toUpperCase()}]`)}`,
  );
  const letter = LETTERS[character];
  const behind = letter === undefined ? [] : [`\\\\+${letter}`];
  const before = character === '"' || character === '/' ? '\\\\*' : '';
  return `(?:${[`${before}${plain}`, escaped.join(''), ...behind].join('|')})`;
}
