/** More things described than this ask for no more steps. */
const MOST_STEPS = 4;
/** Between "the" and what tells a description there are its nouns: "the live album that …". */
const MOST_NOUNS = 4;
const WORD_OR_MARK = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.-]*|[^\s\p{L}\p{N}]/gu;
const RELATION = new Set('of where which that who whose whom when by for from in with'.split(' '));
const COPULA = new Set(['is', 'are', 'was', 'were']);
const ASKS_FOR = new Set(['who', 'what', 'which']);
const LOWER = /^\p{Ll}/u;
const UPPER = /^\p{Lu}/u;
const OWNER = /^\p{Lu}.*['’]s?$/u;

/**
 * How many texts an answer seems to take, 1..4: one, and one more for each thing that the request describes instead of naming
 * it ("the country where …", "the author of …", "Ann Lee's birthplace"). What it asks for itself ("Who is the wife of …") is
 * no step. After the decomposition of questions into steps (Wolfson and others, BREAK, 2020), by their form alone.
 */
export function stepsWanted(request: string): number {
  const words = request.match(WORD_OR_MARK) ?? [];
  let steps = 1;
  for (let at = 0; at < words.length && steps < MOST_STEPS; at += 1) {
    if (OWNER.test(words[at] ?? '') && LOWER.test(words[at + 1] ?? '')) steps += 1;
    if (words[at] !== 'the' || isAskedFor(words, at)) continue;
    const nouns = nounsOfDescription(words, at + 1);
    if (nouns > 0) steps += 1;
    at += nouns;
  }
  return steps;
}

/** "Who is the wife of …": a request that opens so asks for that very thing. */
function isAskedFor(words: readonly string[], at: number): boolean {
  return at === 2 && COPULA.has(words[1] ?? '') && ASKS_FOR.has(words[0]?.toLowerCase() ?? '');
}

/** How many words there are before the one that makes it a description; 0 if it is none. */
function nounsOfDescription(words: readonly string[], from: number): number {
  for (let nouns = 1; nouns <= MOST_NOUNS; nouns += 1) {
    if (!LOWER.test(words[from + nouns - 1] ?? '')) return 0;
    const next = words[from + nouns] ?? '';
    if (RELATION.has(next) || UPPER.test(next)) return nouns;
  }
  return 0;
}
