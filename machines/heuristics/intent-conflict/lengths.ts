/** From small to large: one of a unit holds at least one of each smaller, and so many words at the least and the most. */
const UNITS = [
  { name: 'word', leastWords: 1, mostWords: 1 },
  { name: 'sentence', leastWords: 1, mostWords: 100 },
  { name: 'paragraph', leastWords: 1, mostWords: 500 },
  { name: 'page', leastWords: 100, mostWords: 1_000 },
] as const;

/** How long the answer is to be. An exact length bounds both ways; `unit` is an index of `UNITS`. */
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

/** Two bounds farther apart than this (UTF-16 units) need not be about the same thing. */
const NEAR_CHARS = 120;
/** What stands between bounds of two different things, or makes of two bounds an alternative. */
const APART =
  /[:;]|\b(?:then|next|after|before|followed|first|second|also|another|other|each|every|per|or|if|unless|otherwise|instead|rather|not|plus|title|heading|headline|summary|summari[sz]e|abstract|intro|introduction|body|conclusion|section|part|version|quote|caption|example|examples|explain|describe|give|list|discuss|define|and (?:an?|one|the|its?|their))\b/;
const NOT_THE_ANSWER_BEFORE =
  /\b(?:not|each|every|per|than|title|summary|abstract|introduction|conclusion|example|examples)\b[^.\n]{0,12}$/;
const OF_ITS_OWN = /^,? (?:of|about|on|for|per|each|explaining|describing|summari[sz]ing|if|unless|or)\b/;
const HOLDS = /^\W*(?:and |but )?(?:of|with|containing|having|that are|that have)\W*$/;

/** Bounds on the length of the answer that no answer can meet, in words. */
export function contradictoryLengths(text: string): readonly string[] {
  const bounds = boundsIn(text);
  return bounds.flatMap((later, index) => {
    const earlier = bounds[index - 1];
    return earlier !== undefined && exclude(earlier, later) && areOne(text, earlier, later)
      ? [`"${earlier.text}" and "${later.text}" cannot both be`]
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

/** Whether the least of one is more than the most of the other. */
function isMoreThan(long: Bound, short: Bound): boolean {
  if (long.unit >= short.unit && long.least > short.most) return true;
  return long.least * (UNITS[long.unit]?.leastWords ?? 0) > short.most * (UNITS[short.unit]?.mostWords ?? 0);
}

function areOne(text: string, earlier: Bound, later: Bound): boolean {
  const between = text.slice(earlier.end, later.start);
  if (between.length > NEAR_CHARS || APART.test(between)) return false;
  if (earlier.unit > later.unit && HOLDS.test(between)) return false;
  const before = text.slice(Math.max(0, earlier.start - NEAR_CHARS), earlier.start);
  return !NOT_THE_ANSWER_BEFORE.test(before) && !OF_ITS_OWN.test(text.slice(later.end, later.end + NEAR_CHARS));
}
