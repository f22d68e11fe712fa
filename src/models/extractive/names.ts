const CAPITALISED = /\p{Lu}[\p{L}\p{N}'’-]+(?:\s+(?:(?:of|the|and|de|for|in)\s+)?\p{Lu}[\p{L}\p{N}'’-]+)*/gu;
const CODE_SPAN = /`([^`\n]{2,60})`/g;

/** The names in a text, in order, with repetitions: capitalised phrases and code spans. */
export function namesIn(text: string): string[] {
  const code = [...text.matchAll(CODE_SPAN)].map((match) => match[1] ?? '');
  return [...(text.replace(CODE_SPAN, ' . ').match(CAPITALISED) ?? []), ...code];
}
