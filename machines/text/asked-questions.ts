import { sentencesOf } from './sentences.ts';

const MAX_CHARS = 4_000;
const MAX_QUESTIONS = 5;

const WORD = String.raw`(?:\p{L}{2,4}\s+)?(?:what|which|who|whose|how|why|when|where|wer|was|wie|warum|wann|wo|welche[rsmn]?)\b`;
const VERB = '(?:is|are|was|were|does|do|did|can|could|may|must|should|will|has|have|ist|sind|hat|gibt|kann|darf|muss)';
const SUBJECT = '(?:it|they|there|i|we|you|the|an?|my|your|any|es|sie|er|ich|man|wir|der|die|das|eine?)';
/** What separates two questions in one sentence. */
const NEXT = new RegExp(
  String.raw`(?:,?\s+(?:and|or|as well as|und|oder|sowie)(?:\s+(?:also|then|auch))?|;)\s+(?=${WORD}|${VERB} ${SUBJECT}\b)`,
  'iu',
);
const NEXT_CHINESE = /[，；]/u;
const ASKS_IN_CHINESE = /[几谁何吗怎]|多少|什么|哪/u;
/** Whether a question is about something in another one. */
const REFERS =
  /\b(?:it|its|they|them|their|he|she|this|that|these|those|sie|er|ihn|ihr|sein|seine|dies\p{L}*)\b|[它他她]/iu;

/** Returns the questions in one sentence: "When does it open, and what does a card cost?" has two. */
export function splitQuestion(sentence: string): readonly string[] {
  const chinese = sentence.split(NEXT_CHINESE);
  const parts = chinese.every((part) => ASKS_IN_CHINESE.test(part)) ? chinese : sentence.split(NEXT);
  return parts.slice(0, MAX_QUESTIONS).map((part) => part.trim());
}

export const askingSentences = (request: string): readonly string[] =>
  sentencesOf(request.slice(0, MAX_CHARS)).flatMap(({ text }) => (/[?？]/u.test(text) ? [text] : []));

/** Returns what to search for: the query, and each question in it that can be searched for alone, if there are several. */
export function queriesIn(query: string): readonly string[] {
  const questions = askingSentences(query).flatMap(splitQuestion);
  if (questions.length < 2) return [query];
  return [query, ...questions.slice(0, MAX_QUESTIONS).filter((question) => !REFERS.test(question))];
}
