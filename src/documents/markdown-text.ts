import type { fromMarkdown } from 'mdast-util-from-markdown';
import type { BlockWriter } from './block-writer.ts';

type Root = ReturnType<typeof fromMarkdown>;
type ChildOf<Node> = Node extends { children: (infer Child)[] } ? Child : never;
type Top = Root['children'][number];
/** Any node below the root of a Markdown tree (mdast). */
export type MarkdownNode = Top | ChildOf<Top> | ChildOf<ChildOf<Top>>;
type ListNode = Extract<MarkdownNode, { type: 'list' }>;

/** Writes what a reader sees of a node's inline content, each piece in the line where it stands. */
export function writeInline(node: MarkdownNode, writer: BlockWriter): void {
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
export function writeList(list: ListNode, writer: BlockWriter, depth: number): void {
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
