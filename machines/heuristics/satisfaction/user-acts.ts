import { clausesOf } from './clauses.ts';
import { ACCOMPANIES, CLOSES, FULFILS, MAY_CLOSE, PRAISES, TAKES_LEAVE, THANKS } from './closing-talk.ts';
import { ASKS, COMPLAINS, WISHES } from './new-matter.ts';

/** What a user's turn does. More than one may hold: "Great, thanks. Is it far?" thanks and asks. */
export interface UserActs {
  readonly closes: boolean;
  readonly fulfils: boolean;
  readonly mayClose: boolean;
  readonly takesLeave: boolean;
  readonly declines: boolean;
  readonly affirms: boolean;
  readonly thanks: boolean;
  readonly praises: boolean;
  /** Every clause is closing talk: nothing else is brought up. */
  readonly onlyClosingTalk: boolean;
  readonly asks: boolean;
  readonly wishes: boolean;
  readonly complains: boolean;
}

const CLOSING_TALK = [CLOSES, FULFILS, MAY_CLOSE, TAKES_LEAVE, THANKS, PRAISES, ACCOMPANIES].flat();
const POLITE = '^(?:(?:oh|well|um|ok|okay|thanks|thank you) )*';
const DECLINES = [
  new RegExp(`${POLITE}(?:no|nope|nah|not|none|nothin[g']?|i (?:don't|do not) think so)(?![\\p{L}'])`, 'u'),
];
const AFFIRMS = [
  new RegExp(
    `${POLITE}(?:yes|yeah|yep|yup|ye|sure|correct|right|exactly|absolutely|definitely|of course|certainly|indeed)\\b`,
  ),
];
const SAYS_THANKS = [/\b(?:thanks?|thankyou|thanx|thx|ty|cheers|appreciated?|grateful)\b/];

/** What a turn does. The time grows with the text: give a bounded one. */
export function userActs(turn: string): UserActs {
  const clauses = clausesOf(turn);
  const is = (clause: string, patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(clause));
  const some = (patterns: readonly RegExp[]) => clauses.some((clause) => is(clause, patterns));
  const opens = (patterns: readonly RegExp[]) => is(clauses[0] ?? '', patterns);
  return {
    closes: some(CLOSES),
    fulfils: some(FULFILS),
    mayClose: some(MAY_CLOSE),
    takesLeave: some(TAKES_LEAVE),
    declines: opens(DECLINES),
    affirms: opens(AFFIRMS),
    thanks: some(SAYS_THANKS),
    praises: some(PRAISES),
    onlyClosingTalk: clauses.every((clause) => is(clause, CLOSING_TALK)),
    asks: turn.includes('?') || some(ASKS),
    wishes: some(WISHES),
    complains: some(COMPLAINS),
  };
}
