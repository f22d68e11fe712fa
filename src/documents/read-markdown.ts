import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as plainText } from 'mdast-util-to-string';
import { shiftLines } from './block-slice.ts';
import { BlockWriter } from './block-writer.ts';
import type { Block } from './document.ts';
import { HeadingPath } from './heading-path.ts';
import { joinLeadIns } from './lead-in.ts';
import { markdownSections } from './markdown-sections.ts';
import { type MarkdownNode, writeInline, writeList } from './markdown-text.ts';
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
