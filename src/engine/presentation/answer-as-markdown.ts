import { fromMarkdown } from 'mdast-util-from-markdown';
import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { oneLine, printable } from '../../internal/printable.ts';
import { factsOf, notesOf, placeOf, shortfallOf } from './answer-as-text.ts';

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

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root['children'][number];
type Heading = Extract<Block, { type: 'heading' }>;

/** What takes the place of a part of the text, by its offsets. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The headings of an answer stand below those of the page that it is put on. */
const HIGHEST_HEADING = 3;
const DEEPEST_HEADING = 6;
/** What an edit lays bare is mended in the next round. */
const MAX_ROUNDS = 4;

/**
 * Markdown (CommonMark) that keeps to its place on a page: headings of the first and second level are moved down with those below them,
 * HTML is shown as text, and code that is left open is closed. The rest stays as it is; a text that cannot be held so, or that costs
 * too much to read, stands in a code block.
 */
export function containedMarkdown(text: string): string {
  if (!isCheapToParse(text)) return codeBlock(text);
  let contained = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { children } = fromMarkdown(contained);
    const edits = [
      ...htmlIn(children).flatMap((node) => escapedTags(contained, node)),
      ...lowered(
        contained,
        children.filter((node) => node.type === 'heading'),
      ),
      ...closedCode(contained, children.at(-1)),
    ];
    if (edits.length === 0) return contained;
    contained = edited(contained, edits);
  }
  return codeBlock(text);
}

type Placed = Pick<Block, 'position'>;

const startOf = ({ position }: Placed): number => position?.start.offset ?? 0;
const endOf = ({ position }: Placed): number => position?.end.offset ?? 0;

/** At any depth: HTML in a list or a quotation can take in what follows it on a page, too. */
function htmlIn(nodes: readonly Placed[]): readonly Placed[] {
  return nodes.flatMap((node) => {
    const { type, children = [] } = node as { type?: string; children?: readonly Placed[] };
    return type === 'html' ? [node] : htmlIn(children);
  });
}

function escapedTags(text: string, node: Placed): readonly Edit[] {
  const from = startOf(node);
  const tags = [...text.slice(from, endOf(node)).matchAll(/<(?=[a-z/!?])/gi)];
  return tags.map(({ index }) => ({ from: from + index, to: from + index, text: '\\' }));
}

function lowered(text: string, headings: readonly Heading[]): readonly Edit[] {
  const highest = headings.reduce((least, { depth }) => Math.min(least, depth), HIGHEST_HEADING);
  if (highest === HIGHEST_HEADING) return [];
  return headings.map((heading) => {
    const [from, to] = [startOf(heading), endOf(heading)];
    const marks = '#'.repeat(Math.min(heading.depth + HIGHEST_HEADING - highest, DEEPEST_HEADING));
    if (text[from] === '#') return { from, to: from + heading.depth, text: marks };
    return { from, to, text: `${marks} ${underlined(text.slice(from, to))} ${marks}` };
  });
}

/** The words of a heading that is underlined, on one line. */
function underlined(heading: string): string {
  const lines = heading.split('\n').slice(0, -1);
  return lines.map((line) => line.trim()).join(' ');
}

function closedCode(text: string, last: Block | undefined): readonly Edit[] {
  if (last?.type !== 'code') return [];
  const lines = text.slice(startOf(last), endOf(last)).split('\n');
  const fence = /^(?:`{3,}|~{3,})/.exec(lines[0] ?? '')?.[0];
  if (fence === undefined) return [];
  const end = lines.length === 1 ? '' : (/^ {0,3}([`~]+)[ \t]*$/.exec(lines.at(-1) ?? '')?.[1] ?? '');
  const isClosed = end.length >= fence.length && end === (fence[0] ?? '').repeat(end.length);
  return isClosed ? [] : [{ from: text.length, to: text.length, text: `\n${fence}` }];
}

function edited(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { from, to, text: given } of [...edits].sort((a, b) => a.from - b.from)) {
    pieces.push(text.slice(at, from), given);
    at = to;
  }
  return [...pieces, text.slice(at)].join('');
}

/**
 * The parser's time grows with the square of these: lines, marks of lists and quotations, and inline marks within one paragraph. The
 * bounds are far above what is written, and hold it to about a second at worst.
 */
const MAX_CHARS = 100_000;
const MAX_LINES = 5_000;
const MAX_CONTAINER_MARKS = 1_000;
const MAX_INLINE_MARKS = 2_000;

/** Whether a Markdown text is one that a page may spend the time on to read it. */
function isCheapToParse(text: string): boolean {
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

/** Text as one line of Markdown that reads as it stands: no mark, tag, entity or link begins in it. */
function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]<&|~$]/g, '\\$&')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2')
    .replace(/^[#>+=-]/, '\\$&');
}

/** Text on one line between as many backticks as it takes to hold it. */
function codeSpan(line: string): string {
  const fence = '`'.repeat(longestRun(line) + 1);
  // A space on both sides belongs to the marks, not to the code.
  const padding = /^`|`$/.test(line) ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** Text as it stands, in a block that nothing in it can end. */
function codeBlock(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}
