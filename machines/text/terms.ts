import { characterPairs, eachRun, foldWord, isComparison, isUnspaced, stemOfFolded } from './words.ts';

/** English words without content of their own. Lower case, without apostrophes. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are arent as at be because been before being below between both but by
  can cannot cant could couldnt did didnt do does doesnt doing dont down during each either else etc every for from further get gets
  had has hasnt have havent having he her here hers herself him himself his how however i id if ill im in into is isnt it its itself
  ive just let lets many may me might more most much must my myself neither no nor not now of off on once one only or other our ours
  out over own per quite same shall she should shouldnt since so some such than that thats the their theirs them themselves then
  there theres these they theyre this those through thus to too under until up upon us very via was wasnt we well were werent what
  whats when whens where wheres whether which while who whom whos whose why will with within without wont would wouldnt yet you
  your youre yours yourself`.split(/\s+/),
);

/** Words that open a request without naming its topic: stop words there, content anywhere else. */
const ASKING_WORDS: ReadonlySet<string> = new Set(
  `please tell explain describe compare contrast briefly outline summarise summarize show list name give say define detail mean means`.split(
    /\s+/,
  ),
);

/** Words so general that a text can answer a question without them: in a question they have a reduced weight. */
const GENERAL_WORDS =
  `actually allow always anybody anyone anything apply available become begin big case come common consider contain deal
  different do done example exist fast fill follow general go good great handle happen help important include involve keep
  kind large late like long look lot main make need new nobody normal occur often particular perform possible put reason
  relate several similar small somebody someone something sort stand still take thing try type use useful usually various
  want way work one two three four five six seven eight nine ten`.split(/\s+/);

/** How informative a term is, by how few of the texts have it; above 0 for every term. */
export type TermWeight = (stem: string) => number;

/** Smoothing: texts added to the real ones, none of which has the term, so that weights are stable for few texts. */
const IMAGINED_TEXTS = 10;
const GENERAL_FACTOR = 0.3;
/** Created on first use, because stemming takes longer than the rest of this module. */
let generalStems: ReadonlySet<string> | undefined;

/**
 * Returns the smoothed inverse document frequency (Spärck Jones 1972): ln(1 + (texts + 10) / (texts with the term +
 * 1)). A term in no text weighs the most, so a question about something unknown does not seem covered; general words
 * ("handle", "kind") weigh less than their rarity.
 */
export function termWeights(texts: number, textsWith: (stem: string) => number): TermWeight {
  generalStems ??= new Set(GENERAL_WORDS.map(stemOfFolded));
  const general = generalStems;
  return (stem) => {
    const rarity = Math.log(1 + (texts + IMAGINED_TEXTS) / (textsWith(stem) + 1));
    return general.has(stem) ? GENERAL_FACTOR * rarity : rarity;
  };
}

/** A content word: its stem, and its form and position in the text (`start` in UTF-16 units from 0). */
export interface Term {
  readonly stem: string;
  readonly surface: string;
  readonly start: number;
}

const CAMEL_PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+/gu;
/** Precedes a noun: "the list" is a thing, "list the" is an instruction. */
const AFTER_ARTICLE = /\b(?:the|an?|this|that|its|their|each|every)\s+$/i;
const MEMO_ENTRIES = 100_000;
const MAX_WORD_CHARS = 80;
const MAX_REQUEST_CHARS = 20_000;
const MAX_TERMS = 64;

/** Stems by word: texts repeat their words, and stemming is the most expensive step. Emptied when full. */
const memo = new Map<string, readonly string[]>();

/** "A" is a name within a sentence: "Grade A". */
const isNameA = (text: string, run: string, start: number): boolean =>
  run === 'A' &&
  /[\p{L}\p{N}] $/u.test(text.slice(Math.max(0, start - 2), start)) &&
  !/^ \p{Lu}/u.test(text.slice(start + 1, start + 3));

/**
 * Visits the content words of a text in order: lower case, without accents, as English stems (Porter 1980), without stop words. `camelCase`
 * words yield their parts as well, scripts without spaces pairs of characters, and a word with a sign that may be left out is visited with and
 * without it.
 */
export function eachStem(text: string, visit: (stem: string, surface: string, start: number) => void): void {
  eachRun(text, (run, start, signed) => {
    if (isComparison(run)) return;
    if (signed?.only !== true) for (const stem of stemsOfRun(run)) visit(stem, run, start);
    if (isNameA(text, run, start) && signed === null) visit('a', run, start);
    if (signed !== null) visit(signed.form, run, start);
  });
}

export function stemsOf(text: string): string[] {
  const stems: string[] = [];
  eachStem(text, (stem) => stems.push(stem));
  return stems;
}

/**
 * Returns the distinct content words of a request, at most `MAX_TERMS`, each at its first position. Words that only open a
 * request ("please explain") are left out unless there are no others.
 */
export function requestTerms(request: string): Term[] {
  const content = new Map<string, Term>();
  const asking = new Map<string, Term>();
  eachStem(request.slice(0, MAX_REQUEST_CHARS), (stem, surface, start) => {
    if (content.size >= MAX_TERMS) return;
    const term = { stem, surface, start };
    const into = content.size === 0 && asks(term, request) ? asking : content;
    if (!into.has(stem)) into.set(stem, term);
  });
  return [...(content.size > 0 ? content : asking).values()];
}

function asks({ surface, start }: Term, request: string): boolean {
  return ASKING_WORDS.has(surface.toLowerCase()) && !AFTER_ARTICLE.test(request.slice(Math.max(0, start - 12), start));
}

/** Returns the stems of a run of letters and digits: none for a stop word, several for a `camelCase` word. */
function stemsOfRun(run: string): readonly string[] {
  const known = memo.get(run);
  if (known !== undefined) return known;
  if (memo.size >= MEMO_ENTRIES) memo.clear();
  const own = ownText(run.slice(0, MAX_WORD_CHARS));
  const stems = computeStems(own);
  memo.set(own, stems);
  return stems;
}

/** Returns a copy of the text: V8 keeps the entire original in memory for a substring of 13 characters or more. */
const ownText = (piece: string): string => (piece.length < 13 ? piece : Array.from(piece).join(''));

function computeStems(run: string): readonly string[] {
  if (isUnspaced(run)) return characterPairs(run);
  const whole = stemOf(run);
  const parts = run.match(CAMEL_PART);
  const stems = new Set<string>();
  if (whole !== null) stems.add(whole);
  if (parts !== null && parts.length > 1 && /\p{Ll}\p{Lu}/u.test(run)) {
    for (const part of parts) {
      const stem = part.length > 1 ? stemOf(part) : null;
      if (stem !== null) stems.add(stem);
    }
  }
  return [...stems];
}

function stemOf(word: string): string | null {
  const plain = foldWord(word);
  return plain === '' || STOP_WORDS.has(plain) ? null : stemOfFolded(plain);
}
