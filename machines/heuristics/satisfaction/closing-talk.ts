import { isOnly, startsWith } from './clauses.ts';

/**
 * The formulas by which English speakers close a conversation, a clause each: pre-closings, thanks, leave-taking
 * (E. Schegloff and H. Sacks 1973, "Opening up closings"), and what goes with them. No group that is repeated holds
 * another repetition.
 */

const IS = "(?:'s|'ll| is| was| will| would|'d| should)?(?: will)?(?: be)?(?: just| about| really| quite)?";
const WE = "(?:i|we)(?:'m|'re|'ve|'ll|m| am| are| have| will| can| should be)?";
const WANTED = "(?: that)? (?:i|we)(?:'ve| have| had)? (?:need|needed|want|wanted)(?: help)?(?: with| for)?";
const NEED_NO = "(?:i|we) (?:don'?t|do not|won'?t|will not) (?:need|want|require)";
const VERY = '(?:(?:a|an|of|so|very|really|quite|just|all|such|super|extremely|most|real|great|big|huge) )*';
const HAS_BEEN = "(?:'s|'re|'ve| is| was| are| were| have| has)?(?: been)?";

/** Nothing more is wanted: "that's all", "all set", "I don't need anything else". */
export const CLOSES: readonly RegExp[] = [
  isOnly(
    `(?:that|this|it)${IS} (?:all|everything|enough|sufficient)(?: good| fine)?(?: (?:the|your) help)?(?:${WANTED})?`,
  ),
  isOnly(`(?:${WE} (?:got )?)?(?:all|everything|what)${WANTED}`),
  isOnly("that(?:'ll| will| should| would)? (?:do|does|cover|covers|settles|wraps) (?:it|everything|it up)"),
  isOnly(
    `(?:${WE}(?: all| now| quite)?|all) (?:set|done(?: with (?:it|this|that|everything))?|finished|covered|sorted)`,
  ),
  isOnly(`${WE} (?:stop|leave it|end it)(?: at)? (?:here|there|that)`),
  startsWith('nothing (?:else|more|further)(?! than)'),
  startsWith(`(?:${WE} )?no (?:more|further|other) (?:questions?|requests?|wishes|needs?|help|assistance)`),
  startsWith(`${NEED_NO} (?:anything|any) (?:more|other|further|else|help|assistance)`),
  isOnly(`${NEED_NO} anything`),
  startsWith(
    "(?:i|we) (?:don'?t|do not) have (?:anything|any) (?:else|(?:more|other|further) (?:needs?|questions?|requests?|wishes))",
  ),
  startsWith('(?:i|we) (?:need|want|require) nothing (?:more|else|further)(?! than)'),
];

/** What was given is what was wanted: looks back, so that the present tense does not do. */
export const FULFILS: readonly RegExp[] = [
  isOnly(
    `(?:that|this|it)${IS} (?:exactly |precisely )?what (?:i|we) (?:needed|wanted|asked for|(?:was|were) looking for)`,
  ),
  isOnly(
    '(?:that|this|it|you) (?:answers|answered|solves|solved) (?:all )?(?:of )?(?:it|everything|my (?:questions?|problems?))',
  ),
];

/** Closes, unless it answers a question: "that's it", "that will do", "I'm good". */
export const MAY_CLOSE: readonly RegExp[] = [
  isOnly(`(?:that|this)${IS} it`),
  isOnly("that(?:'ll| will| should| would) do(?: nicely| fine)?"),
  isOnly(`${WE}(?: all| now| quite)? (?:good|fine|ok|okay)`),
];

export const TAKES_LEAVE: readonly RegExp[] = [
  isOnly(
    'good ?bye|bye(?: bye)?|see (?:you|ya)(?: later| soon)?|farewell|take care|good night|talk to you (?:later|soon)|(?:the )?same to you|you (?:too|as well)',
  ),
  isOnly(
    "i(?:'ll| will) (?:be going|let you go|take it from here)|i(?:'ve| have)? (?:to|must|got to|gotta) (?:go|run|leave)|i'm off",
  ),
  isOnly(
    'have an? (?:(?:very|really) )?(?:good|nice|great|lovely|wonderful|pleasant|excellent|fantastic|awesome|amazing) (?:day|one|time|evening|night|morning|afternoon|weekend|week|trip|life|rest)(?: (?:of|ahead|there)(?: (?:the|your|you|today|tomorrow|day|week|weekend|evening))*)?',
  ),
];

export const THANKS: readonly RegExp[] = [
  isOnly(
    "(?:(?:much )?thanks?|thanx|thx|ty|cheers|thank ?(?:you|u)|(?:(?:i|we) )?(?:(?:really|do|so|very|much) )*appreciated?|(?:i am|i'm) (?:(?:so|very) )?grateful)(?: (?:it|that|this|you|so|much|very|a|lot|bunch|again|once|kindly|all))*(?: (?:for|the|your) [\\p{L}' ]{1,80})?",
  ),
];

export const PRAISES: readonly RegExp[] = [
  isOnly(`(?:you|that|this|it)${HAS_BEEN} ${VERY}(?:help|helpful|helped)(?: me)?(?: (?:a|quite a) lot)?`),
];

/** Talk that goes with a closing and brings nothing new: a bare no or yes, an approval, why the user had called. */
export const ACCOMPANIES: readonly RegExp[] = [
  isOnly('(?:i )?(?:understand|understood|see|got it|have it)|(?:that |it )?makes sense|noted'),
  isOnly(
    "no|nope|nah|none|no need|i (?:don't|do not) think so|will do|nothin[g']?|not (?:now|right now|yet|today|really|at all|for now|at (?:the|this) (?:moment|time|point))|maybe (?:later|another time)",
  ),
  isOnly('yes|yeah|yep|yup|sure|of course|exactly|absolutely|definitely|indeed|certainly|correct|right'),
  isOnly('(?:that|this|it|these|they) (?:does|did|is|was|works?|worked|helps|will work)'),
  isOnly(
    `(?:(?:that|this|it|you)${HAS_BEEN} |(?:that )?(?:sounds|looks) )?${VERY}(?:ok|okay|alright|all right|good|great|fine|nice|perfect|lovely|cool|awesome|wonderful|excellent|fantastic|amazing|brilliant|sweet|kind|easy|quick|clear|useful|interesting|thorough)`,
  ),
  isOnly(
    "(?:i|we) (?:was |were )?(?:just|only)(?: was| were)? (?:needed|wanted|looking|checking|getting|asking)[\\p{L}' ]{0,60}",
  ),
];
