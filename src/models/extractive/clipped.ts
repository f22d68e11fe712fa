/** A text of at most `maxChars` characters, cut at a space where one is near, with an ellipsis where it was cut. */
export function clipped(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const space = text.lastIndexOf(' ', maxChars - 2);
  const end = space > maxChars / 2 ? space : maxChars - 2;
  return `${text
    .slice(0, end)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()} …`;
}
