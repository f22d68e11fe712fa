/** A part of a text, and whether an earlier text has no such line. */
export interface TextPart {
  readonly text: string;
  readonly isNew: boolean;
}

/** Splits a text into the lines that an earlier one has, wherever they are, and those that it does not have. Linear. */
export function addedText(before: string, now: string): readonly TextPart[] {
  const left = new Map<string, number>();
  for (const line of linesOf(before)) left.set(line, (left.get(line) ?? 0) + 1);
  const parts: { text: string; isNew: boolean }[] = [];
  for (const line of linesOf(now)) {
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    const last = parts.at(-1);
    if (last?.isNew === (count === 0)) last.text += line;
    else parts.push({ text: line, isNew: count === 0 });
  }
  return parts;
}

/** Each with its line break; the last one without, so that it equals itself in the middle of a longer text. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];

/** The first characters of a text in parts. */
export function firstParts(parts: readonly TextPart[], chars: number): readonly TextPart[] {
  let left = chars;
  return parts.flatMap(({ text, isNew }) => {
    if (left <= 0) return [];
    const shown = text.slice(0, left);
    left -= shown.length;
    return [{ text: shown, isNew }];
  });
}
