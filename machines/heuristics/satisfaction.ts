/** One turn of a dialogue. */
export interface DialogueTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Satisfaction {
  /** A ranking from 0 to 1, not a probability. The user counts as satisfied at `SATISFIED` or above. */
  readonly score: number;
  /** The signals in the user's last turn and in the assistant's turn before it. */
  readonly signals: Readonly<Record<string, boolean | number>>;
}

/** At this score or above, the user got what they wanted and asks for nothing more. */
export const SATISFIED = 0.5;

/** How strongly each way to end a turn indicates satisfaction. Below `SATISFIED`, the dialogue may continue. */
const SATISFACTION = {
  /** States that nothing more is needed, or says goodbye. */
  closes: 0.95,
  /** Declines an offer of more help, or answers it only with thanks. */
  declinesMore: 0.9,
  /** Answers yes when asked whether everything is done. */
  confirmsDone: 0.85,
  /** States that the request was fulfilled. */
  fulfils: 0.8,
  /** Declines an offer to do something, with thanks and nothing else. */
  declinesWithThanks: 0.6,
  /** Only thanks or praises, with no open question: the weakest sign, since thanks also occur mid-dialogue. */
  thanks: 0.55,
  none: 0.1,
  /** Asks, requests, complains, or adds a long text. */
  newMatter: 0,
} as const;

/** A longer turn (UTF-16 units) is not a closing: it brings up something new. */
const CLOSING_CHARS = 400;
/** An offer of more help is at the end of a turn. */
const OFFER_CHARS = 400;

/**
 * Returns how clearly the user's last words close the dialogue: they got what they wanted and ask for nothing more. A
 * closing takes two turns (E. Schegloff and H. Sacks 1973, "Opening up closings"), so the assistant's turn before is
 * read as well. Only the user's words indicate satisfaction, and only if the assistant has answered. For English text.
 * Reads a bounded part of these two turns.
 */
export function userSatisfaction(turns: readonly DialogueTurn[]): Satisfaction {
  const at = lastOf('user', turns, turns.length);
  const last = turns[at];
  const before = turns[lastOf('assistant', turns, at)];
  if (last === undefined || before === undefined) return { score: SATISFACTION.none, signals: { answered: false } };
  const userChars = last.content.length;
  if (userChars > CLOSING_CHARS) return { score: SATISFACTION.newMatter, signals: { answered: true, userChars } };
  const user = userActs(last.content);
  const assistant = assistantActs(before.content.slice(-OFFER_CHARS));
  return {
    score: SATISFACTION[endingOf(user, assistant)],
    signals: { answered: true, userChars, ...user, ...assistant },
  };
}

/** Returns the index of a role's last turn before `end`, or -1. */
function lastOf(role: DialogueTurn['role'], turns: readonly DialogueTurn[], end: number): number {
  let at = end - 1;
  while (at >= 0 && turns[at]?.role !== role) at -= 1;
  return at;
}

function endingOf(user: UserActs, assistant: AssistantActs): keyof typeof SATISFACTION {
  const { affirms, declines, onlyClosingTalk } = user;
  const grateful = user.thanks || user.praises;
  const answers = affirms && assistant.questions && !assistant.asksIfDone;
  if (user.asks || user.wishes || user.complains) return 'newMatter';
  if (user.closes || user.takesLeave) return 'closes';
  if (user.mayClose && !affirms && (assistant.offersMore || !assistant.questions)) return 'closes';
  if (assistant.asksIfDone && !assistant.offersMore) return affirms && onlyClosingTalk ? 'confirmsDone' : 'none';
  if (user.fulfils && !answers) return 'fulfils';
  if (affirms || !(onlyClosingTalk || (declines && grateful))) return 'none';
  if (assistant.offersMore) return declines || grateful ? 'declinesMore' : 'none';
  if (!grateful || !onlyClosingTalk) return 'none';
  if (declines) return 'declinesWithThanks';
  return assistant.questions ? 'none' : 'thanks';
}

/** What an assistant's turn offers or asks. */
interface AssistantActs {
  /** "Anything else?", "Let me know if you need more help". */
  readonly offersMore: boolean;
  /** "Is that all?", "Does that answer your question?" */
  readonly asksIfDone: boolean;
  readonly questions: boolean;
}

