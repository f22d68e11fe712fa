import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as plainText } from 'mdast-util-to-string';
import { shiftLines } from './block-slice.ts';
import { BlockWriter } from './block-writer.ts';
import type { Block } from './document.ts';
import { HeadingPath } from './heading-path.ts';
import { joinLeadIns } from './lead-in.ts';
import { readHtml } from './read-html.ts';
import { splitTable } from './table.ts';

/**
 * The blocks of a Markdown text (CommonMark, and tables as GitHub writes them), with `\n` line ends. Front matter and link
 * definitions are left out; emphasis and link targets, too; code spans keep their backticks. HTML is read as HTML.
 */
export function readMarkdown(text: string): Block[] {
  const headings = new HeadingPath();
  const blocks: Block[] = [];
  for (const section of markdownSections(withoutFrontMatter(text))) {
    for (const node of fromMarkdown(section.text).children) addNode(node, section.linesBefore, headings, blocks);
  }
  blocks.push(...headings.close());
  return joinLeadIns(blocks);
}

function addNode(node: MarkdownNode, linesBefore: number, headings: HeadingPath, blocks: Block[]): void {
  const line = node.position?.start.line ?? 1;
  if (node.type === 'heading') {
    blocks.push(...headings.enter(node.depth, plainText(node).replace(/\s+/g, ' ').trim(), line + linesBefore));
    return;
  }
  if (node.type === 'blockquote') {
    for (const child of node.children) addNode(child, linesBefore, headings, blocks);
    return;
  }
  const made = blocksOf(node, line, headings.current);
  if (made.length > 0) headings.use();
  blocks.push(...made.map((block) => shiftLines(block, linesBefore)));
}

function blocksOf(node: MarkdownNode, line: number, heading: readonly string[]): Block[] {
  if (node.type === 'html') return htmlBlocks(node.value, line, heading);
  const writer = new BlockWriter();
  if (node.type === 'paragraph') {
    writeInline(node, writer);
    return splitTable(writer.finish(heading, 'prose'));
  }
  if (node.type === 'list') {
    writeList(node, writer, 0);
    return [writer.finish(heading, 'list')].filter((block) => block !== null);
  }
  if (node.type === 'code') {
    writer.write(node.value, codeLine(node));
    return [writer.finish(heading, 'code')].filter((block) => block !== null);
  }
  return [];
}

/** The first line of the code itself: a fenced block begins one line earlier, at its fence. */
function codeLine(node: Extract<MarkdownNode, { type: 'code' }>): number {
  const start = node.position?.start.line ?? 1;
  const end = node.position?.end.line ?? start;
  return end - start + 1 > node.value.split('\n').length ? start + 1 : start;
}

function htmlBlocks(html: string, line: number, heading: readonly string[]): Block[] {
  return readHtml(html).map((block) => shiftLines({ ...block, heading: [...heading, ...block.heading] }, line - 1));
}

