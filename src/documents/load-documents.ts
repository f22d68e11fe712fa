import * as z from 'zod/mini';
import { parseOption } from '../internal/options.ts';
import type { ParsedDocument } from './document.ts';
import type { DocumentCache } from './document-cache.ts';
import type { DocumentFile } from './document-files.ts';
import { type LoadedDocuments, readOrReason, type SkippedDocument, typeOfPath } from './read-document.ts';

const FILES_AT_ONCE = 16;

const pathsSchema = z.object({ paths: z.array(z.string(), 'expected an array of paths') });
const optionsSchema = z.strictObject({
  maxFileBytes: z.optional(z.int().check(z.positive())),
  cache: z.optional(z.string().check(z.minLength(1))),
});

export type LoadOptions = Readonly<z.infer<typeof optionsSchema>>;

/**
 * Reads files and directories as documents, in a stable order. Markdown, text, HTML, JSON, CSV, PDF and DOCX are recognized by file extension (see
 * `readDocument`); a file passed by name with another extension is read as text. Files that are binary, larger than `maxFileBytes` (default
 * 2,000,000) or without text are skipped with a reason. So is a PDF or DOCX file in a directory if the package for it is not installed.
 *
 * `cache` is a directory for parsed documents, by content hash, so that the same files are not parsed again.
 * It is created if it is missing; its files contain the text of the documents, and only their owner can read them. Timers and I/O get their turn while it
 * reads. Node's modules are loaded on the first call, so that a web page can import PostChain.
 *
 * @throws PostChainError `invalid_path` if a path does not exist or cannot be read, `invalid_option` if `paths` is not an array of
 *   strings or an option is invalid, `package_missing` if a file passed by name requires a package that is not installed.
 */
export async function loadDocuments(paths: readonly string[], options: LoadOptions = {}): Promise<LoadedDocuments> {
  parseOption(pathsSchema, { paths }, 'paths');
  const { maxFileBytes = 2_000_000, cache: directory } = parseOption(optionsSchema, options, 'options');
  const { documentFiles } = await import('./document-files.ts');
  const files = await documentFiles(paths);
  const cache = directory === undefined ? null : new (await import('./document-cache.ts')).DocumentCache(directory);
  const documents: ParsedDocument[] = [];
  const skipped: SkippedDocument[] = [];
  for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
    const batch = files.slice(from, from + FILES_AT_ONCE);
    for (const outcome of await Promise.all(batch.map((file) => readFile(file, maxFileBytes, cache)))) {
      if ('reason' in outcome) skipped.push(outcome);
      else documents.push(outcome);
    }
  }
  await cache?.trim();
  return { documents, skipped };
}

async function readFile(
  file: DocumentFile,
  maxFileBytes: number,
  cache: DocumentCache | null,
): Promise<ParsedDocument | SkippedDocument> {
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
  const key = cache?.keyOf(typeOfPath(path) ?? 'text', bytes);
  const known = key === undefined ? null : await cache?.read(key);
  if (known != null) return { path, blocks: known };
  const document = await readOrReason({ path, bytes }, file.named);
  // The cache holds no encodings.
  const isPlain = !('reason' in document) && document.encoding === undefined;
  if (isPlain && key !== undefined) await cache?.write(key, document.blocks);
  return document;
}
