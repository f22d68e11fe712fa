import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { printable } from '../../internal/printable.ts';
import { containedMarkdown } from './contained-markdown.ts';
import { factsOf, notesOf, placeOf, shortfallOf } from './facts.ts';
import { codeSpan, escapeMarkdown } from './markdown-text.ts';

/**
 * The final answer as a part of a Markdown page (CommonMark) [Y10]: second-level headings for the answer, its sources and its notes; how
 * sure it is, what it falls short of, and the text. It ends with a line end. The text keeps its Markdown, but for what would break
 * the page: its headings stand below these, and HTML in it is shown as text. Paths, quotes and notes are shown as they stand.
 */
export function answerAsMarkdown(answer: FinalAnswer): string {
  const shortfall = shortfallOf(answer);
  const notes = notesOf(answer);
  const parts = [
    '## Answer',
    `*${escapeMarkdown(factsOf(answer).join(' · '))}*`,
    shortfall === null ? '' : `> **${escapeMarkdown(shortfall.title)}**${escapeMarkdown(shortfall.says)}`,
    containedMarkdown(printable(answer.answerText).trimEnd()),
    answer.sources.length === 0 ? '' : `## Sources\n\n${answer.sources.map(sourceItem).join('\n')}`,
    notes === '' ? '' : `## Notes\n\n${escapeMarkdown(notes)}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** One source of the list, its quote below it. */
function sourceItem(source: Citation): string {
  const quote = escapeMarkdown(source.quote);
  return `- ${codeSpan(placeOf(source))}${quote === '' ? '' : `\n  > ${quote}`}`;
}
