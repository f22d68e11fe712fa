import { fromMarkdown } from 'mdast-util-from-markdown';
import { isCheapToParse } from './markdown-cost.ts';
import { codeBlock } from './markdown-text.ts';

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
