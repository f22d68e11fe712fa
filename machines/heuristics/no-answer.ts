/** Characters to read from the start of an answer: later sentences may hedge a detail. */
const OPENING_CHARS = 400;
const WHOLE =
  /^(?:the answer is )?(?:unknown|unclear|none|nothing|n\/?a|null|not (?:found|known|available|specified|sure)|no (?:answer|information|results?|data|idea)|unbekannt|keine angaben?|inconnu|desconocido|sconosciuto|desconhecido|不知道|未知|不明)(?: (?:(?:was|were|could be) )?found| available)?$/u;
const UNABLE =
  /(?<!\p{L})(?:(?:i|we) (?:could not|couldn't|cannot|can't|did not|didn't|do not|don't|have not|haven't) (?:yet )?(?:find|found|locate|determine|know|answer|tell|have|identify)|(?:i|we) (?:am|was|are|were) (?:unable|not able)|(?:i|we) (?:still )?need (?:to (?:search|find|look|try|check)|more)|(?:cannot|can't|could not) be (?:found|determined|answered)|(?:not enough|insufficient|no(?: relevant)?) (?:information|data|evidence|results)|weiß (?:ich )?nicht|nicht (?:gefunden|bekannt)|keine (?:informationen|antwort)|ne (?:sais|trouve) pas|no (?:lo )?s[ée]|no se encontr|non (?:lo )?so|não (?:sei|encontr))(?!\p{L})|没有找到|找不到|无法(?:确定|回答|找到)|見つかりません|わかりません/u;

/** Whether an answer says that there is none, in one of several languages. True for an answer without words. */
export function isNoAnswer(answer: string): boolean {
  const opening = answer.trimStart().slice(0, OPENING_CHARS).toLowerCase().replace(/’/g, "'").replace(/\s+/g, ' ');
  if (!/[\p{L}\p{N}]/u.test(opening)) return true;
  const first = opening.split(/(?<=[.!?])\s|(?<=[。！？])/u)[0] ?? opening;
  return WHOLE.test(first.replace(/[.!"'。]/g, '').trim()) || UNABLE.test(first);
}
