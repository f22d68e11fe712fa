import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as plainText } from 'mdast-util-to-string';
import { BlockWriter, HeadingPath } from './block-writer.ts';
import { joinLeadIns, shiftLines, splitTable } from './blocks.ts';
import type { Block } from './document.ts';
import { readHtml } from './read-html.ts';

/**
 * Returns the blocks of Markdown text (CommonMark, and GitHub's tables) with `\n` line endings. Omits front matter, link definitions, link
 * targets and emphasis. Code spans keep their backticks. HTML is read by `readHtml`.
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

/** Returns the first line of the code itself, below the fence of a fenced block. */
function codeLine(node: Extract<MarkdownNode, { type: 'code' }>): number {
  const start = node.position?.start.line ?? 1;
  const end = node.position?.end.line ?? start;
  return end - start + 1 > node.value.split('\n').length ? start + 1 : start;
}

function htmlBlocks(html: string, line: number, heading: readonly string[]): Block[] {
  return readHtml(html).map((block) => shiftLines({ ...block, heading: [...heading, ...block.heading] }, line - 1));
}

/** Replaces YAML or TOML front matter with blank lines, so that line numbers stay the same. */
function withoutFrontMatter(text: string): string {
  const match = /^(---|\+\+\+)[ \t]*\n(?=\s*["'\w-]+\s*[:=])[\s\S]*?\n\1[ \t]*(?=\n|$)/.exec(text);
  return match === null ? text : match[0].replace(/[^\n]/g, '') + text.slice(match[0].length);
}

/** A part of a Markdown text that is parsed separately, and the number of lines above it. */
interface MarkdownSection {
  readonly text: string;
  readonly linesBefore: number;
}

/** A longer section is cut before the next heading, and at any blank line once it is twice as long. */
const SECTION_CHARS = 6_000;
/** A longer paragraph is cut: parsing inline markup can take quadratic time. */
const RUN_CHARS = 8_000;

/** Splits a Markdown text so that parsing takes linear time: before headings, or within extremely long paragraphs. */
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
/** A node of a Markdown syntax tree (mdast) below its root. */
type MarkdownNode = Top | ChildOf<Top> | ChildOf<ChildOf<Top>>;
type ListNode = Extract<MarkdownNode, { type: 'list' }>;

/** Writes the visible text of a node's inline content. */
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

/** Writes a list with one line per item, or more if the item is wrapped. Nested lists are indented by two spaces per level. */
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

/** Writes code within a list. It keeps its fences, so that its lines do not look like wrapped text. */
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
