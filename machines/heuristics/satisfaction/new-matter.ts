import { startsWith } from './clauses.ts';

/** The ways in which a clause brings new matter: it asks, wishes, or finds fault. */

const DOES = 'is|are|was|were|do|does|did|can|could|would|will|shall|should|may|might|has|have';
const ALSO = '(?: (?:also|still|just|really|now|then|only|rather|even)){0,3}';
const VERBS = `find get book show tell give play search look reserve buy purchase make change add help check send write
  rewrite explain list try use set call order rent cancel continue describe compare summarize summarise translate update
  remove include provide recommend suggest schedule confirm fix run create open read turn keep say pick go start stop answer convert`;

export const ASKS: readonly RegExp[] = [
  startsWith(
    `(?:what|who|whom|whose|when|where|why|how)(?:'s| (?:${DOES}|much|many|long|far|often|about|time|kind|type|sort|else))`,
  ),
  startsWith(`(?:${DOES}) (?:i|you|we|they|he|she|it|there|that|this|these|those|the|my|your|their|its|any|some)`),
  /\b(?:can|could|would|will) you\b/,
];

export const WISHES: readonly RegExp[] = [
  /\bplease\b/,
  startsWith(`go ahead|let me|let's|let us|do (?:it|that|the|this)|${VERBS.split(/\s+/).join('|')}`),
  startsWith(
    `(?:i|we)${ALSO}(?: would| will|'d|'ll)?${ALSO} (?:want|need|wish|prefer)(?! nothing| no (?:more|further|other)| to (?:stop|end|leave|go|thank|say))`,
  ),
  startsWith(`(?:i|we)${ALSO}(?: would|'d)${ALSO} (?:like|love)(?! to (?:stop|end|leave|go|thank|say))`),
  startsWith(`(?:i|we)(?:'m| am|'re| are)${ALSO} (?:looking for|going to need|interested in|trying to)`),
  /\b(?:thanks|you|lot|much|now|also|then) (?:i|we) (?:also |still |now )?(?:want|need)\b/,
];

export const COMPLAINS: readonly RegExp[] = [
  /\bnot what (?:i|we)\b/,
  /\b(?:wrong|incorrect|useless|unhelpful|mistake|no help|for nothing)\b/,
  /(?:\bnot|n't) (?:right(?! now)|correct|true|helpful|enough|all|done|finished|set)\b/,
  /\b(?:didn't|did not|doesn't|does not|haven't|have not|hasn't|has not) (?:help|work|answer|solve)/,
];
