import type { DialogueTurn } from '../contracts/grading.ts';
import { isUnspaced } from '../text/words.ts';
import { type Features, read } from './reading.ts';

/** What indicates whether the user's last words close a dialogue; each 0 or 1. */
export type ClosingFeature = 'closes' | 'declines' | 'thanks' | 'asks' | 'numbers' | 'long';

/**
 * Formulas, because no neutral signal tells "that's all" from "sounds good": without them, length, digits and question
 * marks reach 85 % on the dialogues of `bench/eval`, with them 94 %.
 */
const CLOSES = phrases(`
  that['’]?s (?:all|it|everything|enough) | that (?:is|was|will be|would be|should be) (?:all|it|everything|enough) |
  that['’]?ll be (?:all|it|everything) | (?:nothing|anything) (?:else|more|further) | no more | all set |
  (?:i['’]?m|i am|we['’]?re|we are) (?:good|done|fine|finished) | (?:good)?bye | (?:good|great|nice|wonderful|lovely) (?:day|one|evening|night|weekend) |
  das (?:ist|war|wäre) (?:dann )?alles | das war['’]?s | nichts (?:mehr|weiter) | tschüss | auf wiedersehen |
  c['’]est tout | rien d['’]autre | au revoir | eso es todo | nada más | adiós | è tutto | nient['’]altro | arrivederci | é tudo | nada mais | tchau`);
const CLOSES_UNSPACED = /没有了|没别的|就这些|就这样|再见|以上です|さようなら/u;
const NO = /^\W*(?:no|nope|nah|not|none|nothing|nein|nee|nicht|non|não|nie|нет)(?![\p{L}])|^(?:不|没|いいえ)/iu;
const THANKS = phrases(
  'thanks? | thank you | thx | appreciated? | danke | dank | merci | gracias | grazie | obrigad[oa] | bedankt | спасибо',
);
const THANKS_UNSPACED = /谢谢|謝謝|ありがとう/u;
const GREETS = phrases(`
  hello | hey | hi | good (?:morning|afternoon) | hallo | guten (?:tag|morgen|abend) | bonjour | bonsoir | salut |
  hola | buen[oa]s (?:días|tardes|noches) | ciao | buongiorno | buonasera | olá | bom dia | boa tarde | привет`);
/** Words of more than three letters that accompany greetings and thanks. */
const EMPHASIS = phrases(
  'there | very much | so much | again | many | everyone | vielen | vielmals | sehr | schön | beaucoup | muchas | mille | muit[oa]',
);
const UNSPACED = new RegExp(
  `${THANKS_UNSPACED.source}|${CLOSES_UNSPACED.source}|你好|您好|非常|こんにちは|ございます`,
  'gu',
);

function phrases(list: string): RegExp {
  const either = list
    .trim()
    .split(/\s*\|\s(?=\s*\S)\s*/u)
    .join('|');
  return new RegExp(`(?<![\\p{L}\\p{N}'’])(?:${either})(?![\\p{L}\\p{N}])`, 'iu');
}

/** Whether a text only greets, thanks or says goodbye, in one of several languages: its other words have at most three letters. */
export function isGreetingOrThanks(text: string): boolean {
  if (text.length > TURN_CHARS || /[?？\p{N}]/u.test(text)) return false;
  const without = (from: string, patterns: readonly RegExp[]) =>
    patterns.reduce((left, pattern) => left.replace(new RegExp(pattern, 'giu'), ' '), from);
  const rest = without(text, [CLOSES, THANKS, GREETS, UNSPACED]);
  const words = without(rest, [EMPHASIS]).match(/\p{L}+/gu) ?? [];
  return rest !== text && words.every((word) => word.length <= 3 && !isUnspaced(word));
}

/** A closing is at the start of a turn, and an offer at its end. */
const TURN_CHARS = 400;
/** A turn with more words brings up something new. */
const LONG_WORDS = 12;

/**
 * Returns the features of the user's last turn; null if the assistant has not answered before it. A closing takes two
 * turns (E. Schegloff and H. Sacks, 1973): `declines` and `thanks` depend on whether the assistant asked something.
 */
export function closingFeatures(turns: readonly DialogueTurn[]): Features<ClosingFeature> | null {
  const at = turns.findLastIndex(({ role }) => role === 'user');
  const before = turns.slice(0, Math.max(0, at)).findLast(({ role }) => role === 'assistant');
  const last = turns[at];
  if (last === undefined || before === undefined) return null;
  const text = last.content.slice(0, TURN_CHARS);
  const isAsked = /[?？]["”’)\s]*$/.test(before.content.slice(-TURN_CHARS));
  const flag = (holds: boolean) => (holds ? 1 : 0);
  return {
    closes: flag(CLOSES.test(text) || CLOSES_UNSPACED.test(text)),
    declines: flag(isAsked && NO.test(text)),
    thanks: flag(!isAsked && (THANKS.test(text) || THANKS_UNSPACED.test(text))),
    asks: flag(/[?？]/.test(text)),
    numbers: flag(/\p{N}/u.test(text)),
    long: flag(last.content.length > TURN_CHARS || read(text).length > LONG_WORDS),
  };
}
