import { definitionOf } from '../../documents/definitions.ts';

/** How a text fits a question: `defines` if it defines the term that is asked for, `open` if the question asks for no known kind of information, `doubtful` if the kind cannot be recognized reliably. */
export type Fit = 'defines' | 'fits' | 'open' | 'doubtful' | 'unfit';

const NUMBER =
  /\p{N}+(?:[.,:]\p{N}+)*|[一二三四五六七八九十百千万两半]+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|once|twice|every|each|(?:hour|dai|week|month|year)ly|eine?[nrms]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|jede[nrms]?|(?:stünd|täg|wöchent|monat|jähr)lich)\b/giu;
const MONEY =
  /\p{Sc}|[元圆]|\b[A-Z]{3}\b|\b(?:[Ee]uros?|[Dd]ollars?|[Pp]ounds?|Franken|[Cc]rowns?|[Ff]ree|kostenlos)\b|免费/u;
const CALENDAR = /\b\p{L}+(?:day|tag|woch)s?\b|\b(?:noon|midnight)\b|[月日]/iu;
const NAME = /(?<=[^\s.!?:]\s+["“(`]*)\p{Lu}[\p{L}'’-]+|[\p{sc=Han}]{2,}/gu;
const PLACE = /\b(?:in|into|at|on|under|near|behind|im|am|auf|bei|unter|hinter|neben)\b|[/\\]|[在旁处]/iu;
const REASON =
  /\b(?:because|since|so that|due to|in order to|therefore|to avoid|otherwise|weil|da|damit|denn|wegen|sonst)\b|[:：因]|为了|以免|由于/iu;

/** A question word opens a question: "What happens when …" does not ask for a time. */
const OPENS = String.raw`(?<=(?:^|[,;.!?]\s*|\b(?:and|und)\s+)(?:\p{L}+\s+)?)(?<!\p{L})`;
const asking = (words: string, others: string): RegExp => new RegExp(`${OPENS}(?:${words})(?!\\p{L})|${others}`, 'giu');
const PRICE = asking('(?:how much|was|wie viel)(?=.* [ck]ost)', '(?<=much.* )costs?|(?<=was |viel )kostet|多少钱');
const TIME = asking('when|(?:what|which) (?:time|year|date|day)|wann', '几点|几[月号]|什么时候|何时|哪一?[年天]');
const AMOUNT = asking(
  'how (?:many|much|long|often|(?=old|far|fast|high|tall|large|big|heavy|wide|deep))|wie (?:viele?|lange|oft|(?=hoch|weit|groß|alt|schnell|schwer))|(?:which|what|welche) versions?(?: of)?',
  '多少|多久|多长时间|多(?=[长高远大重快])|几(?=[个天站次人])|(?:哪个|什么)版本',
);

/** Whether a text has a kind of information; `added` is whether a pattern matches something that is not in the question. */
type IsGiven = (text: string, added: (pattern: RegExp) => boolean) => boolean;

/** What asks for information of a kind, and whether an answer without it must be wrong: a reason, for example, may have any form. */
const KINDS: readonly [asked: RegExp, isGiven: IsGiven, strict: boolean][] = [
  [PRICE, (text, added) => MONEY.test(text) && added(NUMBER), true],
  [TIME, (text, added) => CALENDAR.test(text) || added(NUMBER), true],
  [AMOUNT, (_, added) => added(NUMBER), true],
  [asking('whom?|whose|we[rnm]', '谁'), (_, added) => added(NAME), false],
  [asking('where|wo|wohin|woher', '哪里|哪儿|在哪'), (text) => PLACE.test(text), false],
  [asking('why|warum|wieso|weshalb', '为什么'), (text) => REASON.test(text), false],
];

/** Returns what a question is about, without the words that ask for a kind of information, and how texts fit that kind. */
export function kindOf(question: string): { readonly topic: string; readonly fitOf: (text: string) => Fit } {
  const kind = KINDS.find(([asked]) => question.search(asked) !== -1);
  const { sentence, entry } = definitionOf(question) ?? {};
  const definitionIn = (text: string): Fit => (sentence?.test(text) ? 'defines' : entry?.test(text) ? 'fits' : 'open');
  if (kind === undefined) return { topic: question, fitOf: definitionIn };
  const [asked, isGiven, strict] = kind;
  const isNew = (found: string): boolean => !question.toLowerCase().includes(found.toLowerCase());
  const fitOf = (text: string): Fit => {
    const given = isGiven(text, (pattern) => (text.match(pattern) ?? []).some(isNew));
    return given ? 'fits' : strict ? 'unfit' : 'doubtful';
  };
  return { topic: question.replace(asked, ' '), fitOf };
}
