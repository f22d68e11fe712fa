import { sentencesOf } from '../text/sentences.ts';
import { stemsOf } from '../text/terms.ts';

/**
 * Returns descriptions of the contradictions in a request, each once: something both requested and excluded, lengths
 * that exclude each other, or opposite manners. Precise rather than complete: text that only mentions, asks about or
 * quotes opposites, or applies them to two parts or cases, is not a conflict. English. Reads the first 20,000 UTF-16
 * units; linear.
 */
export function conflictsIn(request: string): readonly string[] {
  const text = directivesOf(request);
  return [...new Set([...contradictoryContents(text), ...contradictoryLengths(text), ...contradictoryManners(text)])];
}

/** An instruction about the content of the answer. */
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
/** A longer object is a clause of its own. */
const OBJECT_WORDS = 6;
/** Two instructions farther apart than this (UTF-16 units) may concern different parts of the answer. */
const NEAR_WISH_CHARS = 400;
/**
 * Words that turn two opposite instructions into an alternative, a condition, a correction, or instructions for two
 * parts.
 */
const SEPARATES_WISHES =
  /\b(?:or|if|unless|when|whenever|until|once|otherwise|except|only|instead|rather|actually|wait|then|first|second|next|later|after|before|version|variant|option|part|section|other|another|each|every|in the|for the|on the|at the)\b|:/;

/** Returns descriptions of things that a text both requests and excludes. */
function contradictoryContents(text: string): readonly string[] {
  const conflicts: string[] = [];
  const seen = new Map<string, Wish & { readonly object: string }>();
  for (const wish of wishesIn(text)) {
    for (const object of objectsOf(wish.text)) {
      const key = [...new Set(stemsOf(object))].sort().join(' ');
      if (key === '') continue;
      const earlier = seen.get(key);
      if (earlier !== undefined && earlier.excludes !== wish.excludes && concernTheSamePart(text, earlier, wish))
        conflicts.push(`"${object.replace(/_+/g, ' ').trim()}" is both requested and excluded`);
      seen.set(key, { ...wish, object });
    }
  }
  return conflicts;
}

