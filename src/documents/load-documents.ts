import * as z from 'zod';
import { inTurns, type Steps } from '../internal/async.ts';
import { parseOption } from '../internal/options.ts';
import type { Block, Document } from './document.ts';
import type { DocumentCache } from './document-cache.ts';
import type { DocumentFile } from './document-files.ts';
import { documentTerms, keepTerms } from './passage-terms.ts';
import { readText } from './read-text.ts';

/** A file that was not read, and why. */
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
const EXTENSION = /(?<=[^/\\])\.[^./\\]*$/;

const pathsSchema = z.object({ paths: z.array(z.string(), 'expected an array of paths') });
const optionsSchema = z.strictObject({
  maxFileBytes: z.int().positive().optional(),
  cache: z.string().min(1).optional(),
});

export type LoadOptions = Readonly<z.infer<typeof optionsSchema>>;

/**
 * Reads files and directories as documents, in a stable order. Markdown, text, HTML and JSON are recognized by file extension; a file
 * passed by name with another extension is read as text. Files that are binary, not UTF-8, larger than `maxFileBytes` (default
 * 2,000,000) or without text are skipped with a reason.
 *
 * `cache` is a directory for what was read and for the index of it, by content, so that the same files are not parsed and indexed again.
 * It is created if it is missing; its files contain the text of the documents, and only their owner can read them. Timers and I/O get their turn while it reads. Node's modules are loaded on the
 * first call, so that a web page can import PostChain.
 *
 * @throws PostChainError `invalid_path` if a path does not exist or cannot be read, `invalid_option` if `paths` is not an array of
 *   strings or an option is invalid.
 */
export async function loadDocuments(paths: readonly string[], options: LoadOptions = {}): Promise<LoadedDocuments> {
  parseOption(pathsSchema, { paths }, 'paths');
  const { maxFileBytes = 2_000_000, cache: directory } = parseOption(optionsSchema, options, 'options');
  const { documentFiles } = await import('./document-files.ts');
  const files = await documentFiles(paths);
  const cache = directory === undefined ? null : new (await import('./document-cache.ts')).DocumentCache(directory);
  const documents: Document[] = [];
  const skipped: SkippedFile[] = [];
  for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
    const batch = files.slice(from, from + FILES_AT_ONCE);
    for (const outcome of await Promise.all(batch.map((file) => readDocument(file, maxFileBytes, cache)))) {
      if ('reason' in outcome) skipped.push(outcome);
      else documents.push(outcome);
    }
  }
  await cache?.trim();
  return { documents, skipped };
}

async function readDocument(
  file: DocumentFile,
  maxFileBytes: number,
  cache: DocumentCache | null,
): Promise<Document | SkippedFile> {
  const { invalidPath, readFileStart } = await import('./document-files.ts');
  const { path } = file;
  let bytes: Uint8Array;
  try {
    bytes = await readFileStart(file.absolutePath, maxFileBytes + 1);
  } catch (cause) {
    if (file.named) throw invalidPath(path, 'cannot be read', cause);
    return { path, reason: `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
  if (bytes.length > maxFileBytes) return { path, reason: `too large: more than ${maxFileBytes} bytes` };
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return { path, reason: 'binary: contains a NUL byte' };
  const extension = EXTENSION.exec(path)?.[0].toLowerCase() ?? '';
  const key = cache?.keyOf(extension, bytes);
  const known = key === undefined ? null : await cache?.read(key);
  if (known != null) {
    const document = { path, blocks: known.blocks };
    keepTerms(document, known.terms);
    return document;
  }
  const text = decode(bytes);
  if (text === null) return { path, reason: 'binary or not UTF-8' };
  const blocks = await blocksOf(extension, text);
  if (blocks.length === 0) return { path, reason: 'contains no text' };
  const document = { path, blocks };
  if (cache !== null && key !== undefined) {
    const { terms } = await inTurns(documentTerms(document));
    keepTerms(document, terms);
    await cache.write(key, { blocks, terms });
  }
  return document;
}

/** Returns the text with `\n` line endings and without a byte order mark, or null if the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch {
    return null;
  }
}

/** Loads the reader on first use. A file that it cannot parse is read as plain text. */
async function blocksOf(extension: string, text: string): Promise<Block[]> {
  const read = await readerFor(extension);
  try {
    return await inTurns(read(text));
  } catch {
    return inTurns(readText(text));
  }
}

async function readerFor(extension: string): Promise<(text: string) => Steps<Block[]>> {
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