/** Blanks YAML or TOML front matter out, so that the lines below keep their numbers. */
function withoutFrontMatter(text: string): string {
  const match = /^(---|\+\+\+)[ \t]*\n(?=\s*["'\w-]+\s*[:=])[\s\S]*?\n\1[ \t]*(?=\n|$)/.exec(text);
  return match === null ? text : match[0].replace(/[^\n]/g, '') + text.slice(match[0].length);
}

/** A part of a Markdown text that is parsed by itself; `linesBefore` is how many lines of the whole stand above it. */
interface MarkdownSection {
  readonly text: string;
  readonly linesBefore: number;
}

/** A part is cut before a heading once it is this long, and at any blank line once it is twice that. */
const SECTION_CHARS = 6_000;
/** Longer runs without a blank line are cut: parsing inline marks can cost the square of a paragraph's length. */
const RUN_CHARS = 8_000;

/**
 * A Markdown text in parts that cost time in proportion to the whole when parsed one by one: cut before a heading where
 * a part has grown large, and anywhere at a line or space where a single paragraph is far longer than any that is written.
 */
function markdownSections(text: string): MarkdownSection[] {
  const sections: MarkdownSection[] = [];
  let [from, linesBefore, line, runFrom, at] = [0, 0, 0, 0, 0];
  let fenced = false;
  const cut = (to: number): void => {
    if (to > from) sections.push({ text: text.slice(from, to), linesBefore });
    [from, linesBefore, runFrom] = [to, line, to];
  };
  while (at < text.length) {
    const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at);
    const head = text.slice(at, Math.min(end, at + 80));
    if (/^ {0,3}(?:```|~~~)/.test(head)) fenced = !fenced;
    if (head.trim() === '') {
      runFrom = end;
      if (!fenced && at - from > 2 * SECTION_CHARS) cut(at);
    } else if (!fenced && at - from > SECTION_CHARS && /^#{1,6} /.test(head)) cut(at);
    if (!fenced && end - runFrom > RUN_CHARS && at > runFrom) cut(at);
    for (let most = from + RUN_CHARS; !fenced && end - at > RUN_CHARS && most < end; most = from + RUN_CHARS) {
      const space = text.lastIndexOf(' ', most);
      cut(space > from ? space : most);
    }
    line += 1;
    at = end + 1;
  }
  cut(text.length);
  return sections;
}

type Root = ReturnType<typeof fromMarkdown>;
type ChildOf<Node> = Node extends { children: (infer Child)[] } ? Child : never;
type Top = Root['children'][number];
/** Any node below the root of a Markdown tree (mdast). */
type MarkdownNode = Top | ChildOf<Top> | ChildOf<ChildOf<Top>>;
type ListNode = Extract<MarkdownNode, { type: 'list' }>;

/** Writes what a reader sees of a node's inline content, each piece in the line where it stands. */
function writeInline(node: MarkdownNode, writer: BlockWriter): void {
  const line = node.position?.start.line ?? 1;
  switch (node.type) {
    case 'text':
      writer.write(node.value, line);
      break;
    case 'inlineCode':
      writer.writeWithin(`\`${node.value}\``, line);
      break;
    case 'image':
    case 'imageReference':
      writer.writeWithin((node.alt ?? '').replace(/\s+/g, ' '), line);
      break;
    case 'html':
      if (/^<br\b/i.test(node.value)) writer.writeWithin(' ', line);
      break;
    default:
      if ('children' in node) for (const child of node.children) writeInline(child, writer);
  }
}

/** Writes a list, an item a line (wrapped items keep their lines), lists within lists indented by two spaces a level. */
function writeList(list: ListNode, writer: BlockWriter, depth: number): void {
  for (const [at, item] of list.children.entries()) {
    const marker = list.ordered ? `${(list.start ?? 1) + at}. ` : '- ';
    const line = item.position?.start.line ?? 1;
    writer.breakLine(line);
    writer.writeWithin(`${'  '.repeat(depth)}${marker}`, line);
    for (const child of item.children) writeItemPart(child, writer, depth);
  }
}

function writeItemPart(node: MarkdownNode, writer: BlockWriter, depth: number): void {
  if (node.type === 'list') writeList(node, writer, depth + 1);
  else if (node.type === 'code') writeCode(node.value, node.position?.start.line ?? 1, writer);
  else if (node.type === 'blockquote') for (const child of node.children) writeItemPart(child, writer, depth);
  else if (node.type !== 'html') writeInline(node, writer);
}

/** Code within a list: its fences stay, so that its lines are not taken for wrapped text. */
function writeCode(code: string, line: number, writer: BlockWriter): void {
  writer.breakLine(line);
  writer.writeWithin('```', line);
  for (const [at, text] of code.split('\n').entries()) {
    writer.breakLine(line + 1 + at);
    writer.writeWithin(text, line + 1 + at);
  }
  writer.breakLine(line + 1 + code.split('\n').length);
  writer.writeWithin('```', line + 1 + code.split('\n').length);
}
