/** Matches a question for the meaning of a term: "What is a cycle?" asks for one, "What is the price?" does not. */
const ASKED =
  /^\P{L}*(?:what(?:’s|'s| is| are)(?: an?(?= ))?|was (?:ist|sind)(?: eine?(?= ))?|什么是|什麼是)\s*(?!(?:the|my|your|our|this|that|der|die|das)\s)(.+?)[\s?？.!]*$/iu;
const MAX_WORDS = 4;
const START = String.raw`(?:^|\n|[.!?。！？]["'”’)]{0,3}\s{0,3})[^\p{L}\p{N}\n]{0,8}(?:(?:an?|the|eine?|der|die|das)\s+)?`;
/** A copula alone does not define: "A cycle is one pass" does, "A cycle is repeated" does not. */
const MEANS = String.raw`(?:\s+(?:(?:is|are)\s+(?:an?|the|one|any|some|every|what|how)|means|refers to|(?:ist|sind)\s+(?:eine?|der|die|das)|bedeutet)|\s*(?:是|指))`;

/**
 * Returns the patterns of a text about the term whose meaning a question asks for: `sentence` matches a definition like "A cycle is one
 * pass", `entry` a heading, item or table row that begins with the term, which may say something else about it. Null for any other question.
 */
export function definitionOf(question: string): { readonly sentence: RegExp; readonly entry: RegExp } | null {
  const words = ASKED.exec(question.slice(0, 200))?.[1]?.split(/\s+/) ?? [];
  if (words.length === 0 || words.length > MAX_WORDS) return null;
  const term = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '.')).join(String.raw`\s+`);
  const start = `${START}${term}s?[*_\`"”]{0,3}(?:\\s?\\([^)\\n]{0,80}\\))?`;
  return { sentence: new RegExp(start + MEANS, 'iu'), entry: new RegExp(String.raw`${start}\s{0,3}[:：|–—]`, 'iu') };
}
