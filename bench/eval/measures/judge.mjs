/**
 * How answers are judged: by their text alone, the same for every contender.
 *
 * @typedef {{ expected: string | null, also?: readonly string[] }} Expected The text of a right answer, and other wordings of it; null if
 * the documents do not answer the question.
 */

/** The sentence that contenders are asked to reply with if the documents do not answer. */
export const ABSTENTION = 'The documents do not say.';

/** Ways to say so in other words. Only the beginning of an answer counts: a later sentence may be about a detail. */
const ABSTAINS = new RegExp(
  [
    String.raw`\b(?:do|does|did|is|are|was|were)(?: not|n[’']t) (?:\w+ )?(?:say|state|mention|contain|specify|include|provide|give|list|indicate|answer|said|stated|mentioned|contained|specified|included|provided|given|listed|indicated|answered|documented)\b`,
    String.raw`\bno (?:passages?|documents?|information|mention|details?|answer|evidence)\b`,
    String.raw`\b(?:cannot|can[’']t|could not|couldn[’']t|unable to) (?:find|determine|answer|tell)\b`,
    String.raw`\bnothing (?:has been|was|is) (?:gathered|found|said|stated)\b`,
    String.raw`\b(?:nicht|nichts|kein(?:e[nr]?)?) (?:\S+ ){0,3}(?:angegeben|genannt|erwähnt|enthalten|gefunden|angaben?|informationen)\b`,
    `(?:没有|未)(?:被)?(?:提到|提及|提供|说明|找到|相关|包含|给出)`,
  ].join('|'),
  'iu',
);
const OPENING_CHARS = 200;

/**
 * Whether an answer contains the expected text, or another wording of it, as whole words. Case, punctuation, white space,
 * thousands separators and spelled-out numbers ("three" for "3") make no difference. If "yes" or "no" is expected, the answer must begin
 * with it.
 *
 * @param {Expected} question
 * @param {string} text
 */
export function hasExpected({ expected, also = [] }, text) {
  if (expected === null) return false;
  const given = plain(text);
  return [expected, ...also].some((wording) => {
    const wanted = plain(wording);
    const isWord = (/** @type {number} */ at) => isEdge(given, at) && isEdge(given, at + wanted.length);
    if (wanted === 'yes' || wanted === 'no') return given.startsWith(wanted) && isWord(0);
    for (let at = given.indexOf(wanted); at !== -1; at = given.indexOf(wanted, at + 1)) if (isWord(at)) return true;
    return false;
  });
}

/**
 * Whether an answer is right: it has the expected text or, if the documents do not answer the question, says so.
 *
 * @param {Expected} question
 * @param {string} text
 */
export function isRightText(question, text) {
  return question.expected === null ? ABSTAINS.test(text.slice(0, OPENING_CHARS)) : hasExpected(question, text);
}

/**
 * Returns the F1 of the words of an answer and of the expected text: of its best wording; 0 if none is expected. 1: the same words.
 *
 * @param {Expected} question
 * @param {string} text
 */
export function overlap({ expected, also = [] }, text) {
  if (expected === null) return 0;
  const given = plain(text).split(' ');
  return Math.max(
    ...[expected, ...also].map((wording) => {
      const wanted = plain(wording).split(' ');
      const left = [...given];
      const shared = wanted.filter((word) => left.includes(word) && left.splice(left.indexOf(word), 1)).length;
      return (2 * shared) / (given.length + wanted.length);
    }),
  );
}

const NUMBERS = new Map(
  [
    'one two three four five six seven eight nine ten eleven twelve',
    'eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
  ].flatMap((words) => words.split(' ').map((word, at) => /** @type {const} */ ([word, String(at + 1)]))),
);

/** @param {string} text */
function plain(text) {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<=\d),(?=\d{3}(?!\d))/gu, '')
    .replace(/\p{L}+/gu, (word) => NUMBERS.get(word) ?? word)
    .replace(/[^\p{L}\p{N}€$£%]+/gu, ' ')
    .replace(/ ?([\p{Script=Han}€$£%]) ?/gu, '$1')
    .trim();
}

/**
 * Whether a word may begin or end at this position: not between two digits or two letters. Chinese has no spaces between words.
 *
 * @param {string} text
 * @param {number} at
 */
function isEdge(text, at) {
  const [before = '', after = ''] = [text[at - 1], text[at]];
  const both = (/** @type {RegExp} */ kind) => kind.test(before) && kind.test(after);
  return !both(/\p{N}/u) && !both(/(?!\p{Script=Han})\p{L}/u);
}
