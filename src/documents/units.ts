import type { Message } from '../../machines/contracts/message.ts';
import { sentencesOf } from '../../machines/text/sentences.ts';
import { cellsOf, introduces, isDelimiterRow, LIST_ITEM } from './blocks.ts';
import { unwrapped } from './divided-words.ts';

function isTableRow(line: string | undefined): boolean {
  return line !== undefined && /^\s*\|.*\|\s*$/.test(line);
}

/** The smallest part of a passage that can be quoted alone: a paragraph, a list with its introduction, a table, or a row with the header. */
export interface Unit {
  readonly kind: 'prose' | 'list' | 'table' | 'row';
  readonly text: string;
  /** What all parts are about: the introduction of a list, the header of a table, for a row also its first cell. */
  readonly lead: string;
  /** Sentences, items or rows. */
  readonly parts: readonly string[];
  /** The code after it, with its fences; may be empty. */
  readonly code: string;
}

const FENCED = /^ *(`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?)??(?:\n *\1 *$|(?![\s\S]))/gm;

export const withoutCode = (text: string): string => text.replace(FENCED, '');

type SearchResult = Pick<Message, 'content' | 'source'>;

/** The characters of a passage that are read. */
export const MAX_CHARS = 20_000;

/**
 * Splits a search result. Only a passage of a document (with a `source`) has the path of headings in its first line, which is empty if there
 * are none; elsewhere, a first line is a heading if it is marked as one in Markdown.
 */
export function splitHeadings({ content, source }: SearchResult): { headings: string; body: string } {
  const text = content.slice(0, MAX_CHARS);
  const [, mark, first = '', body = ''] = /^(#+ +)?(.*)\n([\s\S]*)$/.exec(text) ?? [];
  return (mark !== undefined || source !== null) && body.trim() !== ''
    ? { headings: first, body }
    : { headings: '', body: text };
}

/** Code is never a unit: it belongs to the one before it. */
export function unitsOf(text: string): Unit[] {
  const units: Unit[] = [];
  let from = 0;
  for (const match of [...text.matchAll(FENCED), null]) {
    for (const block of text.slice(from, match?.index).split(/\n\s*\n/)) addBlock(block.split('\n'), units);
    const last = units.pop();
    if (last !== undefined) units.push(match === null ? last : { ...last, code: match[0] });
    from = (match?.index ?? 0) + (match?.[0].length ?? 0);
  }
  return units;
}

/** Whether a paragraph is about the next one: it introduces it, or asks what the next one answers. */
const leadsTo = (text: string): boolean => introduces(text) || /[?？؟՞]["'”’)*_]*$/u.test(text);

/** Adds the units of lines without blank lines and code: a paragraph, and a list or table after it. */
function addBlock(lines: readonly string[], units: Unit[]): void {
  const start = lines.findIndex(
    (line, at) => LIST_ITEM.test(line) || /^\s*\|/.test(line) || isDelimiterRow(lines[at + 1]),
  );
  const rest = start === -1 ? [] : lines.slice(start);
  const prose = lines
    .slice(0, lines.length - rest.length)
    .join('\n')
    .trim();
  const sentences = sentencesOf(unwrapped(prose.split('\n'))).map(({ text }) => text);
  if (prose !== '') {
    const before = units.at(-1);
    const lead = before?.kind === 'prose' && before.code === '' && leadsTo(before.text) ? before.text : '';
    if (lead !== '') units.pop();
    const text = lead === '' ? prose : `${lead}\n\n${prose}`;
    units.push({ kind: 'prose', text, lead, parts: sentences, code: '' });
  }
  if (isDelimiterRow(rest[1]) || isTableRow(rest[0])) units.push(...tableUnits(rest));
  else if (rest.length > 0) {
    const before = units.at(-1);
    const lead = before?.kind === 'prose' && before.code === '' && introduces(before.text) ? before.text : '';
    if (lead !== '') units.pop();
    units.push({ kind: 'list', text: [lead, ...rest].join('\n').trim(), lead, parts: itemsOf(rest), code: '' });
  }
}

/** Returns the rows of a table, each with the header, and the whole table. A later part of a long table has no header. */
function tableUnits(lines: readonly string[]): Unit[] {
  const head = isDelimiterRow(lines[1]) ? lines.slice(0, 2) : [];
  const [header = ''] = head;
  const rows = lines.slice(head.length);
  const each = rows.map((row): Unit => {
    const lead = `${header} ${cellsOf(row)[0]}`.trim();
    return { kind: 'row', text: [...head, row].join('\n'), lead, parts: [row], code: '' };
  });
  return [...each, { kind: 'table', text: lines.join('\n'), lead: header, parts: rows, code: '' }];
}

function itemsOf(lines: readonly string[]): string[] {
  const indent = (lines[0] ?? '').search(/\S|$/);
  const opens = (line: string): boolean => LIST_ITEM.test(line) && line.search(/\S/) <= indent;
  const starts = [...lines.keys()].filter((at) => at === 0 || opens(lines[at] ?? ''));
  return starts.map((at, place) => lines.slice(at, starts[place + 1]).join('\n'));
}
