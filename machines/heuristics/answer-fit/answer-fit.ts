import { isTerse, type Reading, readStart } from '../grounding/reading.ts';
import { isNoAnswer } from './no-answer.ts';
import { isBrief, type RequestKind, requestKind } from './request-kind.ts';

/** How well an answer's form fits what was asked, 0..1, and what was seen of it. */
export interface AnswerFit {
  readonly score: number;
  readonly signals: Readonly<Record<string, boolean | number | string>>;
}

/** A question for one thing is answered by adding at most so many content words to it: a name, a date, a number with its unit. */
const BRIEF_WORDS = 3;
/** A whole sentence may add so many: it answers in full. */
const SENTENCE_WORDS = 16;
/** The score of an answer of the wrong form: low, but more than no answer at all. */
const MISFIT = 0.3;
/** What is searched for words of a closed class, in characters. */
const WINDOW_CHARS = 2_000;

/** What a sentence has and a name, a list or a heading has not: an auxiliary or a personal pronoun. */
const SENTENCE_WORD =
  /\b(?:is|are|was|were|be|been|has|have|had|does|did|will|would|can|could|should|i|he|she|it|we|they|you)\b/i;
const TIME_WORD =
  /\b(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|century|yesterday|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|now|soon|never|always|before|after|during|when|while|until|since)\b/i;
const AMOUNT_WORD =
  /\b(?:none|no|many|few|several|dozens?|hundreds?|thousands?|millions?|billions?|half|twice|once|all|every|both)\b/i;

/**
 * Whether the form of an answer fits what was asked [Y1, Y12]: the kind of thing (X. Li and D. Roth, 2002) and the length. A question
 * for one thing wants a short answer or one sentence; something open may take any length. Saying that nothing
 * was found is no answer, nor is a question asked back, nor a sentence that only says the request again. Reads the first 20,000
 * characters.
 */
export function answerFit(request: string, answer: string): AnswerFit {
  const { score, ...signals } = formOf(requestKind(request), readStart(request), answer, readStart(answer));
  return { score, signals };
}

/** The form of an answer. */
export interface AnswerForm {
  readonly score: number;
  /** A question that names a choice asks for a thing where the answer is none of what it names. */
  readonly kind: RequestKind;
  readonly words: number;
  /** Different content words of the answer, and those among them that the request has not. */
  readonly content: number;
  readonly added: number;
  readonly answered: boolean;
  readonly kindFits: boolean;
  readonly asksBack: boolean;
  readonly tooLong: boolean;
  readonly addsNothing: boolean;
}

/** The form of an answer, from the kind of thing asked for and the readings of request and answer. */
export function formOf(asks: RequestKind, asked: Reading, answer: string, said: Reading): AnswerForm {
  const { content, added } = contentOf(said, asked);
  const kind = asks === 'choice' && added > 0 ? 'thing' : asks;
  const sentence = !isTerse(said) && SENTENCE_WORD.test(answer.slice(0, WINDOW_CHARS));
  const form = {
    kind,
    words: said.length,
    content,
    added,
    answered: !isNoAnswer(answer),
    kindFits: fitsKind(kind, answer, said),
    asksBack: isBrief(kind) && /[?？]["'”’)]?\s*$/.test(answer.slice(-20)),
    tooLong: isBrief(kind) && added > (sentence ? SENTENCE_WORDS : BRIEF_WORDS),
    addsNothing: isBrief(kind) && added === 0 && !isTerse(said),
  };
  const fits = form.kindFits && !form.asksBack && !form.tooLong && !form.addsNothing;
  return { score: form.answered ? (fits ? 1 : MISFIT) : 0, ...form };
}

function contentOf(said: Reading, asked: Reading): Pick<AnswerForm, 'content' | 'added'> {
  const words = new Map(said.words.filter(({ stems }) => stems.length > 0).map(({ folded, stems }) => [folded, stems]));
  let added = 0;
  for (const stems of words.values()) if (stems.some((stem) => !asked.stems.has(stem))) added += 1;
  return { content: words.size, added };
}

function fitsKind(kind: RequestKind, answer: string, { words }: Reading): boolean {
  const numeral = () => words.some((word) => word.numeral || /\d/.test(word.folded));
  if (kind === 'number') return numeral() || AMOUNT_WORD.test(answer.slice(0, WINDOW_CHARS));
  if (kind === 'date') return numeral() || TIME_WORD.test(answer.slice(0, WINDOW_CHARS));
  return kind !== 'person' || words.some(({ surface }) => /\p{L}/u.test(surface));
}
