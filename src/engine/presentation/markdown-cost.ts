/**
 * The parser's time grows with the square of these: lines, marks of lists and quotations, and inline marks within one paragraph. The
 * bounds are far above what is written, and hold it to about a second at worst.
 */
const MAX_CHARS = 100_000;
const MAX_LINES = 5_000;
const MAX_CONTAINER_MARKS = 1_000;
const MAX_INLINE_MARKS = 2_000;

/** Whether a Markdown text is one that a page may spend the time on to read it. */
export function isCheapToParse(text: string): boolean {
  if (text.length > MAX_CHARS) return false;
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) return false;
  let [containers, inline] = [0, 0];
  for (const line of lines) {
    const lead = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*/.exec(line)?.[0] ?? '';
    containers += lead.match(/>|[-+*]|[.)]/g)?.length ?? 0;
    inline = line.trim() === '' ? 0 : inline + (line.match(/[*_`[\]<&!\\]/g)?.length ?? 0);
    if (containers > MAX_CONTAINER_MARKS || inline > MAX_INLINE_MARKS) return false;
  }
  return true;
}
