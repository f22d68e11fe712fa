import type { Block } from './document.ts';

/** Whether a paragraph introduces the list or code that follows it: it ends with a colon. */
export const introduces = (text: string): boolean => /[:：]["'*_)]*\s*$/.test(text);

function joined(before: Block, list: Block): Block {
  const text = `${before.text}\n${list.text}`;
  return { ...list, text, startLine: before.startLine, lines: [...before.lines, ...list.lines] };
}

/** Joins each list with the paragraph that introduces it, so that "The rules are:" stays with the rules. */
export function joinLeadIns(blocks: readonly Block[]): Block[] {
  const made: Block[] = [];
  for (const block of blocks) {
    const before = made.at(-1);
    if (block.kind === 'list' && before !== undefined && isLeadIn(before, block))
      made[made.length - 1] = joined(before, block);
    else made.push(block);
  }
  return made;
}

function isLeadIn(before: Block, list: Block): boolean {
  return before.kind === 'prose' && before.heading.join('\n') === list.heading.join('\n') && introduces(before.text);
}

/** Returns code in a fence that is longer than any in it. */
export function fenced(code: string, language = ''): string {
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

const DELIMITER_ROW = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function isDelimiterRow(line: string | undefined): boolean {
  return line?.includes('|') === true && line.includes('-') && DELIMITER_ROW.test(line);
}

export function cellsOf(row: string): string[] {
  return row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Matches the marker of a list item: a bullet, number, letter or Roman numeral, with its indent. */
export const LIST_ITEM =
  /^\s*(?:[-*•–]|\(?-?\d{1,9}(?:\.\d{1,3})*[.)]|\(?(?:[a-zA-Z]|[ivxlcdm]{2,7}|[IVXLCDM]{2,7})[.)])\s+(?=\S|$)/;
