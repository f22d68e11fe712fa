import { datesIn, monthsOfDays } from '../text/dates.ts';
import { memoize } from '../text/memoize.ts';
import { sentencesOf } from '../text/sentences.ts';
import { isUnspaced, stemOfFolded } from '../text/words.ts';
import { type Features, type Reading, read, shareOf, spaced, type Word, weightIn } from './reading.ts';

export interface Grounding {
  /** The share of what the answer adds to the request that the evidence has, 0..1; null if there is nothing to check. */
  readonly support: number | null;
  /** Whether a text has the answer, or every name and number of a longer one, word by word. */
  readonly verbatim: boolean;
  /** Whether a name or number of the answer is in no text. */
  readonly inventsName: boolean;
}

/** A longer answer is a sentence: its names and numbers must be verbatim, not all of its words. */
const TERSE_WORDS = 5;
/** Numbers and names weigh more than other words: answers get them wrong most often. */
const NAME_FACTOR = 2;
/** Words of at most this length that no text has, and that are not names, say nothing that can be checked: "It is so". */
const SLIGHT_LENGTH = 3;
/** Words that answer a question and cannot be looked up. */
const BARE = new Set('yes no ja nein oui non si sim nao да нет'.split(' '));
const BARE_PHRASE = /^(?:是|不是|对|不|はい|いいえ|네|아니요)$/u;

/** Whether an answer is only a yes or no, in one of several languages. */
function isBare(answer: Reading): boolean {
  const text = answer.plain.replaceAll(' ', '');
  return (answer.words.length === 1 && BARE.has(text)) || BARE_PHRASE.test(text);
}

/**
 * Returns how evidence supports an answer: the share of its words that the request does not have (of all words if it
 * has no others), weighted by how few sentences have them, names and numbers more, short
 * words less. Linear in the texts.
 */
export function groundingOf(comparison: GroundingCheck): Grounding {
  const { answer, texts } = comparison;
  const isEmpty = texts.length === 0 || answer.words.length === 0 || isBare(answer);
  const measured = isEmpty ? null : comparison.measure(answer);
  return measured === null
    ? { support: null, verbatim: false, inventsName: false }
    : { ...measured, verbatim: isVerbatim(comparison) };
}

/** Which terms of an answer are compared. `names`: names and numbers only, for the output of programs, which is seldom prose. */
export type Compared = 'words' | 'names';

export interface GroundingCheck {
  readonly answer: Reading;
  readonly request: Reading;
  readonly texts: readonly Reading[];
  readonly compared: Compared;
  /** Whether evidence has a term of the answer, or it is the result of a calculation. */
  readonly isFound: (term: string) => boolean;
  /** Whether a term is the result of a calculation with numbers of the request and the answer, or the sum or difference of two in a sentence. */
  readonly isDerived: (term: string) => boolean;
  /** Measures a part of the answer against all texts, or one of them; null if it has nothing to check. */
  readonly measure: (
    part: Reading,
    text?: Reading,
  ) => (Pick<Grounding, 'inventsName'> & { readonly support: number }) | null;
}

export function compare(
  answer: Reading,
  request: Reading,
  texts: readonly Reading[],
  compared: Compared = 'words',
): GroundingCheck {
  const { names } = answer;
  const wrong = wrongDates(answer, texts);
  const isInText = (term: string) => !wrong.has(term) && texts.some(({ terms }) => terms.has(term));
  const operands = numbersIn(request);
  operands.push(...numbersIn(answer).filter(({ stem }) => isInText(stem)));
  const totals = compared === 'names' ? texts.flatMap(totalsIn) : [];
  const units = unitsIn(answer);
  const isSum = (one: NumberWord) =>
    !isInText(one.stem) && texts.some((text) => isSumInSentence(one, units.get(one.stem), numberSentences(text)));
  const derived = new Set(
    numbersIn(answer).flatMap((one) =>
      isResult(one, operands) || isTotal(one, totals) || isSum(one) ? [one.stem] : [],
    ),
  );
  const isDerived = (term: string) => derived.has(term);
  const isFound = (term: string) => isDerived(term) || isInText(term);
  const isSlight = (term: string) =>
    term.length <= SLIGHT_LENGTH && !names.has(term) && !isUnspaced(term) && !isFound(term);
  const rarity = weightIn(texts, answer, true);
  const weight = (term: string) => rarity(term) * (names.has(term) ? NAME_FACTOR : 1);
  const measure = ({ terms }: Reading, text?: Reading) => {
    const isThere = (term: string) =>
      text === undefined ? isFound(term) : isDerived(term) || (!wrong.has(term) && text.terms.has(term));
    const added = [...terms].filter((term) => !request.terms.has(term));
    if (compared === 'names') {
      const facts = added.filter((term) => names.has(term));
      return facts.length === 0 ? null : { support: shareOf(facts, weight)(isThere), inventsName: false };
    }
    const checked = added.length > 0 ? added : [...terms];
    if (checked.every(isSlight)) return null;
    const inventsName = checked.some((term) => names.has(term) && !isThere(term));
    return { support: shareOf(checked, weight)(isThere), inventsName };
  };
  return { answer, request, texts, compared, isFound, isDerived, measure };
}

