import { type UserActs, userActs } from './user-acts.ts';

/** A turn of a dialogue, as its role marks it. */
export interface DialogueTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Satisfaction {
  /** 0..1, an order and no probability; the user is satisfied from `SATISFIED` on. */
  readonly score: number;
  /** What was seen in the user's last turn and in the assistant's turn before it. */
  readonly signals: Readonly<Record<string, boolean | number>>;
}

/** From this score on, the user has what was wanted and asks for nothing more. */
export const SATISFIED = 0.5;

/** How much each way of ending a turn says that the user is satisfied. What stands under `SATISFIED` may as well go on. */
const SATISFACTION = {
  /** Says that nothing more is wanted, or takes leave. */
  closes: 0.95,
  /** Declines, or passes over with thanks, an offer of more help. */
  declinesMore: 0.9,
  /** Says yes to being asked whether all is done. */
  confirmsDone: 0.85,
  /** Says that it got what it had asked for. */
  fulfils: 0.8,
  /** Declines an offer to do something, with thanks and nothing else. */
  declinesWithThanks: 0.6,
  /** Thanks or praises where no question is open, and no more: the weakest sign, as thanks come in the middle as well. */
  thanks: 0.55,
  none: 0.1,
  /** Asks, wishes, complains, or brings a text of its own. */
  newMatter: 0,
} as const;

/** A turn longer than this (UTF-16 units) is no closing: it brings a matter of its own. */
const CLOSING_CHARS = 400;
/** An offer of more help stands in the last words of a turn. */
const OFFER_CHARS = 400;

/**
 * Whether the user's last words close the dialogue: the user has what was wanted and asks for nothing more [Y1]. A
 * closing is done in two turns (E. Schegloff and H. Sacks 1973, "Opening up closings"), so that the assistant's turn
 * before is read too; but only the user's words can satisfy, and only where the assistant has answered. English. Reads
 * a bounded part of these two turns.
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

/** The index of a role's last turn before `end`, or -1. */
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

/** What an assistant's turn leaves to the user. */
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

/** What a turn leaves to the user. The time grows with the text: give its last words. */
function assistantActs(turn: string): AssistantActs {
  const text = turn
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .trim();
  const some = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(text));
  return { offersMore: some(OFFERS_MORE), asksIfDone: some(ASKS_IF_DONE), questions: text.endsWith('?') };
}