const OFFERS_MORE: readonly RegExp[] = [
  /\bany ?thing (?:else|more|further|other)\b/,
  /(?<!\b(?:for|find|suggest|recommend|try|have|prefer) )\bsome ?thing (?:else|more|further)\b/,
  /\b(?:help|assist) you [^.!?]{0,20}\b(?:more|further|again)\b/,
  /\b(?:what|how) (?:else|more) (?:is|can|could|may|do|would|will|should)\b/,
  /\b(?:any|some|more|further|other|additional) (?:(?:more|further|other|additional) )?(?:requests?|questions?|help|assistance|needs?)\b/,
  /\b(?:help|assist) you (?:with anything|again|further|more)\b/,
  /\b(?:still|further) (?:help|assist|be of)\b/,
  /\bneed (?:me|my help) (?:for|with) any/,
  /\bany other [\p{L}]{1,40}\?/u,
];
const ASKS_IF_DONE: readonly RegExp[] = [
  /\b(?:is|was|will|would) (?:that|this|it) (?:be )?(?:all|everything|helpful)\b/,
  /\b(?:does|did|do) (?:that|this|it|i|these|those) (?:help|answer|solve|resolve|cover)\b/,
  /\bare you (?:all )?(?:set|done|finished|satisfied|happy with)\b/,
];

/** Returns what a turn offers or asks. Time grows with the text: pass only its last words. */
function assistantActs(turn: string): AssistantActs {
  const text = turn
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .trim();
  const some = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(text));
  return { offersMore: some(OFFERS_MORE), asksIfDone: some(ASKS_IF_DONE), questions: text.endsWith('?') };
}

