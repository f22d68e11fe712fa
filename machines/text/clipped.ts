/** At most so many characters, the last of them a mark where more was there; never half a character. Holds on to no longer text. */
export function clipped(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars - 1);
  return ownText(`${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`);
}

/** The text written anew: a piece cut out of another keeps that whole in memory, as engines do. */
export function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