/** Returns the days and months of those dates in an answer that no text has: a day beside another month is another date. */
function wrongDates(answer: Reading, texts: readonly Reading[]): ReadonlySet<string> {
  const dates = datesIn(answer.plain);
  if (dates.length === 0) return new Set();
  const days = texts.map(({ plain, terms }) => ({ terms, months: monthsOfDays(plain) }));
  const isIn = ([day = '', month = '']: readonly string[]) =>
    days.some(({ terms, months }) => {
      const beside = months.get(day);
      return terms.has(stemOfFolded(month)) && (beside?.has(month) === true || beside?.has('') === true);
    });
  return new Set(dates.filter((date) => !isIn(date)).flatMap((date) => date.map(stemOfFolded)));
}

const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

interface NumberWord {
  readonly stem: string;
  readonly value: number;
}

/** Returns the numbers of a text that are written in digits, with repetitions, at most 20. */
function numbersIn({ words }: Reading): NumberWord[] {
  const numbers = words.filter(({ folded }) => NUMBER.test(folded)).slice(0, 20);
  return numbers.map(({ folded, stem }) => ({ stem, value: Number(folded) }));
}

/** Returns the words after each number: its units, such as "years" or "MB"; empty if no word follows directly. */
const unitsIn = memoize(({ words }: Reading): ReadonlyMap<string, ReadonlySet<string>> => {
  const units = new Map<string, Set<string>>();
  for (const [at, { folded, stem }] of words.entries()) {
    if (!NUMBER.test(folded)) continue;
    const next = words[at + 1];
    const unit = next?.joined === true && !NUMBER.test(next.folded) ? next.stem : '';
    units.set(stem, (units.get(stem) ?? new Set()).add(unit));
  }
  return units;
});

/** Numbers with different units do not contradict each other: 24 months are 2 years. */
const haveCommonUnit = (stated: ReadonlySet<string>, there: ReadonlySet<string> | undefined): boolean =>
  there === undefined || stated.has('') || there.has('') || [...there].some((unit) => stated.has(unit));

/** The numbers from zero to twelve in words, which documents prefer to digits. */
const NUMBER_WORDS: readonly (readonly string[])[] = [
  'zero one two three four five six seven eight nine ten eleven twelve'.split(' '),
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf'.split(' '),
];

const isSpelledOut = (value: number, texts: readonly Reading[]): boolean =>
  NUMBER_WORDS.some((words) => {
    const word = words[value];
    return word !== undefined && texts.some(({ plain }) => plain.includes(` ${word} `));
  });

const sums = (one: number, other: number) => [one + other, one - other];
const calculations = (one: number, other: number) => [
  ...sums(one, other),
  one * other,
  one / other,
  (one * other) / 100,
];

/** The numbers of a sentence by unit, if two or more have the same one. */
type UnitNumbers = readonly (readonly [unit: string, numbers: readonly NumberWord[]])[];

const numberSentences = memoize((text: Reading): readonly UnitNumbers[] => {
  const units = unitsIn(text);
  return text.sentences.flatMap((terms): UnitNumbers[] => {
    const stems = new Map<string, string[]>();
    for (const term of terms)
      for (const unit of units.get(term) ?? []) if (unit !== '') stems.set(unit, [...(stems.get(unit) ?? []), term]);
    const several = [...stems].filter(([, numbers]) => numbers.length > 1);
    return several.length === 0 ? [] : [several.map(([unit, numbers]) => [unit, numbersOf(numbers)])];
  });
});

