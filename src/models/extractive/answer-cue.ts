import { stemsOf } from '../../../machines/text/terms.ts';

/** Whether a text holds the kind of thing that a question asks for. */
export type AnswerCue = (text: string) => boolean;

const NUMBER_WORD =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred|thousand|million|half|twice|once)\b/i;
const TIME =
  /\b(?:1\d|20)\d\d\b|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|\b\d+(?:st|nd|rd|th) century\b|\b\d{1,2}:\d\d\b/;
const REASON = /\b(?:because|since|so that|due to|in order to|therefore|as a result|to avoid|otherwise)\b/i;
const ORDER =
  /^\s*\d+[.)]\s[\s\S]*^\s*\d+[.)]\s|\bfirst\b[\s\S]*\b(?:then|second|next|last)\b|→|\bin (?:this |that )?order\b/im;
const NAME = /(?<![.!?]\s)(?<!^)\p{Lu}[\p{L}'’-]+/gu;

/** What a request's question word asks for, or null if it asks for nothing that shows in the form of the words. */
export function answerCue(request: string): AnswerCue | null {
  if (/\b(?:how (?:many|much|long|often|far|old|large|big|tall)|what (?:number|percentage|share))\b/i.test(request)) {
    return (text) => NUMBER_WORD.test(text);
  }
  if (/\b(?:when|(?:what|which) (?:year|date|day|month|century|decade))\b/i.test(request))
    return (text) => TIME.test(text);
  if (/\bwhy\b|\bfor what reason\b/i.test(request)) return (text) => REASON.test(text);
  if (/\b(?:order|sequence|steps)\b/i.test(request)) return (text) => ORDER.test(text);
  if (/\b(?:who|whom|whose|where)\b/i.test(request)) return namesBeyond(request);
  return null;
}

/** A name that the question does not already have. */
function namesBeyond(request: string): AnswerCue {
  const asked = new Set(stemsOf(request));
  return (text) => (text.match(NAME) ?? []).some((name) => stemsOf(name).some((stem) => !asked.has(stem)));
}
