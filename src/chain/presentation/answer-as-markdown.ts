import { fromMarkdown } from 'mdast-util-from-markdown';
import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { oneLine, printable } from '../../internal/printable.ts';
import { degradationOf, factsOf, locationOf, notesOf, valueJson } from './answer-as-text.ts';

/**
 * Returns the final answer as a section of a Markdown page (CommonMark), with second-level headings for the answer, its sources and its
 * notes. The answer's text keeps its Markdown, except that its headings are demoted below these, that images are links, and that HTML and links to
 * anything but pages, mail and phone numbers are shown as text. Paths, quotes and notes are escaped.
 */
export function answerAsMarkdown(answer: FinalAnswer): string {
  const degradation = degradationOf(answer);
  const notes = notesOf(answer);
  const parts = [
    '## Answer',
    `*${escapeMarkdown(factsOf(answer).join(' · '))}*`,
    degradation === null ? '' : `> **${escapeMarkdown(degradation.title)}**${escapeMarkdown(degradation.details)}`,
    containedMarkdown(printable(answer.answerText).trimEnd()),
    answer.value === undefined ? '' : `## Value\n\n${codeBlock(valueJson(answer), 'json')}`,
    answer.sources.length === 0 ? '' : `## Sources\n\n${answer.sources.map(sourceItem).join('\n')}`,
    notes === '' ? '' : `## Notes\n\n${escapeMarkdown(notes)}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function sourceItem(source: Citation): string {
  const quote = escapeMarkdown(source.quote);
  return `- ${codeSpan(locationOf(source))}${quote === '' ? '' : `\n  > ${quote}`}`;
}

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root['children'][number];
type Heading = Extract<Block, { type: 'heading' }>;

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The headings of the answer's text are below the second-level headings of its section. */
const HIGHEST_HEADING = 3;
const DEEPEST_HEADING = 6;
/** An edit may change how the rest is parsed, so the result is checked again. */
const MAX_ROUNDS = 4;

/**
 * Returns Markdown (CommonMark) that cannot affect the page around it: its headings are demoted to the third level or deeper, HTML and
 * links that may be code are shown as text, images are links, and an open code block is closed. Text for which that fails, or that is too expensive to parse, becomes a code block.
 */
export function containedMarkdown(text: string): string {
  if (!isCheapToParse(text)) return codeBlock(text);
  let contained = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { children } = fromMarkdown(contained);
    const edits = [
      ...nodesIn(children, isHtml).flatMap((node) => escapedTags(contained, node)),
      ...nodesIn(children, (node) => isUnsafeLink(node) || isImage(node)).map((node) => ({
        from: startOf(node),
        to: startOf(node),
        text: '\\',
      })),
      ...demotedHeadings(
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

type Node = Pick<Block, 'position'>;

const startOf = ({ position }: Node): number => position?.start.offset ?? 0;
const endOf = ({ position }: Node): number => position?.end.offset ?? 0;

interface AnyNode extends Node {
  readonly type?: string;
  readonly url?: string;
  readonly children?: readonly AnyNode[];
}

/** Returns the outermost nodes of a kind, at any depth: even in a list or a quotation they affect the page. */
function nodesIn(nodes: readonly AnyNode[], isFound: (node: AnyNode) => boolean): readonly Node[] {
  return nodes.flatMap((node) => (isFound(node) ? [node] : nodesIn(node.children ?? [], isFound)));
}

const isHtml = ({ type }: AnyNode): boolean => type === 'html';

/** Pages load images without a click, which reveals to the image's server who is reading the answer. A backslash makes them links. */
const isImage = ({ type }: AnyNode): boolean => type === 'image' || type === 'imageReference';

/** Whether the URL of a link, an image or a definition has a scheme that may be code, such as `javascript:` or `data:`. */
const isUnsafeLink = ({ url }: AnyNode): boolean =>
  // Browsers skip control characters and spaces. A name with a dot is a file, with a line after the colon.
  url !== undefined && /^(?!(?:https?|mailto|tel):)[a-z][a-z0-9+-]*:/iu.test(url.replace(/[\p{Cc}\p{Z}]/gu, ''));

function escapedTags(text: string, node: Node): readonly Edit[] {
  const from = startOf(node);
  const tags = [...text.slice(from, endOf(node)).matchAll(/<(?=[a-z/!?])/gi)];
  return tags.map(({ index }) => ({ from: from + index, to: from + index, text: '\\' }));
}

function demotedHeadings(text: string, headings: readonly Heading[]): readonly Edit[] {
  const highest = Math.min(HIGHEST_HEADING, ...headings.map(({ depth }) => depth));
  if (highest === HIGHEST_HEADING) return [];
  return headings.map((heading) => {
    const [from, to] = [startOf(heading), endOf(heading)];
    const marks = '#'.repeat(Math.min(heading.depth + HIGHEST_HEADING - highest, DEEPEST_HEADING));
    if (text[from] === '#') return { from, to: from + heading.depth, text: marks };
    return { from, to, text: `${marks} ${underlinedText(text.slice(from, to))} ${marks}` };
  });
}

function underlinedText(heading: string): string {
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
 * Parsing takes time quadratic in the number of lines, of list and quotation markers, and of inline markers within a paragraph. The
 * limits are far above those of real answers and bound it to about a second.
 */
const MAX_CHARS = 100_000;
const MAX_LINES = 5_000;
const MAX_CONTAINER_MARKERS = 1_000;
const MAX_INLINE_MARKERS = 2_000;

function isCheapToParse(text: string): boolean {
  if (text.length > MAX_CHARS) return false;
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) return false;
  let [containers, inline] = [0, 0];
  for (const line of lines) {
    const markers = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*/.exec(line)?.[0] ?? '';
    containers += markers.match(/>|[-+*]|[.)]/g)?.length ?? 0;
    inline = line.trim() === '' ? 0 : inline + (line.match(/[*_`[\]<&!\\]/g)?.length ?? 0);
    if (containers > MAX_CONTAINER_MARKERS || inline > MAX_INLINE_MARKERS) return false;
  }
  return true;
}

function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]<&|~$]/g, '\\$&')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2')
    .replace(/^[#>+=-]/, '\\$&');
}

function codeSpan(line: string): string {
  const fence = '`'.repeat(longestRun(line) + 1);
  // CommonMark strips one space on both sides.
  const padding = /^`|`$/.test(line) ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** Returns text as a code block, with a fence that the text cannot close. */
function codeBlock(text: string, language = 'text'): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}
