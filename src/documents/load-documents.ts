import { BlockWriter } from './block-writer.ts';
import type { Block, BlockKind, Document } from './document.ts';
import type { DocumentFile } from './document-files.ts';
import { joinLeadIns } from './lead-in.ts';

/** A file that was left out, and why, in words for people. */
interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

export interface LoadedDocuments {
  readonly documents: Document[];
  readonly skipped: SkippedFile[];
}

const BINARY_PROBE_BYTES = 8_192;
const FILES_AT_ONCE = 16;
const ENDING = /(?<=[^/\\])\.[^./\\]*$/;

/**
 * Reads files and folders as documents, the same order every time. Markdown, text, HTML and JSON are told by their names;
 * a file given by name with any other ending is read as text. What is binary, no UTF-8, larger than `maxFileBytes` or
 * without any text is skipped with a reason. A path that is missing or cannot be read throws `invalid_path`.
 * What it needs of Node is loaded by the first call, so that a page can import PostChain.
 */
export async function loadDocuments(
  paths: readonly string[],
  { maxFileBytes = 2_000_000 }: { readonly maxFileBytes?: number } = {},
): Promise<LoadedDocuments> {
  const { documentFiles } = await import('./document-files.ts');
  const files = await documentFiles(paths);
  const documents: Document[] = [];
  const skipped: SkippedFile[] = [];
  for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
    const batch = files.slice(from, from + FILES_AT_ONCE);
    for (const outcome of await Promise.all(batch.map((file) => readDocument(file, maxFileBytes)))) {
      if ('reason' in outcome) skipped.push(outcome);
      else documents.push(outcome);
    }
  }
  return { documents, skipped };
}

async function readDocument(file: DocumentFile, maxFileBytes: number): Promise<Document | SkippedFile> {
  const { readFile, stat } = await import('node:fs/promises');
  const { invalidPath } = await import('./document-files.ts');
  const { path } = file;
  let bytes: Uint8Array;
  try {
    const { size } = await stat(file.absolutePath);
    if (size > maxFileBytes) return { path, reason: `too large: ${size} bytes, at most ${maxFileBytes} are read` };
    bytes = await readFile(file.absolutePath);
  } catch (cause) {
    if (file.named) throw invalidPath(path, 'a file that cannot be read', cause);
    return { path, reason: `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return { path, reason: 'binary: it holds a NUL byte' };
  const text = decode(bytes);
  if (text === null) return { path, reason: 'binary or not encoded as UTF-8' };
  const blocks = await blocksOf(path, text);
  return blocks.length === 0 ? { path, reason: 'it holds no text' } : { path, blocks };
}

/** The text with `\n` line ends and no byte order mark, or null if the bytes are no UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch {
    return null;
  }
}

/** Readers are loaded when the first file asks for them; what one cannot make sense of is read as plain text. */
async function blocksOf(path: string, text: string): Promise<Block[]> {
  const read = await readerFor(ENDING.exec(path)?.[0].toLowerCase() ?? '');
  try {
    return read(text);
  } catch {
    return readText(text);
  }
}

async function readerFor(extension: string): Promise<(text: string) => Block[]> {
  switch (extension) {
    case '.md':
    case '.markdown':
    case '.mdx':
      return (await import('./read-markdown.ts')).readMarkdown;
    case '.html':
    case '.htm':
      return (await import('./read-html.ts')).readHtml;
    case '.json':
      return (await import('./read-json.ts')).readJson;
    default:
      return readText;
  }
}

const ITEM = /^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+\S/;
const CODE_LINE = /^(?:\t| {2,})\S|[;{}]\s*$|,\S+,\S|\t/;

/** The blocks of a plain text with `\n` line ends: paragraphs between blank lines, lists, and what looks like code. */
export function readText(text: string): Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  for (const [at, line] of [...text.split('\n'), ''].entries()) {
    if (line.trim() !== '') paragraph.push(line);
    else if (paragraph.length > 0) {
      blocks.push(...paragraphBlocks(paragraph, at - paragraph.length + 1));
      paragraph = [];
    }
  }
  return joinLeadIns(blocks);
}

function paragraphBlocks(lines: readonly string[], startLine: number): Block[] {
  const item = lines.findIndex((line) => ITEM.test(line));
  if (item === 0) return block(lines, startLine, 'list');
  if (item > 0)
    return [...block(lines.slice(0, item), startLine, 'prose'), ...block(lines.slice(item), startLine + item, 'list')];
  const code = lines.filter((line) => CODE_LINE.test(line)).length;
  return block(lines, startLine, lines.length > 1 && code * 2 > lines.length ? 'code' : 'prose');
}

function block(lines: readonly string[], startLine: number, kind: BlockKind): Block[] {
  const writer = new BlockWriter();
  writer.write(lines.map((line) => (kind === 'prose' ? line.trim() : line)).join('\n'), startLine);
  return [writer.finish([], kind)].filter((made) => made !== null);
}
