import { isTerse, type ParsedText, parseStart } from './parsed-text.ts';

/** How well an answer's form fits the request, 0..1, and the signals behind it. */
interface AnswerFit {
  readonly score: number;
  readonly signals: Readonly<Record<string, boolean | number | string>>;
}

/** Content words that a brief answer may add to the question: a name, a date, a number with its unit. */
const BRIEF_WORDS = 3;
/** Content words that a complete sentence may add. */
const SENTENCE_WORDS = 16;
/** The score of an answer of the wrong form: low, but above that of no answer. */
const MISFIT = 0.3;
/** Characters to search for words of a closed class. */
const CLASS_WORD_CHARS = 2_000;

/** An auxiliary or personal pronoun: sentences have one; names, lists and headings do not. */
const SENTENCE_WORD =
  /\b(?:is|are|was|were|be|been|has|have|had|does|did|will|would|can|could|should|i|he|she|it|we|they|you)\b/i;
const TIME_WORD =
  /\b(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|century|yesterday|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|now|soon|never|always|before|after|during|when|while|until|since)\b/i;
const AMOUNT_WORD =
  /\b(?:none|no|many|few|several|dozens?|hundreds?|thousands?|millions?|billions?|half|twice|once|all|every|both)\b/i;

/**
 * Returns how well the form of an answer fits the request: its kind (X. Li and D. Roth, 2002) and length. A question
 * for one thing expects a short answer or one sentence; an open question allows any length. An answer that reports no
 * result, asks back, or only repeats the request does not fit. Reads the first 20,000 characters.
 */
export function answerFit(request: string, answer: string): AnswerFit {
  const { score, ...signals } = formOf(requestKind(request), parseStart(request), answer, parseStart(answer));
  return { score, signals };
}

/** The form of an answer. */
interface AnswerForm {
  readonly score: number;
  /** A question that offers a choice asks for a thing if the answer is not one of the options. */
  readonly kind: RequestKind;
  readonly words: number;
  /** Distinct content words of the answer, and how many of them the request does not have (`added`). */
  readonly content: number;
  readonly added: number;
  readonly answered: boolean;
  readonly kindFits: boolean;
  readonly asksBack: boolean;
  readonly tooLong: boolean;
  readonly addsNothing: boolean;
}

