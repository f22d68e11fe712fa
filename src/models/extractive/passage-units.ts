import { sentencesOf } from '../../../machines/text/sentences.ts';
import { LIST_ITEM } from '../../documents/logical-line.ts';
import { isDelimiterRow } from '../../documents/table.ts';

/** Lines of a passage that belong together: a paragraph's sentences, a list's items, a table's rows, or lines of code. */
export interface UnitGroup {
  readonly kind: 'prose' | 'list' | 'code' | 'table';
  readonly units: readonly string[];
  /** What leads into a list or code, or a table's header rows; empty if nothing does. */
  readonly leadIn: string;
}

const MAX_LEAD_IN_CHARS = 300;

/** The groups of a passage's text, in order. Lines of prose are whole paragraphs. Linear. */
export function unitGroups(body: string): UnitGroup[] {
  const groups: UnitGroup[] = [];
  const lines = body.split('\n');
  let leadIn = '';
  for (let at = 0; at < lines.length; ) {
    const kind = kindAt(lines, at);
    const end = kind === null ? at + 1 : endOf(kind, lines, at);
    const taken = lines.slice(at, end);
    at = end;
    if (kind === null) continue;
    if (kind === 'prose') {
      const units = sentencesOf(taken.join('\n')).map(({ text }) => text);
      groups.push({ kind, units, leadIn: '' });
      leadIn = leadInOf(taken.join('\n').trim(), units);
      continue;
    }
    if (kind === 'table') groups.push({ kind, units: taken.slice(2), leadIn: taken.slice(0, 2).join('\n') });
    else {
      groups.push({ kind, units: kind === 'code' ? [taken.join('\n')] : taken, leadIn });
      if (leadIn !== '') withoutLeadIn(groups);
    }
    leadIn = '';
  }
  return groups.filter(({ units }) => units.length > 0);
}

function kindAt(lines: readonly string[], at: number): UnitGroup['kind'] | null {
  const line = lines[at] ?? '';
  if (line.trim() === '') return null;
  if (line.trimStart().startsWith('```')) return 'code';
  if (line.includes('|') && isDelimiterRow(lines[at + 1])) return 'table';
  return LIST_ITEM.test(line) || /^\s*\|.*\|\s*$/.test(line) ? 'list' : 'prose';
}

/** The line after the group that begins at `at`. */
function endOf(kind: UnitGroup['kind'], lines: readonly string[], at: number): number {
  let end = at + 1;
  if (kind === 'code') {
    while (end < lines.length && !lines[end]?.trimStart().startsWith('```')) end += 1;
    return Math.min(end + 1, lines.length);
  }
  if (kind === 'table') while (end < lines.length && lines[end]?.includes('|')) end += 1;
  else if (kind === 'list') while (end < lines.length && kindAt(lines, end) === 'list') end += 1;
  return end;
}

/** A last sentence that ends in a colon says nothing without the list or code that was just put after it. */
function withoutLeadIn(groups: UnitGroup[]): void {
  const before = groups.at(-2);
  if (before?.kind === 'prose' && /[:：]["'*_]*$/.test(before.units.at(-1) ?? '')) {
    groups[groups.length - 2] = { ...before, units: before.units.slice(0, -1) };
  }
}

/** What a list after this paragraph would be introduced by: all of it if it is short, else its last sentence. */
function leadInOf(paragraph: string, sentences: readonly string[]): string {
  const leadIn = paragraph.length <= MAX_LEAD_IN_CHARS ? paragraph : (sentences.at(-1) ?? '');
  return leadIn.length <= MAX_LEAD_IN_CHARS ? leadIn : '';
}
