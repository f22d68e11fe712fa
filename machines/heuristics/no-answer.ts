/** Characters to read from the start of an answer: later sentences may hedge a detail. */
const OPENING_CHARS = 400;
const WHOLE =
  /^(?:the answer is )?(?:unknown|unclear|none|nothing|n\/?a|null|not (?:found|known|available|specified|sure)|no (?:answer|information|results?|data|idea)|unbekannt|keine angaben?|inconnu|desconocido|sconosciuto|desconhecido|不知道|未知|不明)(?: (?:(?:was|were|could be) )?found| available)?$/u;

const UNABLE = `(?:i|we) (?:could not|couldn't|cannot|can't|did not|didn't|do not|don't|have not|haven't) (?:yet )?(?:find|found|locate|determine|know|answer|tell|have|identify)|(?:i|we) (?:am|was|are|were) (?:unable|not able)|(?:i|we) (?:still )?need (?:to (?:search|find|look|try|check)|more (?:information|data|context|evidence|results|time))`;
/** Only in the main clause: "404 means that the page cannot be found" is an answer. */
const UNFOUND = String.raw`(?<!\p{L},? (?:if|when|means|because|unless|that|which) [^.]{0,80})(?:cannot|can't|could not) be (?:found|determined|answered)`;
/** Without a verb, or with one of finding: "No data is lost" is an answer. */
const NOTHING = String.raw`(?:nothing|no(?: relevant)? (?:information|data|evidence|results?|mention|answer))(?=(?: (?:is|are|was|were|could be|has been))? (?:found|available|given|provided)(?!\p{L}))|(?:there (?:is|are|was|were) no|not enough|insufficient)(?: relevant)? (?:information|data|evidence|results|mention)|no(?: relevant)? (?:information|data|evidence|results|mention)(?= (?:about|on|of|for|regarding|concerning|to)(?!\p{L})|[.!?]?$)`;
const SOURCES = `(?:documents?|documentation|passages?|sources?|texts?|excerpts?|search results|context|materials?)`;
/** The subject or the place is the evidence itself: "The documents do not mention it", "It is not stated in the text". */
const SILENT = [
  String.raw`none of the (?:\p{L}+ )?${SOURCES}`,
  String.raw`(?<=^(?:the|these|this|those) (?:\p{L}+ )?)${SOURCES} (?:do|does|did)(?: not|n't) (?:mention|say|state|contain|specify|provide|include|give|tell|describe|answer|cover|address|discuss|indicate|explain)`,
  String.raw`(?:is|are|was|were)(?: not|n't) (?:mentioned|stated|specified|given|described|covered|found|available) in (?:the|these|this|any)(?: of the)? (?:\p{L}+ )?${SOURCES}`,
].join('|');
const OTHER_LANGUAGES = String.raw`weiß (?:ich )?nicht|nichts? (?:gefunden|bekannt)|keine (?:informationen|angaben|hinweise|antwort)|(?:die|den) (?:dokumente|unterlagen|quellen|texte|passagen)n? [^.!?]{0,60}(?<!\p{L})(?:nichts?|keine)|ne (?:sais|trouve) pas|no (?:lo )?sé|no se encontr\p{L}*|non (?:lo )?so|não (?:sei|encontr\p{L}*)`;
const PATTERN = new RegExp(
  String.raw`(?<!\p{L})(?:${[UNABLE, UNFOUND, NOTHING, SILENT, OTHER_LANGUAGES].join('|')})(?!\p{L})|找不到|(?:没有?|未)(?:找到|提到|提及|说明)|(?:没有|无)相关(?:信息|内容|资料)|无法(?:确定|回答|找到)|見つかりません|わかりません`,
  'u',
);

/** Whether an answer says that there is none, in one of several languages. True for an answer without words. */
export function isNoAnswer(answer: string): boolean {
  const opening = answer.trimStart().slice(0, OPENING_CHARS).toLowerCase().replace(/’/g, "'").replace(/\s+/g, ' ');
  if (!/[\p{L}\p{N}]/u.test(opening)) return true;
  const first = opening.split(/(?<=[.!?])\s|(?<=[。！？])/u)[0] ?? opening;
  return WHOLE.test(first.replace(/[.!"'。]/g, '').trim()) || PATTERN.test(first);
}