/** Returns the form of an answer, from the kind of thing requested and the parsed request and answer. */
export function formOf(
  requested: RequestKind,
  parsedRequest: ParsedText,
  answer: string,
  parsedAnswer: ParsedText,
): AnswerForm {
  const { content, added } = contentOf(parsedAnswer, parsedRequest);
  const kind = requested === 'choice' && added > 0 ? 'thing' : requested;
  const sentence = !isTerse(parsedAnswer) && SENTENCE_WORD.test(answer.slice(0, CLASS_WORD_CHARS));
  const form = {
    kind,
    words: parsedAnswer.length,
    content,
    added,
    answered: !isNoAnswer(answer),
    kindFits: fitsKind(kind, answer, parsedAnswer),
    asksBack: isBrief(kind) && /[?？]["'”’)]?\s*$/.test(answer.slice(-20)),
    tooLong: isBrief(kind) && added > (sentence ? SENTENCE_WORDS : BRIEF_WORDS),
    addsNothing: isBrief(kind) && added === 0 && !isTerse(parsedAnswer),
  };
  const fits = form.kindFits && !form.asksBack && !form.tooLong && !form.addsNothing;
  return { score: form.answered ? (fits ? 1 : MISFIT) : 0, ...form };
}

function contentOf(parsedAnswer: ParsedText, parsedRequest: ParsedText): Pick<AnswerForm, 'content' | 'added'> {
  const words = new Map(
    parsedAnswer.words.filter(({ stems }) => stems.length > 0).map(({ folded, stems }) => [folded, stems]),
  );
  let added = 0;
  for (const stems of words.values()) if (stems.some((stem) => !parsedRequest.stems.has(stem))) added += 1;
  return { content: words.size, added };
}

function fitsKind(kind: RequestKind, answer: string, { words }: ParsedText): boolean {
  const numeral = () => words.some((word) => word.numeral || /\d/.test(word.folded));
  if (kind === 'number') return numeral() || AMOUNT_WORD.test(answer.slice(0, CLASS_WORD_CHARS));
  if (kind === 'date') return numeral() || TIME_WORD.test(answer.slice(0, CLASS_WORD_CHARS));
  return kind !== 'person' || words.some(({ surface }) => /\p{L}/u.test(surface));
}

/**
 * What a request asks for, after the answer types of X. Li and D. Roth (2002): one thing of a kind, a choice, yes or
 * no, something open (an explanation, a definition, a list), or a text to write.
 */
export type RequestKind = 'yes-no' | 'choice' | 'number' | 'date' | 'person' | 'place' | 'thing' | 'open' | 'writing';

/** Characters to read from the end of a request, where the question is. */
const QUESTION_CHARS = 2_000;
/** Characters to search for a request to write something, which opens with it. */
const WRITING_CHARS = 100;
const AUXILIARY =
  /^(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must|isn't|aren't|wasn't|weren't|don't|doesn't|didn't)\b/;
const ASKS = /\b(?:what|which|who|whom|whose|when|where|why|how)\b/;
const BEGINS =
  /^(?:(?:in|at|on|by|for|from|to|of|with|under|since|until|and|so) )?(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had)\b/;
const POLITE = /^(?:can|could|will|would) you\b|^do you (?:know|have)\b|^please\b/;
const WRITING =
  /^(?:please |(?:can|could|will|would) you (?:please )?|help me (?:to )?|i (?:want|need|would like) you to )?(?:write|compose|draft|create|generate|invent|imagine|design|translate|rewrite|rephrase|paraphrase|brainstorm|suggest|come up with|make)\b/;
const OPEN_INSTRUCTION =
  /\b(?:explain|describe|summari[sz]e|outline|compare|contrast|discuss|elaborate|list (?:all|the|some|every)|tell (?:me|us) (?:about|more|how|why)|in detail|step by step)\b/;
const OPEN_QUESTION =
  /^(?:why|how)\b|\bwhy\b|\bhow (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|to|come)\b|\bwhat (?:happen|cause|reason|differ)/;
const DEFINITION = /^what(?:'s| is| are| was| were) (?!the\b|your\b|my\b|this\b|that\b|[\w-]+['’]s\b)/;
const MEASURE = /\bhow (?:many|much|far|long|big|large|old|tall|high|deep|wide|heavy|fast|often)\b/;
const WHICH = /\b(?:what|which)\b/;
const NUMBER_NOUN =
  /\b(?:what|which)(?:'s| is| was| are| were)?(?: [\w-]+){0,3} (?:number|population|percentage|age|height|length|distance|amount|price|cost|size|score|total)\b/;
const DATE_NOUN =
  /\b(?:what|which)(?:'s| is| was)?(?: (?:the|exact|first|last|same))* (?:years?|dates?|months?|days?|decades?|century)\b/;
const PLACE_NOUN =
  /\b(?:what|which)(?: [\w.-]+)? (?:city|cities|country|countries|state|county|town|village|place|location|region|province|continent|borough|capital)\b/;
/** Two questions in one. */
const SEVERAL =
  /\b(?:what|which|who|whom|when|where|why|how)\b.{1,300}\band (?:(?:in|at|on|by|for|from|to|of|with) )?(?:what|which|who|whom|when|where|why|how)\b/;
const CHOICE = /\bor\b|\b(?:which|who|what) of\b|\bbetween .{1,200}\band\b/;

const BRIEF: ReadonlySet<RequestKind> = new Set(['number', 'date', 'person', 'place', 'thing']);

/** Whether a request of this kind asks for one thing, and so for a short answer. */
export const isBrief = (kind: RequestKind): boolean => BRIEF.has(kind);

/** Returns the kind of thing that a request asks for, from its last 2,000 characters. */
export function requestKind(request: string): RequestKind {
  if (WRITING.test(request.trimStart().slice(0, WRITING_CHARS).toLowerCase())) return 'writing';
  const question = questionIn(request);
  if (question === null) return 'open';
  if (WRITING.test(question)) return 'writing';
  if (POLITE.test(question) || OPEN_INSTRUCTION.test(question) || SEVERAL.test(question)) return 'open';
  if (AUXILIARY.test(question)) return /\bor\b/.test(question) ? 'choice' : 'yes-no';
  if (MEASURE.test(question)) return 'number';
  if (OPEN_QUESTION.test(question) || DEFINITION.test(question)) return 'open';
  if (CHOICE.test(question)) return 'choice';
  return kindOfThing(question);
}

function kindOfThing(question: string): RequestKind {
  if (/^(?:who|whom|whose)\b/.test(question)) return 'person';
  if (/^where\b/.test(question)) return 'place';
  if (/^when\b/.test(question)) return 'date';
  if (DATE_NOUN.test(question)) return 'date';
  if (NUMBER_NOUN.test(question)) return 'number';
  if (PLACE_NOUN.test(question)) return 'place';
  if (WHICH.test(question)) return 'thing';
  if (/\bwhere\b/.test(question)) return 'place';
  if (/\bwhen\b/.test(question)) return 'date';
  if (/\b(?:who|whom|whose)\b/.test(question)) return 'person';
  return 'open';
}

/**
 * Returns the only question of a request, in lower case; null for none or several. Without a question mark, the text
 * must start like a question: "my brother, who is ill" does not.
 */
function questionIn(request: string): string | null {
  const text = request.slice(-QUESTION_CHARS).toLowerCase().replace(/\s+/g, ' ').trim();
  const asked = text.split(/[?？](?=["'”’)\s]|$)/).slice(0, -1);
  if (asked.length > 1) return null;
  const before = asked[0] ?? text;
  const last = (before.split(/[.!:。](?=\s)/).at(-1) ?? before).trim();
  if (asked.length === 0 && !BEGINS.test(last) && !WRITING.test(last)) return null;
  return ASKS.test(last) || AUXILIARY.test(last) ? last : before;
}

/** Characters to read from the start of an answer: later sentences may hedge a detail. */
const OPENING_CHARS = 400;
const WHOLE =
  /^(?:the answer is )?(?:unknown|unclear|undetermined|undefined|null|n\/?a|none|nothing|failed|failure|error|not (?:found|known|available|applicable|specified|sure|given|stated|mentioned)|no (?:answer|information|results?|data|idea)|nothing was found|no idea)(?: found| available)?$/;
const UNABLE =
  /\b(?:i|we) (?:(?:could not|couldn't|can not|cannot|can't|did not|didn't|do not|don't|haven't|have not) (?:yet )?(?:find|found|locate|determine|know|answer|tell|say|have|identify|verify|establish|solve)|(?:am|was|are|were) (?:unable|not able|not sure)|failed to|have no (?:answer|idea|information|data|results?))\b/;
const STILL_TO_DO =
  /\b(?:i (?:still )?(?:need|have|would need|will need) to (?:try|search|look|find|check|gather|verify|investigate|know|research|ask)|(?:i|we) (?:still |would |will )?need (?:more|further|additional) (?:information|details|data|context))\b/;
const UNKNOWABLE =
  /\b(?:can not|cannot|can't|could not|couldn't) be (?:found|determined|answered|established|verified|identified)\b|\b(?:is|are|was|were) not (?:known|specified|mentioned|stated)\b|\b(?:not enough|insufficient|no|no relevant|no further) (?:information|data|evidence|results)\b/;

/**
 * Whether an answer reports that there is none: nothing found, unable, still to be searched. True for an empty answer.
 */
export function isNoAnswer(answer: string): boolean {
  const opening = answer
    .trimStart()
    .slice(0, OPENING_CHARS)
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(opening)) return true;
  const first = opening.split(/(?<=[.!?])\s/)[0] ?? opening;
  return (
    WHOLE.test(first.replace(/[.!"']/g, '').trim()) ||
    [UNABLE, STILL_TO_DO, UNKNOWABLE].some((pattern) => pattern.test(first))
  );
}