function wishesIn(text: string): readonly Wish[] {
  const found = [...text.matchAll(WISH)];
  return found.map((match, index) => {
    const from = match.index + match[0].length;
    const to = Math.min(found[index + 1]?.index ?? text.length, from + NEAR_WISH_CHARS);
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

function concernTheSamePart(text: string, earlier: Wish, later: Wish): boolean {
  if (later.start - earlier.end > NEAR_WISH_CHARS) return false;
  const from = Math.max(text.lastIndexOf('\n', earlier.start - 1) + 1, earlier.start - NEAR_WISH_CHARS);
  const rest = /^[^\n]*/.exec(text.slice(later.end, later.end + NEAR_WISH_CHARS))?.[0] ?? '';
  return !SEPARATES_WISHES.test(text.slice(from, later.end) + rest);
}

const REQUEST_CHARS = 20_000;
/** A longer request contains a text to work on: its instructions are in its first or last paragraph. */
const LONG_REQUEST_CHARS = 2_000;
const PARAGRAPH_CHARS = 1_000;

const APOSTROPHES = /[’‘`´]/g;
const CODE = /```[\s\S]{0,20000}?```|`[^`\n]{1,200}`/g;
const QUOTED = /"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}])/gu;
const QUOTED_LINE = /^[ \t]{0,8}>[^\n]*$/gm;

const QUESTION = /\?\W{0,8}$/;
const POLITE_QUESTION = /^(?:(?:hi|hello|hey|please|ok|okay|and|so)[ ,]+)*(?:can|could|would|will) you\b/i;

/**
 * Returns the instructions of a request in lower case, one sentence per line: no questions except "could you …?", no
 * code, a quotation as one word with `_` for every non-letter, and of a long request the first and last paragraph.
 * Linear.
 */
function directivesOf(request: string): string {
  return sentencesOf(withoutQuotations(instructions(request.slice(0, REQUEST_CHARS))))
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

function withoutQuotations(text: string): string {
  return text.replace(CODE, ' ').replace(QUOTED_LINE, ' ').replace(APOSTROPHES, "'").replace(QUOTED, asOneWord);
}

/** Returns a quotation as one word, so that nothing in it is read as an instruction. */
function asOneWord(quotation: string): string {
  return quotation.replace(/[^\p{L}\p{N}]+/gu, '_');
}

/** From small to large: each contains at least one of every smaller unit, and this many words. */
const UNITS = [
  { name: 'word', leastWords: 1, mostWords: 1 },
  { name: 'sentence', leastWords: 1, mostWords: 100 },
  { name: 'paragraph', leastWords: 1, mostWords: 500 },
  { name: 'page', leastWords: 100, mostWords: 1_000 },
] as const;

/** The requested length of the answer. An exact length is both minimum and maximum; `unit` is an index of `UNITS`. */
interface Bound {
  readonly least: number;
  readonly most: number;
  readonly unit: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const AT_MOST = 'at most|no more than|not more than|up to|a maximum of|maximum|within';
const LESS = 'under|fewer than|less than';
const AT_LEAST = 'at least|no fewer than|no less than|not less than|a minimum of|minimum';
const MORE = 'more than|over';
const BOUND = new RegExp(
  `\\b(?:(?<most>${AT_MOST})|(?<less>${LESS})|(?<least>${AT_LEAST})|(?<more>${MORE})|(?:in )?exactly|in(?: only| just)?) (?<count>\\d{1,5}|a single|${NUMBERS.join('|')})(?: (?:short|long|full|complete|single|detailed))? (?<unit>${UNITS.map(({ name }) => name).join('|')})s?\\b`,
  'g',
);

/** Two bounds farther apart than this (UTF-16 units) may concern different things. */
const NEAR_BOUND_CHARS = 120;
/** Words between bounds of two different things, or that make two bounds an alternative. */
const SEPARATES_BOUNDS =
  /[:;]|\b(?:then|next|after|before|followed|first|second|also|another|other|each|every|per|or|if|unless|otherwise|instead|rather|not|plus|title|heading|headline|summary|summari[sz]e|abstract|intro|introduction|body|conclusion|section|part|version|quote|caption|example|examples|explain|describe|give|list|discuss|define|and (?:an?|one|the|its?|their))\b/;
const NOT_THE_ANSWER_BEFORE =
  /\b(?:not|each|every|per|than|title|summary|abstract|introduction|conclusion|example|examples)\b[^.\n]{0,12}$/;
const OF_ITS_OWN = /^,? (?:of|about|on|for|per|each|explaining|describing|summari[sz]ing|if|unless|or)\b/;
const HOLDS = /^\W*(?:and |but )?(?:of|with|containing|having|that are|that have)\W*$/;

/** Returns descriptions of length requirements that no answer can meet. */
function contradictoryLengths(text: string): readonly string[] {
  const bounds = boundsIn(text);
  return bounds.flatMap((later, index) => {
    const earlier = bounds[index - 1];
    return earlier !== undefined && exclude(earlier, later) && boundTheSameThing(text, earlier, later)
      ? [`"${earlier.text}" and "${later.text}" exclude each other`]
      : [];
  });
}

function boundsIn(text: string): readonly Bound[] {
  return Array.from(text.matchAll(BOUND), (match) => {
    const { most, less, least, more, count = '', unit } = match.groups ?? {};
    const number = count === 'a single' ? 1 : NUMBERS.includes(count) ? NUMBERS.indexOf(count) : Number(count);
    return {
      least: more === undefined ? ((most ?? less) === undefined ? number : 0) : number + 1,
      most: less === undefined ? ((least ?? more) === undefined ? number : Number.POSITIVE_INFINITY) : number - 1,
      unit: UNITS.findIndex(({ name }) => name === unit),
      text: match[0],
      start: match.index,
      end: match.index + match[0].length,
    };
  });
}

function exclude(one: Bound, other: Bound): boolean {
  return isMoreThan(one, other) || isMoreThan(other, one);
}

/** Whether the minimum of one exceeds the maximum of the other. */
function isMoreThan(long: Bound, short: Bound): boolean {
  if (long.unit >= short.unit && long.least > short.most) return true;
  return long.least * (UNITS[long.unit]?.leastWords ?? 0) > short.most * (UNITS[short.unit]?.mostWords ?? 0);
}

function boundTheSameThing(text: string, earlier: Bound, later: Bound): boolean {
  const between = text.slice(earlier.end, later.start);
  if (between.length > NEAR_BOUND_CHARS || SEPARATES_BOUNDS.test(between)) return false;
  if (earlier.unit > later.unit && HOLDS.test(between)) return false;
  const before = text.slice(Math.max(0, earlier.start - NEAR_BOUND_CHARS), earlier.start);
  return !NOT_THE_ANSWER_BEFORE.test(before) && !OF_ITS_OWN.test(text.slice(later.end, later.end + NEAR_BOUND_CHARS));
}

const ANSWER =
  'answer|reply|response|explanation|summary|overview|description|report|essay|text|article|account|review|letter|message|email|paragraph|story|guide|introduction|tone|style|language|manner';
const OPPOSITES: readonly (readonly [string, string])[] = [
  ['short|brief|concise|terse|one-sentence|one-line', 'long|lengthy|detailed|exhaustive|in-depth'],
  ['formal', 'informal|casual|colloquial'],
];
const ONE = '\\b(?:an?|your|the|one|its)(?: (?:very|really|single))?';
/** "a short, detailed answer": two opposite words for one thing. "Short but detailed" is deliberate. */
const PAIRS = OPPOSITES.map(
  ([one, other]) =>
    new RegExp(
      `${ONE} (?:(?<one>${one})(?:,? and |, | )(?:very )?(?<other>${other})|(?<late>${other})(?:,? and |, | )(?:very )?(?<early>${one}))(?:,? [\\p{L}-]{1,20})? (?:${ANSWER})\\b`,
      'gu',
    ),
);

const TELL = 'answer|reply|respond|explain|describe|discuss|tell|summari[sz]e|outline|write';
/** "briefly explain … in detail", within one clause. */
const BRIEF_DETAIL = new RegExp(
  `\\b(?:briefly (?:${TELL})|(?:${TELL})(?: me| it)? briefly)\\b(?:(?!\\b(?:and|or|but|then|not|without|what|who|that|which)\\b)[^.,;:!?\\n]){0,100}? in (?:(?:great|full|much|more|every) )?detail(?=\\s*(?:[.,;!?]|please|$))`,
  'gm',
);

const LANGUAGES =
  'english|french|german|spanish|italian|portuguese|dutch|russian|chinese|japanese|korean|arabic|hindi|turkish|polish|swedish|greek|latin';
const IN_LANGUAGE = new RegExp(
  `\\b(?:answer|reply|respond|write)(?: (?:me|it|this|to me|the (?:whole )?(?:answer|reply|response)|your (?:answer|reply|response)))?(?: (?:only|entirely|exclusively|always))? in (?<only>only )?(?<language>${LANGUAGES})\\b(?<last> only)?`,
  'g',
);
const NEAR_LANGUAGE_CHARS = 200;
const SEPARATES_LANGUAGES =
  /\b(?:or|if|when|whenever|where|unless|otherwise|then|first|second|next|after|also|another|each|instead|rather|not|part|section|version|title|translat\p{L}{1,6})\b|:/u;

/** Returns descriptions of contradictory instructions about the manner of the answer. */
function contradictoryManners(text: string): readonly string[] {
  return [
    ...opposedWords(text),
    ...Array.from(text.matchAll(BRIEF_DETAIL), () => '"briefly" and "in detail"'),
    ...opposedLanguages(text),
  ];
}

function opposedWords(text: string): readonly string[] {
  return PAIRS.flatMap((pair) =>
    Array.from(text.matchAll(pair), ({ groups = {} }) =>
      groups['one'] === undefined
        ? `"${groups['late']}" and "${groups['early']}"`
        : `"${groups['one']}" and "${groups['other']}"`,
    ),
  );
}

function opposedLanguages(text: string): readonly string[] {
  const found = [...text.matchAll(IN_LANGUAGE)];
  return found.flatMap((later, index) => {
    const earlier = found[index - 1];
    if (earlier === undefined || earlier.groups?.['language'] === later.groups?.['language']) return [];
    const between = text.slice(earlier.index, later.index + later[0].length);
    const only = /\b(?:only|entirely|exclusively|always)\b/.test(between);
    if (!only || between.length > NEAR_LANGUAGE_CHARS || SEPARATES_LANGUAGES.test(between)) return [];
    return [`"${earlier[0]}" and "${later[0]}"`];
  });
}
