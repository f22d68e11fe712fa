/**
 * The kind of thing that a request asks for, after the answer types of X. Li and D. Roth (2002): one thing of a kind, a choice, a yes or
 * no, something open that may take any length (an explanation, a definition, a list), or a text to write.
 */
export type RequestKind = 'yes-no' | 'choice' | 'number' | 'date' | 'person' | 'place' | 'thing' | 'open' | 'writing';

/** Only so much of a request is read, from its end, where the question stands. */
const WINDOW_CHARS = 2_000;
/** Where a wish to have something written stands: at the very beginning. */
const WISH_CHARS = 100;
const AUXILIARY =
  /^(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must|isn't|aren't|wasn't|weren't|don't|doesn't|didn't)\b/;
const ASKS = /\b(?:what|which|who|whom|whose|when|where|why|how)\b/;
const BEGINS =
  /^(?:(?:in|at|on|by|for|from|to|of|with|under|since|until|and|so) )?(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had)\b/;
const POLITE = /^(?:can|could|will|would) you\b|^do you (?:know|have)\b|^please\b/;
const WRITING =
  /^(?:please |(?:can|could|will|would) you (?:please )?|help me (?:to )?|i (?:want|need|would like) you to )?(?:write|compose|draft|create|generate|invent|imagine|design|translate|rewrite|rephrase|paraphrase|brainstorm|suggest|come up with|make)\b/;
const OPEN_WISH =
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

/** Whether a request of this kind wants one thing, and so a short answer. */
export const isBrief = (kind: RequestKind): boolean => BRIEF.has(kind);

/** What kind of thing a request asks for, from its last 2,000 characters. */
export function requestKind(request: string): RequestKind {
  if (WRITING.test(request.trimStart().slice(0, WISH_CHARS).toLowerCase())) return 'writing';
  const question = questionIn(request);
  if (question === null) return 'open';
  if (WRITING.test(question)) return 'writing';
  if (POLITE.test(question) || OPEN_WISH.test(question) || SEVERAL.test(question)) return 'open';
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
 * The one question that a request asks, in lower case; null where it asks none, or several. Without a question mark it is one
 * only where it begins like one: "my brother, who is ill" asks nothing.
 */
function questionIn(request: string): string | null {
  const text = request.slice(-WINDOW_CHARS).toLowerCase().replace(/\s+/g, ' ').trim();
  const asked = text.split(/[?？](?=["'”’)\s]|$)/).slice(0, -1);
  if (asked.length > 1) return null;
  const before = asked[0] ?? text;
  const last = (before.split(/[.!:。](?=\s)/).at(-1) ?? before).trim();
  if (asked.length === 0 && !BEGINS.test(last) && !WRITING.test(last)) return null;
  return ASKS.test(last) || AUXILIARY.test(last) ? last : before;
}