/**
 * Whether a number is the sum or difference of two numbers of one sentence, and all three have the same unit. A passage has so many pairs
 * of numbers, and so many without a unit, that wrong answers would pass.
 */
const isSumInSentence = (
  one: NumberWord,
  units: ReadonlySet<string> | undefined,
  sentences: readonly UnitNumbers[],
): boolean =>
  sentences.some((numbers) => numbers.some(([unit, there]) => units?.has(unit) === true && isResult(one, there, sums)));

const numbersOf = (stems: readonly string[]): readonly NumberWord[] =>
  stems.slice(0, 20).map((stem) => ({ stem, value: Number(stem) }));

/**
 * Returns the count, the sum and the mean of the numbers of a text that follow the same word and a colon, as in a JSON array of objects:
 * what an answer says of the rows that a tool found.
 */
const totalsIn = memoize(({ words }: Reading): readonly number[] => {
  const columns = new Map<string, number[]>();
  for (const [at, { folded, joined }] of words.entries()) {
    const before = words[at - 1]?.folded ?? '';
    if (NUMBER.test(folded) && !joined) columns.set(before, [...(columns.get(before) ?? []), Number(folded)]);
  }
  return [...columns.values()].flatMap((numbers) => {
    const sum = numbers.reduce((total, number) => total + number, 0);
    return numbers.length < 2 ? [] : [numbers.length, sum, sum / numbers.length];
  });
});

const isTotal = ({ stem, value }: NumberWord, totals: readonly number[]): boolean => {
  const decimals = stem.split('.')[1]?.length ?? 9;
  return totals.some((total) => Math.abs(total - value) <= 10 ** -decimals / 2);
};

/** Whether a number is the result of a calculation with two others; one with decimals may be rounded to them. */
function isResult(
  { stem, value }: NumberWord,
  operands: readonly NumberWord[],
  results: (one: number, other: number) => readonly number[] = calculations,
): boolean {
  const decimals = stem.split('.')[1]?.length ?? 9;
  const isIt = (result: number) => Math.abs(result - value) <= 10 ** -decimals / 2;
  return operands.some(({ value: one }, at) =>
    operands.some(({ value: other }, index) => index !== at && results(one, other).some(isIt)),
  );
}

function isVerbatim({ answer, request, texts, compared, isDerived }: GroundingCheck): boolean {
  const runs = namesIn(answer.words).filter((run) => run.some(({ stem }) => !request.terms.has(stem)));
  const isCalculated = (run: readonly Word[]) => run.every(({ stem }) => isDerived(stem));
  if (runs.length > 0 && runs.every(isCalculated)) return true;
  if (answer.length <= TERSE_WORDS && compared !== 'names') {
    const lines = linesOf(answer.words);
    return texts.some((text) => lines.every((line) => has(text, line)));
  }
  return runs.length > 0
    ? runs.every((run) => isCalculated(run) || texts.some((text) => has(text, run)))
    : texts.some((text) => has(text, answer.words));
}

/** Returns the words of each line: a row of a table is quoted with the header, which may be far above it. */
function linesOf(words: readonly Word[]): readonly (readonly Word[])[] {
  const starts = [...words.keys()].filter((at) => at === 0 || words[at]?.opensLine === true);
  return starts.map((at, place) => words.slice(at, starts[place + 1]));
}

