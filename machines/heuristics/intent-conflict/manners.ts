/** Ways of answering that exclude each other. */

const ANSWER =
  'answer|reply|response|explanation|summary|overview|description|report|essay|text|article|account|review|letter|message|email|paragraph|story|guide|introduction|tone|style|language|manner';
const OPPOSITES: readonly (readonly [string, string])[] = [
  ['short|brief|concise|terse|one-sentence|one-line', 'long|lengthy|detailed|exhaustive|in-depth'],
  ['formal', 'informal|casual|colloquial'],
];
const ONE = '\\b(?:an?|your|the|one|its)(?: (?:very|really|single))?';
/** "a short, detailed answer": two opposite words for one thing. "Short but detailed" knows what it asks for. */
const PAIRS = OPPOSITES.map(
  ([one, other]) =>
    new RegExp(
      `${ONE} (?:(?<one>${one})(?:,? and |, | )(?:very )?(?<other>${other})|(?<late>${other})(?:,? and |, | )(?:very )?(?<early>${one}))(?:,? [\\p{L}-]{1,20})? (?:${ANSWER})\\b`,
      'gu',
    ),
);

const TELL = 'answer|reply|respond|explain|describe|discuss|tell|summari[sz]e|outline|write';
/** "briefly explain … in detail", within one clause. */
const BRIEF_DETAIL = new RegExp(
  `\\b(?:briefly (?:${TELL})|(?:${TELL})(?: me| it)? briefly)\\b(?:(?!\\b(?:and|or|but|then|not|without|what|who|that|which)\\b)[^.,;:!?\\n]){0,100}? in (?:(?:great|full|much|more|every) )?detail(?=\\s*(?:[.,;!?]|please|$))`,
  'gm',
);

const LANGUAGES =
  'english|french|german|spanish|italian|portuguese|dutch|russian|chinese|japanese|korean|arabic|hindi|turkish|polish|swedish|greek|latin';
const IN_LANGUAGE = new RegExp(
  `\\b(?:answer|reply|respond|write)(?: (?:me|it|this|to me|the (?:whole )?(?:answer|reply|response)|your (?:answer|reply|response)))?(?: (?:only|entirely|exclusively|always))? in (?<only>only )?(?<language>${LANGUAGES})\\b(?<last> only)?`,
  'g',
);
const NEAR_CHARS = 200;
const APART =
  /\b(?:or|if|when|whenever|where|unless|otherwise|then|first|second|next|after|also|another|each|instead|rather|not|part|section|version|title|translat\p{L}{1,6})\b|:/u;

/** Opposed measures on the manner of the answer, in words. */
export function contradictoryManners(text: string): readonly string[] {
  return [
    ...opposedWords(text),
    ...Array.from(text.matchAll(BRIEF_DETAIL), () => '"briefly" and "in detail"'),
    ...opposedLanguages(text),
  ];
}

function opposedWords(text: string): readonly string[] {
  return PAIRS.flatMap((pair) =>
    Array.from(text.matchAll(pair), ({ groups = {} }) =>
      groups['one'] === undefined
        ? `"${groups['late']}" and "${groups['early']}"`
        : `"${groups['one']}" and "${groups['other']}"`,
    ),
  );
}

function opposedLanguages(text: string): readonly string[] {
  const found = [...text.matchAll(IN_LANGUAGE)];
  return found.flatMap((later, index) => {
    const earlier = found[index - 1];
    if (earlier === undefined || earlier.groups?.['language'] === later.groups?.['language']) return [];
    const between = text.slice(earlier.index, later.index + later[0].length);
    const only = /\b(?:only|entirely|exclusively|always)\b/.test(between);
    if (!only || between.length > NEAR_CHARS || APART.test(between)) return [];
    return [`"${earlier[0]}" and "${later[0]}"`];
  });
}
