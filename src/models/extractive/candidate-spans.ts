import { sentencesOf } from '../../../machines/text/sentences.ts';
import { stemsOf } from '../../../machines/text/terms.ts';
import { isDelimiterRow, LIST_ITEM } from '../../documents/blocks.ts';
import type { Evidence } from './evidence.ts';
import type { Question, TermSet } from './question.ts';
import { clippedAtSpace } from './wording.ts';

/** A span of evidence that could be an answer. */
export interface CandidateSpan {
  readonly evidence: number;
  readonly text: string;
  /** The question's terms in the span itself, in its headings, and in its passage. */
  readonly inSpan: TermSet;
  readonly inHeading: TermSet;
  readonly inPassage: TermSet;
  /** The terms of the span that are spread over several items or rows of a list. */
  readonly scattered: TermSet;
  /** Whether the nearest heading has only terms of the question. */
  readonly underTopic: boolean;
  readonly kind: UnitGroup['kind'];
  /** The range of sentences, items and rows in its evidence, counted from 0; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** The number of sentences, items or rows. */
  readonly units: number;
}

/** The maximum lengths of an answer of sentences, and of a list or table: half a list is misleading. */
export const MAX_ANSWER_CHARS = 900;
export const MAX_LIST_CHARS = 1_500;
const MAX_SENTENCES = 3;
const MAX_PROSE_CHARS = 650;

/**
 * Returns the spans of one piece of evidence: up to three sentences of a paragraph, a list with its introduction or one of its items, a
 * table row with its header, code with its introduction. Linear in the text.
 */
export function candidateSpans(evidence: Evidence, place: number, question: Question): CandidateSpan[] {
  const inHeading = question.termsIn(evidence.heading);
  const inPassage = question.inEvidence[place] ?? 0;
  if (inPassage === 0) return [];
  const underTopic = isTopic(evidence.heading, question);
  const around = { evidence: place, inHeading, inPassage, underTopic };
  let before = 0;
  return unitGroups(evidence.body).flatMap((group) => {
    const offset = before;
    before += group.units.length;
    const sets = group.units.map((unit) => question.termsIn(unit));
    const spans = group.kind === 'prose' ? proseSpans(group, sets) : groupSpans(group, sets, question);
    return spans.map((span) => ({
      ...around,
      ...span,
      from: offset + span.from,
      to: offset + span.to,
      kind: group.kind,
    }));
  });
}

function isTopic(heading: string, question: Question): boolean {
  const stems = stemsOf(heading.split(' > ').at(-1) ?? '');
  return stems.length > 0 && stems.every((stem) => question.terms.some((term) => term.stem === stem));
}

type Span = Pick<CandidateSpan, 'text' | 'inSpan' | 'scattered' | 'units' | 'from' | 'to'>;

function proseSpans(group: UnitGroup, sets: readonly TermSet[]): Span[] {
  const spans: Span[] = [];
  for (const first of group.units.keys()) {
    let [text, inSpan] = ['', 0];
    for (let units = 1; units <= MAX_SENTENCES && first + units <= group.units.length; units += 1) {
      const sentence = group.units[first + units - 1] ?? '';
      if (units > 1 && text.length + sentence.length > MAX_PROSE_CHARS) break;
      text = units === 1 ? clippedAtSpace(sentence, MAX_ANSWER_CHARS) : `${text} ${sentence}`;
      inSpan |= sets[first + units - 1] ?? 0;
      spans.push({ text, inSpan, scattered: 0, units, from: first, to: first + units });
    }
  }
  return spans;
}

/** Returns the whole group with its introduction, and each item or row (with its header). */
function groupSpans(group: UnitGroup, sets: readonly TermSet[], question: Question): Span[] {
  const inLeadIn = question.termsIn(group.leadIn);
  const spans: Span[] = [];
  const lead = group.leadIn === '' ? '' : `${group.leadIn}\n`;
  const whole = `${lead}${group.units.join('\n')}`;
  const inWhole = sets.reduce((all, set) => all | set, inLeadIn);
  if (inWhole !== 0) {
    const text = whole.length <= MAX_LIST_CHARS ? whole : shortened(lead, group, sets);
    const together =
      inLeadIn | sets.reduce((most, set) => (question.share(set) > question.share(most) ? set : most), 0);
    spans.push({
      text,
      inSpan: inWhole,
      scattered: inWhole & ~together,
      units: group.units.length,
      from: 0,
      to: group.units.length,
    });
  }
  if (group.kind === 'code') return spans;
  for (const [at, unit] of group.units.entries()) {
    if (sets[at] === 0 || group.units.length === 1) continue;
    const text = group.kind === 'table' ? `${lead}${unit}` : unit.replace(LIST_ITEM, '').trim();
    spans.push({
      text: clippedAtSpace(text, MAX_ANSWER_CHARS),
      inSpan: (sets[at] ?? 0) | (group.kind === 'table' ? inLeadIn : 0),
      scattered: 0,
      units: 1,
      from: at,
      to: at + 1,
    });
  }
  return spans;
}

/** Shortens a list or table to as many items as fit, preferring those with words of the question, with ellipses for omitted items. */
function shortened(lead: string, group: UnitGroup, sets: readonly TermSet[]): string {
  const byFit = [...group.units.keys()].sort(
    (left, right) => Number(sets[right] !== 0) - Number(sets[left] !== 0) || left - right,
  );
  const kept = new Set<number>();
  let remaining = MAX_LIST_CHARS - lead.length - 2;
  for (const at of byFit) {
    const chars = (group.units[at]?.length ?? 0) + 1;
    if (chars > remaining) continue;
    kept.add(at);
    remaining -= chars;
  }
  if (kept.size === 0) return clippedAtSpace(`${lead}${group.units.join('\n')}`, MAX_ANSWER_CHARS);
  const lines = group.units.map((unit, at) => (kept.has(at) ? unit : '…'));
  return `${lead}${lines.filter((line, at) => line !== '…' || lines[at - 1] !== '…').join('\n')}`;
}

/** A paragraph's sentences, a list's items, a table's rows, or lines of code. */
interface UnitGroup {
  readonly kind: 'prose' | 'list' | 'code' | 'table';
  readonly units: readonly string[];
  /** The introduction of a list or code, or a table's header rows; may be empty. */
  readonly leadIn: string;
}

const MAX_LEAD_IN_CHARS = 300;

/** Returns the groups of a passage's text, in order. Each line of prose is a whole paragraph. */
function unitGroups(body: string): UnitGroup[] {
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

/** Returns the line after the group that starts at `at`. */
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

/** Removes a last sentence that ends in a colon from the prose: it belongs to the list or code after it. */
function withoutLeadIn(groups: UnitGroup[]): void {
  const before = groups.at(-2);
  if (before?.kind === 'prose' && /[:：]["'*_]*$/.test(before.units.at(-1) ?? '')) {
    groups[groups.length - 2] = { ...before, units: before.units.slice(0, -1) };
  }
}

/** Returns the introduction that this paragraph is for a following list: all of it if it is short, otherwise its last sentence. */
function leadInOf(paragraph: string, sentences: readonly string[]): string {
  const leadIn = paragraph.length <= MAX_LEAD_IN_CHARS ? paragraph : (sentences.at(-1) ?? '');
  return leadIn.length <= MAX_LEAD_IN_CHARS ? leadIn : '';
}
