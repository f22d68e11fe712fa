/**
 * The beginning of a text in at most `maxChars` characters: whole sentences where the first one fits, else whole words
 * and an ellipsis. Never longer than asked, never splitting a surrogate pair.
 */
export function summarize(text: string, maxChars: number): string {
  const flat = text.replace(/\s+/gu, ' ').trim();
  if (flat.length <= maxChars) return flat;
  const head = flat.slice(0, maxChars);
  const sentenceEnd = Math.max(head.lastIndexOf('. '), head.lastIndexOf('! '), head.lastIndexOf('? '));
  if (sentenceEnd > maxChars / 3) return head.slice(0, sentenceEnd + 1);
  const room = flat.slice(0, maxChars - 1);
  const wordEnd = room.lastIndexOf(' ');
  const cut = wordEnd > maxChars / 3 ? room.slice(0, wordEnd) : room.replace(/[\uD800-\uDBFF]$/u, '');
  return `${cut}…`;
}

/** The first characters of a text on one line, for lists and questions. */
export function preview(text: string, chars = 50): string {
  // Only the beginning is looked at, however long the text is.
  const flat = text
    .slice(0, 4 * chars + 64)
    .replace(/\s+/gu, ' ')
    .trim();
  return flat.length <= chars ? flat : `${flat.slice(0, chars).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
