const NOTHING_GATHERED = 'Nothing has been gathered yet';
const NOTHING_FOUND = 'Nothing that was found answers this';

/** What is said before the documents were searched. */
export function nothingGathered(words: readonly string[]): string {
  return `${NOTHING_GATHERED}${words.length === 0 ? '' : ` about ${quoted(words)}`}.`;
}

/** What is said when nothing that was found has to do with the request. */
export function nothingFound(words: readonly string[]): string {
  const lookedFor = words.length === 0 ? 'the request names nothing to look for' : `looked for ${quoted(words, 'and')}`;
  return `${NOTHING_FOUND}: ${lookedFor}.`;
}

/** Whether an answer is one of the two above. */
export function isEmptyAnswer(answer: string): boolean {
  const text = answer.trim();
  return text === '' || text.startsWith(NOTHING_GATHERED) || text.startsWith(NOTHING_FOUND);
}

/** Words in quotation marks as a list for reading: at most eight of them. */
export function quoted(words: readonly string[], joint = 'or'): string {
  const shown = words.slice(0, 8).map((word) => `"${word}"`);
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${joint} ${shown.at(-1)}`;
}

/** A share as whole percent. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
