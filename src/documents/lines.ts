import type { Block, BlockKind } from './document.ts';

/** A line of text, and the line of the file, counted from 1, that it comes from. */
export interface Line {
  readonly text: string;
  readonly line: number;
}

/** Returns lines of text whose first one is in a line of the file. */
export const linesFrom = (text: string, line: number): Line[] =>
  text.split('\n').map((part, at) => ({ text: part, line: line + at }));

/** Soft hyphens within a line and zero-width spaces, which split a word invisibly. Joiners stay: they shape letters and emoji. */
const INVISIBLE = /\u00AD(?!\s*$)|[\u200B\u2060\uFEFF]/g;

/** Returns the block of the lines, as a list of one; empty if they are blank. Omits blank lines (within code, only leading and trailing ones) and trailing spaces. */
export function blockOf(lines: readonly Line[], heading: readonly string[], kind: BlockKind, language = ''): Block[] {
  const kept: Line[] = [];
  for (const { text, line } of lines) {
    const shown = (kind === 'code' ? text : text.replace(INVISIBLE, '')).trimEnd();
    const isKept = shown.trim() !== '' || (kind === 'code' && kept.length > 0);
    if (isKept) kept.push({ text: shown, line: Math.max(line, kept.at(-1)?.line ?? 1) });
  }
  while (kept.at(-1)?.text === '') kept.pop();
  const [first, last] = [kept[0], kept.at(-1)];
  if (first === undefined || last === undefined) return [];
  const text = kept.map((one) => one.text).join('\n');
  const block = { text, heading, startLine: first.line, endLine: last.line, kind, lines: kept.map(({ line }) => line) };
  return [language === '' ? block : { ...block, language }];
}