const APOSTROPHES = /[’‘`´]/g;
/** Quoted text is mentioned, not said. */
const QUOTED = /"[^"\n]{1,200}"|“[^”\n]{1,200}”/g;
const CLAUSE_END = /[.!?…;:,()\n]|\s-|[–—]|\b(?:and|but)\b/u;
const NOT_OF_A_WORD = /[^\p{L}\p{N}']+/gu;

/** Returns the clauses of a turn: lower case, words separated by single spaces. Linear in the text. */
function clausesOf(turn: string): readonly string[] {
  const text = turn.toLowerCase().replace(APOSTROPHES, "'").replace(QUOTED, ' quoted ');
  return text
    .split(CLAUSE_END)
    .map((part) => part.replace(NOT_OF_A_WORD, ' ').trim())
    .filter((clause) => clause !== '');
}

const anyOf = (words: string): string => words.trim().split(/\s+/).join('|').replaceAll('_', ' ');

/** Words that may precede the relevant ones. */
const LEAD = `^(?:(?:${anyOf(`
  so also then now well oh ok okay alright great good fine perfect cool awesome wonderful excellent yes yeah sure no
  nope nah nothing actually instead first next because since many thanks thank_you a_lot so_much very_much please just
  kindly sounds_good i_think i_guess i_believe`)}) )*`;

/** Words that may follow the relevant ones. */
const CODA = `(?: (?:${anyOf(`
  here now then today thanks thank_you again anyway indeed right_now for_now for_today for_the_moment at_the_moment
  at_this_moment at_this_time from_me for_me from_you to_know very_much so_much a_lot all_the_same`)}))*$`;

/** Matches a clause that starts with the words, after an optional lead. */
const startsWith = (words: string): RegExp => new RegExp(`${LEAD}(?:${words})(?![\\p{L}\\p{N}'])`, 'u');

/** Matches a clause that consists of the words, with an optional lead and coda. */
const isOnly = (words: string): RegExp => new RegExp(`${LEAD}(?:${words})${CODA}`, 'u');

/**
 * The formulas with which English speakers close a conversation, one clause each: pre-closings, thanks, leave-taking
 * (E. Schegloff and H. Sacks 1973, "Opening up closings"), and what accompanies them. No repeated group contains
 * another repetition, so that matching stays linear.
 */

const IS = "(?:'s|'ll| is| was| will| would|'d| should)?(?: will)?(?: be)?(?: just| about| really| quite)?";
const WE = "(?:i|we)(?:'m|'re|'ve|'ll|m| am| are| have| will| can| should be)?";
const WANTED = "(?: that)? (?:i|we)(?:'ve| have| had)? (?:need|needed|want|wanted)(?: help)?(?: with| for)?";
const NEED_NO = "(?:i|we) (?:don'?t|do not|won'?t|will not) (?:need|want|require)";
const VERY = '(?:(?:a|an|of|so|very|really|quite|just|all|such|super|extremely|most|real|great|big|huge) )*';
const HAS_BEEN = "(?:'s|'re|'ve| is| was| are| were| have| has)?(?: been)?";

/** Nothing more is needed: "that's all", "all set", "I don't need anything else". */
const CLOSES: readonly RegExp[] = [
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

/** The request was fulfilled: looks back, so the present tense does not count. */
const FULFILS: readonly RegExp[] = [
  isOnly(
    `(?:that|this|it)${IS} (?:exactly |precisely )?what (?:i|we) (?:needed|wanted|asked for|(?:was|were) looking for)`,
  ),
  isOnly(
    '(?:that|this|it|you) (?:answers|answered|solves|solved) (?:all )?(?:of )?(?:it|everything|my (?:questions?|problems?))',
  ),
];

/** Closes unless it answers a question: "that's it", "that will do", "I'm good". */
const MAY_CLOSE: readonly RegExp[] = [
  isOnly(`(?:that|this)${IS} it`),
  isOnly("that(?:'ll| will| should| would) do(?: nicely| fine)?"),
  isOnly(`${WE}(?: all| now| quite)? (?:good|fine|ok|okay)`),
];

const TAKES_LEAVE: readonly RegExp[] = [
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

const THANKS: readonly RegExp[] = [
  isOnly(
    "(?:(?:much )?thanks?|thanx|thx|ty|cheers|thank ?(?:you|u)|(?:(?:i|we) )?(?:(?:really|do|so|very|much) )*appreciated?|(?:i am|i'm) (?:(?:so|very) )?grateful)(?: (?:it|that|this|you|so|much|very|a|lot|bunch|again|once|kindly|all))*(?: (?:for|the|your) [\\p{L}' ]{1,80})?",
  ),
];

const PRAISES: readonly RegExp[] = [
  isOnly(`(?:you|that|this|it)${HAS_BEEN} ${VERY}(?:help|helpful|helped)(?: me)?(?: (?:a|quite a) lot)?`),
];

/** Talk that accompanies a closing and adds nothing new: a bare no or yes, approval, why the user had asked. */
const ACCOMPANIES: readonly RegExp[] = [
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

/** What a user's turn does. Several may hold: "Great, thanks. Is it far?" thanks and asks. */
interface UserActs {
  readonly closes: boolean;
  readonly fulfils: boolean;
  readonly mayClose: boolean;
  readonly takesLeave: boolean;
  readonly declines: boolean;
  readonly affirms: boolean;
  readonly thanks: boolean;
  readonly praises: boolean;
  /** Every clause is closing talk: nothing else comes up. */
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

/** Returns what a turn does. Time grows with the text: pass a bounded text. */
function userActs(turn: string): UserActs {
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

/** Clauses that bring up something new: questions, requests, complaints. */

const DOES = 'is|are|was|were|do|does|did|can|could|would|will|shall|should|may|might|has|have';
const ALSO = '(?: (?:also|still|just|really|now|then|only|rather|even)){0,3}';
const VERBS = `find get book show tell give play search look reserve buy purchase make change add help check send write
  rewrite explain list try use set call order rent cancel continue describe compare summarize summarise translate update
  remove include provide recommend suggest schedule confirm fix run create open read turn keep say pick go start stop answer convert`;

const ASKS: readonly RegExp[] = [
  startsWith(
    `(?:what|who|whom|whose|when|where|why|how)(?:'s| (?:${DOES}|much|many|long|far|often|about|time|kind|type|sort|else))`,
  ),
  startsWith(`(?:${DOES}) (?:i|you|we|they|he|she|it|there|that|this|these|those|the|my|your|their|its|any|some)`),
  /\b(?:can|could|would|will) you\b/,
];

const WISHES: readonly RegExp[] = [
  /\bplease\b/,
  startsWith(`go ahead|let me|let's|let us|do (?:it|that|the|this)|${VERBS.split(/\s+/).join('|')}`),
  startsWith(
    `(?:i|we)${ALSO}(?: would| will|'d|'ll)?${ALSO} (?:want|need|wish|prefer)(?! nothing| no (?:more|further|other)| to (?:stop|end|leave|go|thank|say))`,
  ),
  startsWith(`(?:i|we)${ALSO}(?: would|'d)${ALSO} (?:like|love)(?! to (?:stop|end|leave|go|thank|say))`),
  startsWith(`(?:i|we)(?:'m| am|'re| are)${ALSO} (?:looking for|going to need|interested in|trying to)`),
  /\b(?:thanks|you|lot|much|now|also|then) (?:i|we) (?:also |still |now )?(?:want|need)\b/,
];

const COMPLAINS: readonly RegExp[] = [
  /\bnot what (?:i|we)\b/,
  /\b(?:wrong|incorrect|useless|unhelpful|mistake|no help|for nothing)\b/,
  /(?:\bnot|n't) (?:right(?! now)|correct|true|helpful|enough|all|done|finished|set)\b/,
  /\b(?:didn't|did not|doesn't|does not|haven't|have not|hasn't|has not) (?:help|work|answer|solve)/,
];
