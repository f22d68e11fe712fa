/** What an assistant's turn leaves to the user. */
export interface AssistantActs {
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
export function assistantActs(turn: string): AssistantActs {
  const text = turn
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .trim();
  const some = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(text));
  return { offersMore: some(OFFERS_MORE), asksIfDone: some(ASKS_IF_DONE), questions: text.endsWith('?') };
}
