/** Only the beginning of an answer is read: what comes after the first sentence may hedge a detail. */
const WINDOW_CHARS = 400;
const WHOLE =
  /^(?:the answer is )?(?:unknown|unclear|undetermined|undefined|null|n\/?a|none|nothing|failed|failure|error|not (?:found|known|available|applicable|specified|sure|given|stated|mentioned)|no (?:answer|information|results?|data|idea)|nothing was found|no idea)(?: found| available)?$/;
const UNABLE =
  /\b(?:i|we) (?:(?:could not|couldn't|can not|cannot|can't|did not|didn't|do not|don't|haven't|have not) (?:yet )?(?:find|found|locate|determine|know|answer|tell|say|have|identify|verify|establish|solve)|(?:am|was|are|were) (?:unable|not able|not sure)|failed to|have no (?:answer|idea|information|data|results?))\b/;
const STILL_TO_DO =
  /\b(?:i (?:still )?(?:need|have|would need|will need) to (?:try|search|look|find|check|gather|verify|investigate|know|research|ask)|(?:i|we) (?:still |would |will )?need (?:more|further|additional) (?:information|details|data|context))\b/;
const UNKNOWABLE =
  /\b(?:can not|cannot|can't|could not|couldn't) be (?:found|determined|answered|established|verified|identified)\b|\b(?:is|are|was|were) not (?:known|specified|mentioned|stated)\b|\b(?:not enough|insufficient|no|no relevant|no further) (?:information|data|evidence|results)\b/;

/** Whether an answer says that there is none: nothing found, not able to, still to be looked for. An empty one says so too. */
export function isNoAnswer(answer: string): boolean {
  const opening = answer
    .trimStart()
    .slice(0, WINDOW_CHARS)
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(opening)) return true;
  const first = opening.split(/(?<=[.!?])\s/)[0] ?? opening;
  return (
    WHOLE.test(first.replace(/[.!"']/g, '').trim()) ||
    [UNABLE, STILL_TO_DO, UNKNOWABLE].some((said) => said.test(first))
  );
}