interface Part {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface SentenceCheck {
  readonly unsupported: readonly Part[];
  /** The texts that state the same with other numbers. */
  readonly contradicting: readonly Reading[];
}

/**
 * Compares each sentence of an answer with evidence. A text contradicts a sentence if no text contains one of the sentence's numbers, and
 * a sentence of the text has different numbers and at least the share `required` (0..1) of the other words of request and sentence.
 */
export function checkSentences(comparison: GroundingCheck, text: string, required: number): SentenceCheck {
  const { answer, request, texts } = comparison;
  const unsupported: Part[] = [];
  const contradicting = new Set<Reading>();
  const rarity = weightIn(texts, request);
  const asked = numbersIn(request);
  const units = unitsIn(answer);
  for (const part of sentencesOf(text)) {
    const sentence = read(part.text);
    const support = partSupport(comparison, sentence);
    if (support !== null && support < required) unsupported.push(part);
    const stated = numbersIn(sentence).filter(
      ({ stem, value }) => !request.terms.has(stem) && !comparison.isFound(stem) && !isSpelledOut(value, texts),
    );
    if (stated.length === 0) continue;
    const context = new Set([...request.terms, ...sentence.terms]);
    for (const term of context) if (/^\p{N}/u.test(term)) context.delete(term);
    const share = shareOf(context, rarity);
    const statedUnits = new Set(stated.flatMap(({ stem }) => [...(units.get(stem) ?? [''])]));
    const isOther = (terms: ReadonlySet<string>, unitsThere: ReturnType<typeof unitsIn>) => {
      const numbers = [...terms].filter(
        (term) => NUMBER.test(term) && haveCommonUnit(statedUnits, unitsThere.get(term)),
      );
      const differs = numbers.some((stem) => !answer.terms.has(stem));
      return differs && !stated.some((one) => isResult(one, [...asked, ...numbersOf(numbers)]));
    };
    for (const other of texts) {
      const isAbout = (terms: ReadonlySet<string>) =>
        share((term) => terms.has(term) || other.title.includes(term)) >= required;
      const unitsThere = unitsIn(other);
      // Last, because it costs more, and few sentences are about the same.
      if (other.sentences.some((terms) => isAbout(terms) && isOther(terms, unitsThere))) contradicting.add(other);
    }
  }
  return { unsupported, contradicting: [...contradicting] };
}

export interface SentenceSupport extends Part {
  /** Its support by all texts, 0..1, as `checkSentences` compares it; null if it has nothing to check. */
  readonly support: number | null;
  /** Its support by each text alone, in the order of the texts. */
  readonly byText: readonly number[];
}

/** Returns how far evidence supports each sentence of an answer. */
export const sentenceSupport = (comparison: GroundingCheck, text: string): readonly SentenceSupport[] =>
  sentencesOf(text).map((part) => {
    const sentence = read(part.text);
    const byText = comparison.texts.map((one) => partSupport(comparison, sentence, one) ?? 0);
    return { ...part, support: partSupport(comparison, sentence), byText };
  });

function partSupport({ measure }: GroundingCheck, part: Reading, text?: Reading): number | null {
  const measured = isBare(part) ? null : measure(part, text);
  return measured === null ? null : measured.support * factorOf(measured);
}

/** A name or number that no text has is probably invented. */
const factorOf = ({ inventsName }: Pick<Grounding, 'inventsName'>): number => (inventsName ? 0.5 : 1);

/** Returns the support, halved if a name or number is in no text; null if there is nothing to check. */
export const supportOf = (grounding: Grounding): number | null =>
  grounding.support === null ? null : grounding.support * factorOf(grounding);

/** Returns the names, each with all of its adjacent words, and the numbers. */
export function namesIn(words: readonly Word[]): readonly (readonly Word[])[] {
  const runs: Word[][] = [];
  for (const [at, word] of words.entries()) {
    if (!word.named) continue;
    const before = words[at - 1];
    const isName = before?.named === true && !/^\p{N}/u.test(before.folded) && !/^\p{N}/u.test(word.folded);
    if (word.joined && isName) runs.at(-1)?.push(word);
    else runs.push([word]);
  }
  return runs;
}

/** Whether a text has the words one after another. */
function has(text: Reading, words: readonly Word[]): boolean {
  return words.length > 0 && text.plain.includes(spaced(words.map(({ folded }) => folded)));
}

/** What speaks against a claim that the task is complete; each 0 or 1, all 0 without evidence. */
export type CompletionFeature = 'long' | 'recombined' | 'repeatedResults';

/** With less support than this, the evidence has only words of the answer that occur everywhere. */
const INCIDENTAL = 0.1;

/**
 * Returns the features of an answer whose model claims completion.
 * - `long`: more than five words.
 * - `recombined`: the evidence has words of the answer, but not together: it was combined or changed.
 * - `repeatedResults`: the search returned the same text more than once.
 *
 * An answer that a text has verbatim, a yes or no, and a choice from the request have none of these.
 */
export function completionFeatures(
  answer: Reading,
  request: Reading,
  grounding: Grounding,
  repeated: boolean,
): Features<CompletionFeature> {
  const fromRequest = request.plain.includes(answer.plain);
  const open = grounding.support !== null && !grounding.verbatim && !isBare(answer) && !fromRequest;
  const flag = (holds: boolean) => (open && holds ? 1 : 0);
  return {
    long: flag(answer.length > TERSE_WORDS),
    recombined: flag((grounding.support ?? 0) > INCIDENTAL),
    repeatedResults: flag(repeated),
  };
}
