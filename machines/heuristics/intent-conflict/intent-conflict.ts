import { sentencesOf } from '../../text/sentences.ts';
import { stemsOf } from '../../text/terms.ts';
import { contradictoryLengths } from './lengths.ts';
import { contradictoryManners } from './manners.ts';

/**
 * What a request both wants and does not want, in words, each once: a thing asked for and excluded, lengths that
 * exclude each other, opposite manners [C6]. Precise rather than complete: what only mentions opposites, asks about
 * them, quotes them, or sets them for two parts or two cases is no conflict. English. Reads the first 20,000 UTF-16
 * units; linear.
 */
export function conflictsIn(request: string): readonly string[] {
  const text = directivesOf(request);
  return [...new Set([...contradictoryContents(text), ...contradictoryLengths(text), ...contradictoryManners(text)])];
}

/** A directive about what the answer holds. */
interface Wish {
  readonly excludes: boolean;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const VERBS = 'include|mention|list|show|give|provide|add|use|cite|quote|name';
const OPENS = `(?:^|[.;,!]|\\b(?:and|but|also|please|then|you must|you should|(?:i want|i need|i'd like) you to|make sure (?:to|you)|be sure to|(?:it|the (?:answer|reply|response)) (?:must|should)|(?:can|could|would|will) you))`;
const NOT = "(?:do not|don't|never|must not|mustn't|should not|shouldn't)";
const WISH = new RegExp(
  `(?<excludes>\\bwithout|\\bwith no(?= )|${OPENS} {0,2}(?:${NOT} (?:${VERBS})|leave out|omit|exclude|skip|avoid|no(?= ))|\\bexcluding)\\b|${OPENS} {0,2}(?:always |please |also )?(?<includes>${VERBS})\\b`,
  'gm',
);
const DETERMINERS =
  /^(?:(?:the words?|the terms?|the phrases?|the|a|an|any|all|some|your|its|their|both|me|us|of|using|mentioning|including|giving|showing|adding) )+/;
/** An object longer than this is a clause of its own. */
const OBJECT_WORDS = 6;
/** Two wishes farther apart than this (UTF-16 units) need not be about the same part of the answer. */
const NEAR_CHARS = 400;
/** What makes of two opposite wishes an alternative, a condition, a correction, or wishes about two parts. */
const APART =
  /\b(?:or|if|unless|when|whenever|until|once|otherwise|except|only|instead|rather|actually|wait|then|first|second|next|later|after|before|version|variant|option|part|section|other|another|each|every|in the|for the|on the|at the)\b|:/;

/** Things that a text asks for and excludes as well, in words. */
function contradictoryContents(text: string): readonly string[] {
  const conflicts: string[] = [];
  const seen = new Map<string, Wish & { readonly object: string }>();
  for (const wish of wishesIn(text)) {
    for (const object of objectsOf(wish.text)) {
      const key = [...new Set(stemsOf(object))].sort().join(' ');
      if (key === '') continue;
      const earlier = seen.get(key);
      if (earlier !== undefined && earlier.excludes !== wish.excludes && areOne(text, earlier, wish))
        conflicts.push(`"${object.replace(/_+/g, ' ').trim()}" is asked for and excluded`);
      seen.set(key, { ...wish, object });
    }
  }
  return conflicts;
}

function wishesIn(text: string): readonly Wish[] {
  const found = [...text.matchAll(WISH)];
  return found.map((match, index) => {
    const from = match.index + match[0].length;
    const to = Math.min(found[index + 1]?.index ?? text.length, from + NEAR_CHARS);
    const object = /^[^.;:!?()\n]*/.exec(text.slice(from, to))?.[0] ?? '';
    return {
      excludes: match.groups?.['excludes'] !== undefined,
      text: object,
      start: match.index,
      end: from + object.length,
    };
  });
}

function objectsOf(text: string): readonly string[] {
  return text
    .split(/,| and | nor | or | as well as /)
    .map((part) =>
      part
        .trim()
        .replace(DETERMINERS, '')
        .replace(/(?: (?:please|too|as well|at all|also|and))+$/, ''),
    )
    .filter((part) => part !== '' && part.split(' ').length <= OBJECT_WORDS);
}

function areOne(text: string, earlier: Wish, later: Wish): boolean {
  if (later.start - earlier.end > NEAR_CHARS) return false;
  const from = Math.max(text.lastIndexOf('\n', earlier.start - 1) + 1, earlier.start - NEAR_CHARS);
  const rest = /^[^\n]*/.exec(text.slice(later.end, later.end + NEAR_CHARS))?.[0] ?? '';
  return !APART.test(text.slice(from, later.end) + rest);
}

const REQUEST_CHARS = 20_000;
/** A request longer than this holds a text to work on: what is wanted stands in its first or its last paragraph. */
const LONG_REQUEST_CHARS = 2_000;
const PARAGRAPH_CHARS = 1_000;

const APOSTROPHES = /[’‘`´]/g;
const CODE = /```[\s\S]{0,20000}?```|`[^`\n]{1,200}`/g;
const QUOTED = /"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}])/gu;
const QUOTED_LINE = /^[ \t]{0,8}>[^\n]*$/gm;

const QUESTION = /\?\W{0,8}$/;
const POLITE_QUESTION = /^(?:(?:hi|hello|hey|please|ok|okay|and|so)[ ,]+)*(?:can|could|would|will) you\b/i;

/**
 * The part of a request that tells what to do, in lower case, a line a sentence: no questions but "could you …?", no code,
 * a quotation as one word with `_` for what is no letter, and of a long request its first and last paragraph. Linear.
 */
function directivesOf(request: string): string {
  return sentencesOf(said(instructions(request.slice(0, REQUEST_CHARS))))
    .filter(({ text }) => !QUESTION.test(text) || POLITE_QUESTION.test(text))
    .map(({ text }) => text.toLowerCase())
    .join('\n');
}

function instructions(request: string): string {
  if (request.length <= LONG_REQUEST_CHARS) return request;
  const paragraphs = request.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== '');
  const last = paragraphs.length > 1 ? paragraphs.at(-1) : undefined;
  return [paragraphs[0], last].map((paragraph) => paragraph?.slice(0, PARAGRAPH_CHARS) ?? '').join('\n\n');
}

function said(text: string): string {
  return text.replace(CODE, ' ').replace(QUOTED_LINE, ' ').replace(APOSTROPHES, "'").replace(QUOTED, asOneWord);
}

/** A quotation is a thing by itself: it stays as one word, so that nothing in it is read as a directive. */
function asOneWord(quotation: string): string {
  return quotation.replace(/[^\p{L}\p{N}]+/gu, '_');
}
