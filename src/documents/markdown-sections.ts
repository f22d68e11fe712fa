/** A part of a Markdown text that is parsed by itself; `linesBefore` is how many lines of the whole stand above it. */
export interface MarkdownSection {
  readonly text: string;
  readonly linesBefore: number;
}

/** A part is cut before a heading once it is this long, and at any blank line once it is twice that. */
const SECTION_CHARS = 6_000;
/** Longer runs without a blank line are cut: parsing inline marks can cost the square of a paragraph's length. */
const RUN_CHARS = 8_000;

/**
 * A Markdown text in parts that cost time in proportion to the whole when parsed one by one: cut before a heading where
 * a part has grown large, and anywhere at a line or space where a single paragraph is far longer than any that is written.
 */
export function markdownSections(text: string): MarkdownSection[] {
  const sections: MarkdownSection[] = [];
  let [from, linesBefore, line, runFrom, at] = [0, 0, 0, 0, 0];
  let fenced = false;
  const cut = (to: number): void => {
    if (to > from) sections.push({ text: text.slice(from, to), linesBefore });
    [from, linesBefore, runFrom] = [to, line, to];
  };
  while (at < text.length) {
    const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at);
    const head = text.slice(at, Math.min(end, at + 80));
    if (/^ {0,3}(?:```|~~~)/.test(head)) fenced = !fenced;
    if (head.trim() === '') {
      runFrom = end;
      if (!fenced && at - from > 2 * SECTION_CHARS) cut(at);
    } else if (!fenced && at - from > SECTION_CHARS && /^#{1,6} /.test(head)) cut(at);
    if (!fenced && end - runFrom > RUN_CHARS && at > runFrom) cut(at);
    for (let most = from + RUN_CHARS; !fenced && end - at > RUN_CHARS && most < end; most = from + RUN_CHARS) {
      const space = text.lastIndexOf(' ', most);
      cut(space > from ? space : most);
    }
    line += 1;
    at = end + 1;
  }
  cut(text.length);
  return sections;
}
