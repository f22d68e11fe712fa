import { askingSentences, splitQuestion } from '../../../machines/text/asked-questions.ts';
import { clipped } from '../../../machines/text/clip.ts';
import { introduces } from '../../documents/blocks.ts';
import { definitionOf } from '../../documents/definitions.ts';
import { splitHeadings, type Unit, unitsOf } from '../../documents/units.ts';
import type { Steps } from '../../internal/async.ts';
import { type Query, questionOf, type Text, wordsOf } from './question.ts';

/** How a text fits a question: `defines` if it defines the term that is asked for, `open` if the question asks for no known kind of information, `doubtful` if the kind cannot be recognized reliably. */
type Fit = 'defines' | 'fits' | 'open' | 'doubtful' | 'unfit';

const NUMBER =
  /\p{N}+(?:[.,:]\p{N}+)*|[一二三四五六七八九十百千万两半]+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|once|twice|every|each|(?:hour|dai|week|month|year)ly|eine?[nrms]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|jede[nrms]?|(?:stünd|täg|wöchent|monat|jähr)lich)\b/giu;
const MONEY =
  /\p{Sc}|[元圆]|\b[A-Z]{3}\b|\b(?:[Ee]uros?|[Dd]ollars?|[Pp]ounds?|Franken|[Cc]rowns?|[Ff]ree|kostenlos)\b|免费|(?<![\d.,])\d+[.,]\d\d(?![\d.,])/u;
const MONTHS =
  'january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz|juni|juli|oktober|dezember';
