/** How a model tells why it is done: it has found the answer, it guesses (hedges, after K. Hyland, 1998), or it has not solved it. */
export type Certainty = 'certain' | 'guessed' | 'unsolved';

/** What is read of a rationale, in characters from its end, where it comes to its conclusion. */
const WINDOW_CHARS = 400;
const UNSOLVED =
  /\b(?:have|has|had|did|could|can|do|does|is|are|was|were) ?(?:not|n't) (?:yet )?(?:been able to |able to )?(?:solved?|find|found|finish(?:ed)?|answer(?:ed)?|determined?|know|clear|established?)\b|\bcannot (?:find|answer|determine|solve|know)\b|\bunable to\b|\bout of (?:steps|time|tries)\b/;
const GUESSED =
  /\b(?:likely|probably|perhaps|maybe|possibly|presumably|apparently|seems?|appears? to|suggests?|might|could be|may be|uncertain|guess(?:ing|ed)?|i (?:suppose|assume|think|believe)|(?:will|would|let's|let us) assume|not (?:entirely |completely |quite )?sure)\b/;

/** What the last 400 characters of a rationale say of its conclusion. An empty one says nothing against it. */
export function certaintyOf(rationale: string): Certainty {
  const said = rationale.slice(-WINDOW_CHARS).toLowerCase().replace(/’/g, "'");
  if (UNSOLVED.test(said)) return 'unsolved';
  return GUESSED.test(said) ? 'guessed' : 'certain';
}
