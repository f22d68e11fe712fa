const NOTHING_GATHERED = 'Nothing has been gathered yet';
const NOTHING_FOUND = 'No passage answers this question';

/** Returns the answer before any search. */
export function nothingGathered(words: readonly string[]): string {
  return `${NOTHING_GATHERED}${words.length === 0 ? '' : ` about ${quoted(words)}`}.`;
}

/** Returns the answer if no passage is relevant to the request. */
export function nothingFound(words: readonly string[]): string {
  const searched = words.length === 0 ? 'it has no words to search for' : `searched for ${quoted(words, 'and')}`;
  return `${NOTHING_FOUND}: ${searched}.`;
}

/** Whether an answer is one of the two above. */
export function isEmptyAnswer(answer: string): boolean {
  const text = answer.trim();
  return text === '' || text.startsWith(NOTHING_GATHERED) || text.startsWith(NOTHING_FOUND);
}

/** Returns up to eight words as a list in quotation marks. */
export function quoted(words: readonly string[], conjunction = 'or'): string {
  const shown = words.slice(0, 8).map((word) => `"${word}"`);
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${conjunction} ${shown.at(-1)}`;
}

/** Returns a share as whole percent. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Cuts a text to `maxChars` characters, if possible at a space, and adds an ellipsis. */
export function clippedAtSpace(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const space = text.lastIndexOf(' ', maxChars - 2);
  const end = space > maxChars / 2 ? space : maxChars - 2;
  return `${text
    .slice(0, end)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()} …`;
}