const CALENDAR = new RegExp(
  String.raw`\b(?:\p{L}+(?:day|tag|woch)s?|noon|midnight|spring|summer|autumn|winter|${MONTHS}|(?:in|im|by|until|since) ma[iy])\b|[月日]`,
  'iu',
);
const NAME = /(?<=[^\s.!?:]\s+["“(`]*)\p{Lu}[\p{L}'’-]+|[\p{sc=Han}]{2,}/gu;
const PLACE = /\b(?:in|into|at|on|under|near|behind|im|am|auf|bei|unter|hinter|neben)\b|[/\\]|[在旁处]/iu;
const REASON =
  /\b(?:because|since|so that|due to|in order to|therefore|to avoid|otherwise|weil|da|damit|denn|wegen|sonst)\b|[:：因]|为了|以免|由于/iu;

/** A question word counts only at the start of a question: "What happens when …" does not ask for a time. */
const OPENS = String.raw`(?<=(?:^|[,;.!?]\s*|\b(?:and|und)\s+)(?:\p{L}+\s+)?)(?<!\p{L})`;
const asking = (words: string, others: string): RegExp => new RegExp(`${OPENS}(?:${words})(?!\\p{L})|${others}`, 'giu');
const PRICE = asking(
  '(?:how much|was|wie viel)(?=.* [ck]ost)',
  String.raw`(?<=much.* )costs?|(?<=what do.* )cost(?=\W*$| (?:per|for|on|in|to) )|(?<=was |viel )kostet|多少钱`,
);
const TIME = asking('when|(?:what|which) (?:time|year|date|day)|wann', '几点|几[月号]|什么时候|何时|哪一?[年天]');
const AMOUNT = asking(
  'how (?:many|much|long|often|far|(?=old|fast|high|tall|large|big|heavy|wide|deep))|wie (?:viele?|lange|oft|(?=hoch|weit|groß|alt|schnell|schwer))|(?:which|what|welche) versions?(?: of)?',
  '多少|多久|多长时间|多(?=[长高远大重快])|几(?=[个天站次人])|(?:哪个|什么)版本',
);

/**
 * Whether a text has a kind of information; `added` is whether a pattern matches something that is not in the question, and `lead` what the
 * text is about: the header of a table names the unit of its numbers.
 */
type IsGiven = (text: string, added: (pattern: RegExp) => boolean, lead: string) => boolean;

/** For each kind of information: what asks for it, what contains it, and whether an answer without it is wrong (a reason may have any form). */
const KINDS: readonly [asked: RegExp, isGiven: IsGiven, strict: boolean][] = [
  [PRICE, (text, added, lead) => added(NUMBER) && MONEY.test(`${lead}\n${text}`), true],
  [TIME, (text, added) => CALENDAR.test(text) || added(NUMBER), true],
  [AMOUNT, (_, added) => added(NUMBER), true],
  [asking('whom?|whose|we[rnm]', '谁'), (_, added) => added(NAME), false],
  [asking('where|wo|wohin|woher', '哪里|哪儿|在哪'), (text) => PLACE.test(text), false],
  [asking('why|warum|wieso|weshalb', '为什么'), (text) => REASON.test(text), false],
];

interface Kind {
  readonly topic: string;
  /** The words that ask for the kind of information; empty if none do. */
  readonly asking: string;
  readonly fitOf: (text: string, lead: string) => Fit;
}

/** Returns what a question is about, without the words that ask for a kind of information, and how texts fit that kind. */
function kindOf(question: string): Kind {
  const kind = KINDS.find(([asked]) => question.search(asked) !== -1);
  const { sentence, entry } = definitionOf(question) ?? {};
  const definitionIn = (text: string): Fit => (sentence?.test(text) ? 'defines' : entry?.test(text) ? 'fits' : 'open');
  if (kind === undefined) return { topic: question, asking: '', fitOf: definitionIn };
  const [asked, isGiven, strict] = kind;
  const numbers = new Set(question.match(NUMBER));
  const isNew = (found: string): boolean =>
    /^\d/.test(found) ? !numbers.has(found) : !question.toLowerCase().includes(found.toLowerCase());
  const fitOf = (text: string, lead: string): Fit => {
    const given = isGiven(text, (pattern) => (text.match(pattern) ?? []).some(isNew), lead);
    return given ? 'fits' : strict ? 'unfit' : 'doubtful';
  };
  return { topic: question.replace(asked, ' '), asking: (question.match(asked) ?? []).at(-1)?.trim() ?? '', fitOf };
}

/** An answer of whole paragraphs, lists and table rows, or a sentence that there is none. Shares are 0..1. */
export interface FoundAnswer {
  readonly text: string;
  /** At most 0.3 if the answer lacks a word of the question or the kind of information asked for. */
  readonly confidence: number;
  /** The texts it quotes; none if nothing was found. */
  readonly ids: string[];
  /** The share of the question's weight that the answer and its headings cover, and the words that they lack. */
  readonly coverage: number;
  readonly missing: string[];
}

const NOTHING_FOUND = 'No passage answers this question';
/** The answer before any search. */
export const NOTHING_GATHERED = 'Nothing has been gathered yet.';

export const isEmptyAnswer = (answer: string): boolean =>
  ['', NOTHING_GATHERED].includes(answer.trim()) || answer.trim().startsWith(NOTHING_FOUND);

export const quotedList = (words: readonly string[]): string =>
  new Intl.ListFormat('en').format(words.slice(0, 8).map((word) => `"${word}"`));

const [MAX_QUESTIONS, MAX_TEXTS, MAX_ANSWER_CHARS] = [5, 40, 4_000];
/** A unit with less of the question's weight shares words with it, but is about something else. */
const MIN_COVERAGE = 0.4;
const COMPARES = /\b(?:compare|difference|differs?|versus|vs|vergleiche?|unterschied)\b|区别|比较/iu;
const WANTS_CODE = /\b(?:command|code|example|how (?:do|can|to)|install|run|befehl|beispiel)\b|命令|代码|示例/iu;

/** Answers each question of a request from the texts, in steps. Deterministic, and linear in the texts. */
export function* findAnswer(request: string, texts: readonly Text[]): Steps<FoundAnswer> {
  const asking = askingSentences(request);
  const answers: FoundAnswer[] = [];
  for (const asked of asking.length > 1 ? asking.slice(0, MAX_QUESTIONS) : [request.slice(0, 4_000)]) {
    const answer = yield* answerIn(texts, asked);
    const parts: FoundAnswer[] = [];
    // Nothing answers the question as a whole: it may be two questions.
    const questions = answer.confidence > UNSURE ? [] : splitQuestion(asked);
    if (questions.length > 1) for (const part of questions) parts.push(yield* answerIn(texts, part));
    answers.push(...(parts.some(({ ids }) => ids.length > 0) ? parts : [answer]));
  }
  const found = answers.filter(({ ids }) => ids.length > 0);
  return {
    text: [...new Set((found.length > 0 ? found : answers.slice(0, 1)).map(({ text }) => text))].join('\n\n'),
    confidence: Math.min(...answers.map(({ confidence }) => confidence)),
    ids: [...new Set(found.flatMap(({ ids }) => ids))],
    coverage: answers.reduce((sum, { coverage }) => sum + coverage, 0) / answers.length,
    missing: [...new Set(answers.flatMap(({ missing }) => missing))],
  };
}

function* answerIn(texts: readonly Text[], asked: string): Steps<FoundAnswer> {
  const { topic, asking, fitOf } = kindOf(asked);
  const question = yield* questionOf(topic, texts);
  const likely = texts.map((text, at) => ({ text, share: question.share(question.inTexts[at] ?? 0) }));
  const quotations: Quotation[] = [];
  for (const { text, share } of likely.sort((left, right) => right.share - left.share).slice(0, MAX_TEXTS)) {
    if (share > 0) quotations.push(...quotationsOf(text, question, fitOf));
    yield;
  }
  return answerTo(asked, asking, question, quotations);
}

function answerTo(asked: string, asking: string, question: Query, quotations: readonly Quotation[]): FoundAnswer {
  const { all, share, written, inTexts } = question;
  const [first, ...others] = quotations.toSorted((left, right) => right.score - left.score);
  if (first === undefined || share(first.words) < MIN_COVERAGE) {
    const searched = all === 0 ? 'it has no words to search for' : `searched for ${quotedList(written(all))}`;
    const missing = written(inTexts.reduce((left, set) => left & ~set, all));
    return { text: `${NOTHING_FOUND}: ${searched}.`, confidence: 0, ids: [], coverage: 0, missing };
  }
  // The other side of a comparison, or else all of a section whose headings, but not the unit itself, say what is asked.
  const second = COMPARES.test(asked) ? others.find(({ own }) => (own & ~first.words) !== 0) : undefined;
  const isSection = first.headings === all && first.own !== all && first.fit === 'open';
  const section = quotations.filter(({ id, unit }) => id === first.id && unit.kind !== 'row');
  const quotes = second !== undefined ? [first, second] : isSection ? section : [first];
  // Code after a unit is quoted if the unit introduces it or the question asks for it.
  const withCode = ({ text, code }: Unit): string =>
    introduces(text) || WANTS_CODE.test(asked) ? `${text}\n\n${code}` : text;
  const words = quotes.reduce((set, one) => set | one.words, 0);
  const rival = others.some(({ id, score }) => id !== first.id && score > first.score - CLOSE);
  const brief = BRIEF[wordsOf(asked).length];
  const most = brief === undefined ? 1 : first.headings === all ? brief : UNSURE;
  const sure = second === undefined ? Math.min(first.confidence - (rival ? RIVAL : 0), most) : DOUBTFUL;
  return {
    text: clipped(quotes.map(({ unit }) => withCode(unit).trimEnd()).join('\n\n'), MAX_ANSWER_CHARS),
    confidence: words === all ? sure : UNSURE * share(words),
    ids: [...new Set(quotes.map(({ id }) => id))],
    coverage: share(words),
    missing: [...written(all & ~words), ...(first.fit === 'unfit' ? [asking] : [])],
  };
}

/** A unit as an answer. The words are those of the question in the unit with its headings, in the headings, and in the unit. */
interface Quotation extends Record<'words' | 'headings' | 'own', number> {
  readonly unit: Unit;
  readonly id: string;
  readonly fit: Fit;
  readonly score: number;
  readonly confidence: number;
}

/** Words in one sentence are about one thing; in several, maybe not. Headings alone say little about a paragraph below them. */
const [TOGETHER_SHARE, ALL_SHARE, OWN_SHARE] = [0.5, 0.3, 0.2];
/** The highest confidence: in general, of a section whose headings match, of a doubtful answer, and of one that lacks what was asked. */
const [MOST, SECTION, DOUBTFUL, UNSURE] = [0.95, 0.8, 0.55, 0.3];
const MOST_BY_FIT: Readonly<Record<Fit, number>> = {
  defines: SECTION,
  fits: MOST,
  open: MOST,
  doubtful: DOUBTFUL,
  unfit: UNSURE,
};
/** Added to the score and the confidence of a part. An explicit definition needs no further sign. */
const BONUS: Readonly<Record<Fit, number>> = { defines: SECTION, fits: 0.1, open: 0, doubtful: 0, unfit: 0 };
/** The confidence per word of the question, if one part has all of them: fewer words say less. More if a heading has some. */
const [PER_WORD, HEADED] = [0.22, 0.2];
/** The highest confidence for a request of one or two words, which names a topic and asks nothing. */
const BRIEF = [0, 0.5, 0.6];
/** Subtracted if another text fits as well, and the difference of scores up to which it does. */
const [RIVAL, CLOSE] = [0.2, 0.02];

function quotationsOf(found: Text, question: Query, fitOf: Kind['fitOf']): Quotation[] {
  const { all, wordsIn, share, count } = question;
  const { headings: path, body } = splitHeadings(found);
  const headings = wordsIn(path);
  const units = unitsOf(body).filter(({ kind, parts }) => kind !== 'row' || parts.some((part) => wordsIn(part) !== 0));
  return units.map((unit) => {
    const lead = wordsIn(unit.lead);
    const names = unit.parts.filter((part) => unit.kind === 'list' && isName(part, question)).map(wordsIn);
    const above = names.reduce((set, one) => set | one, headings | lead);
    let [own, best] = [lead, { words: 0, fit: 'open' as Fit, score: -1 }];
    for (const part of unit.parts) {
      const [its, fit] = [wordsIn(part), fitOf(part, unit.lead)];
      own |= its;
      const score = TOGETHER_SHARE * share(its | above) + BONUS[fit];
      if (score > best.score) best = { words: its | above, fit, score };
    }
    const incidental = (own === 0 && headings !== all) || (unit.kind === 'row' && lead === 0);
    const most = incidental ? DOUBTFUL : headings === all && own !== all ? SECTION : MOST;
    const signs = ((headings | lead) === 0 ? 0 : HEADED) + BONUS[best.fit];
    const sure = Math.min(most, MOST_BY_FIT[best.fit], PER_WORD * count + signs);
    const score = best.score + ALL_SHARE * share(own | headings) + OWN_SHARE * share(own);
    const confidence = best.words === all ? sure : UNSURE;
    return { unit, id: found.id, words: own | headings, headings, own, fit: best.fit, score, confidence };
  });
}

/** Whether an item names what its list is about, like "name: Larch tent": all words of its value are in the question. */
function isName(item: string, { wordsIn }: Query): boolean {
  const [, value] = /^\s*[-*•]\s+[^\s:][^:]{0,40}: (.+)$/.exec(item) ?? [];
  return value !== undefined && wordsOf(value).every((word) => wordsIn(word) !== 0);
}
