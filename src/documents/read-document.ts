import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { inTurns, type Steps } from '../internal/async.ts';
import { invalidOption, parseOption } from '../internal/options.ts';
import { decodeText } from './decode-text.ts';
import type { Block, ParsedDocument } from './document.ts';
import { typeOfContent } from './known-formats.ts';
import { readDelimited } from './read-delimited.ts';
import { readText } from './read-text.ts';

const TYPES = ['markdown', 'html', 'json', 'csv', 'text', 'pdf', 'docx'] as const;

export type DocumentType = (typeof TYPES)[number];

/**
 * A document to read. `path` is shown to people and models; it need not be a file path. `type` is the format. By default, the extension of
 * the path determines it, otherwise it is `text`. A PDF or DOCX file is given as `bytes`; other formats as text, or as bytes in any usual encoding.
 */
export type Document = { readonly path: string; readonly type?: DocumentType } & (
  | { readonly text: string }
  | { readonly bytes: Uint8Array }
);

const MAX_PATH_CHARS = 1_000;

const fields = z.object({
  path: z.string().check(z.minLength(1), z.maxLength(MAX_PATH_CHARS, 'expected a path of at most 1,000 characters')),
  type: z.optional(z.enum(TYPES)),
  text: z.optional(z.string()),
  bytes: z.optional(z.instanceof(Uint8Array, { error: 'expected a Uint8Array' })),
});
const documentSchema = fields.check(
  z.refine(({ text, bytes }) => (text === undefined) !== (bytes === undefined), 'expected either text or bytes'),
);

type ValidDocument = z.output<typeof documentSchema>;

const describe = (path: string): string => `document ${JSON.stringify(path)}`;

const line = z.int().check(z.gte(1));
const blockSchema = z.object(
  {
    text: z.string(),
    heading: z.array(z.string()),
    startLine: line,
    endLine: line,
    kind: z.enum(['prose', 'list', 'code', 'table']),
    lines: z.array(line),
    language: z.optional(z.string()),
  },
  'expected a block with text, heading, startLine, endLine, kind and lines',
);

const anyDocumentSchema = z
  .extend(fields, { blocks: z.optional(z.array(blockSchema)) })
  .check(
    z.refine(
      ({ text, bytes, blocks }) => [text, bytes, blocks].filter((content) => content !== undefined).length === 1,
      'expected either text, bytes or blocks',
    ),
  );

/** Documents with different paths: the path identifies a source and its passages. */
export const documentsSchema: z.ZodMiniType = z
  .array(anyDocumentSchema, 'expected an array of documents, each with a path and text, for example from loadDocuments')
  .check(
    z.superRefine((documents, context) => {
      const first = new Map<string, number>();
      for (const [at, { path }] of documents.entries()) {
        const earlier = first.get(path);
        if (earlier !== undefined)
          context.addIssue({
            code: 'custom',
            path: [at, 'path'],
            message: `expected a different path from document ${earlier}`,
          });
        else first.set(path, at);
      }
    }),
  );

const EXTENSIONS: Readonly<Record<string, DocumentType>> = {
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'markdown',
  html: 'html',
  htm: 'html',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  csv: 'csv',
  tsv: 'csv',
  tab: 'csv',
  psv: 'csv',
  pdf: 'pdf',
  docx: 'docx',
};

const extensionOf = (path: string): string => /(?<=[^/\\]\.)[^./\\]*$/u.exec(path)?.[0].toLowerCase() ?? '';

export function typeOfPath(path: string): DocumentType | null {
  const extension = extensionOf(path);
  return Object.hasOwn(EXTENSIONS, extension) ? (EXTENSIONS[extension] ?? null) : null;
}

/**
 * Reads a document into blocks, which `createPassageIndex` and `readPassage` accept. PDF requires the package `unpdf` and DOCX the
 * package `mammoth`; both need Node. A page of a PDF becomes a heading, and line numbers refer to the extracted text. Markdown, HTML or JSON
 * that cannot be parsed is read as plain text. Timers and I/O get their turn while it reads. A PDF or DOCX file may take at most 60 s and
 * 1,000 MB of memory. A DOCX file may unpack to at most 20 MB, not counting pictures, and 50 MB in total.
 *
 * @throws PostChainError `invalid_option` if it is not a document, or its bytes are not of its type; `package_missing`
 * @example
 * const index = createPassageIndex([await readDocument({ path: 'faq.md', text: '# Opening hours\n\nFrom nine to five.' })]);
 */
export async function readDocument(document: Document): Promise<ParsedDocument> {
  const given = parseOption(documentSchema, document, 'document');
  const { path } = given;
  const read = await contentOf(given);
  if (typeof read !== 'string') return { path, ...read };
  throw new PostChainError('invalid_option', `${describe(path)}: ${read}.`);
}

type Content = Omit<ParsedDocument, 'path'>;

/**
 * Returns the blocks of a document, or why it cannot be read.
 *
 * @throws PostChainError `package_missing`
 */
async function contentOf(document: ValidDocument): Promise<Content | string> {
  const { path, text: given, bytes } = document;
  const known = typeOfContent(extensionOf(path), document.type ?? typeOfPath(path), given ?? bytes ?? '');
  if (typeof known === 'string') return known;
  const { type } = known;
  if (type === 'pdf' || type === 'docx') {
    if (bytes === undefined) return `expected the bytes of a ${type.toUpperCase()} file; received text`;
    const read = type === 'pdf' ? pdfBlocks : (await import('./read-docx.ts')).readDocx;
    const blocks = await read(bytes, describe(path));
    if (typeof blocks === 'object' && blocks !== null) return { blocks };
    return blocks ?? `it is not a ${type.toUpperCase()} file, or it is damaged or encrypted`;
  }
  const decoded =
    given === undefined ? await decodeText(bytes ?? new Uint8Array()) : { text: given, encoding: 'utf-8' };
  if (decoded === null) return 'it is binary, or in an unknown encoding';
  const { text, encoding } = decoded;
  const assumed = encoding === 'utf-8' ? {} : { encoding };
  const lines = text.replaceAll('\uFEFF', '').replace(/\r\n?/gu, '\n');
  const read = await readerFor(type);
  try {
    return { blocks: await inTurns(read(lines)), ...assumed };
  } catch {
    return { blocks: await inTurns(readText(lines)), ...assumed };
  }
}

async function readerFor(type: DocumentType): Promise<(text: string) => Steps<Block[]>> {
  if (type === 'markdown') return (await import('./read-markdown.ts')).readMarkdown;
  if (type === 'html') return (await import('./read-html.ts')).readHtml;
  if (type === 'json') return (await import('./read-json.ts')).readJson;
  if (type === 'csv') return readDelimited;
  return readText;
}

/** Returns the extracted text of a PDF, or see `pdfPages` if it cannot be read. A scanned page without text has no block. */
async function pdfBlocks(bytes: Uint8Array, what: string): Promise<readonly Block[] | string | null> {
  const { pdfPages } = await import('./office-files.ts');
  const pages = await pdfPages(bytes, what);
  if (!Array.isArray(pages)) return pages as string | null;
  const blocks: Block[] = [];
  let line = 0;
  for (const [at, page] of pages.entries()) {
    const text = page.replace(/\r\n?/gu, '\n');
    for (const block of await inTurns(readText(text))) blocks.push(onPage(block, at + 1, line));
    line += text.split('\n').length;
  }
  return blocks;
}

/** `before` is the number of lines on earlier pages. */
const onPage = (block: Block, page: number, before: number): Block => ({
  ...block,
  heading: [`Page ${page}`],
  startLine: block.startLine + before,
  endLine: block.endLine + before,
  lines: block.lines.map((line) => line + before),
});

/** A document that was not read, and why. `path` is empty if the document has none. */
export interface SkippedDocument {
  readonly path: string;
  readonly reason: string;
}

export interface LoadedDocuments {
  readonly documents: ParsedDocument[];
  readonly skipped: SkippedDocument[];
}

const iterableSchema = z.custom<AsyncIterable<unknown> | Iterable<unknown>>(
  (value) => Object(value) === value && (Symbol.iterator in Object(value) || Symbol.asyncIterator in Object(value)),
  'expected an array, an iterable or an async iterable of documents',
);

/**
 * Reads documents one after another, for example from a database or a crawler. Those that are invalid, cannot be read, require a package
 * that is not installed, have no text, or have the path of an earlier one, are skipped with a reason. Rejects if the iterable does.
 *
 * @throws PostChainError `invalid_option` if `given` is not iterable.
 * @example
 * const { documents } = await documentsFrom(rows.map(({ id, body }) => ({ path: `faq/${id}`, text: body })));
 */
export async function documentsFrom(given: AsyncIterable<Document> | Iterable<Document>): Promise<LoadedDocuments> {
  const documents = new Map<string, ParsedDocument>();
  const skipped: SkippedDocument[] = [];
  for await (const document of parseOption(iterableSchema, given, 'documents')) {
    const outcome = await readOrReason(document);
    if ('reason' in outcome) skipped.push(outcome);
    else if (documents.has(outcome.path))
      skipped.push({ path: outcome.path, reason: 'an earlier document has the same path' });
    else documents.set(outcome.path, outcome);
  }
  return { documents: [...documents.values()], skipped };
}

/**
 * Returns a document, or the reason if it is invalid, cannot be read or has no text. A missing package is also a reason, unless
 * `packageRequired` is true.
 *
 * @throws PostChainError `package_missing`
 */
export async function readOrReason(
  document: unknown,
  packageRequired = false,
): Promise<ParsedDocument | SkippedDocument> {
  const given = documentSchema.safeParse(document);
  if (!given.success) {
    const { path } = Object(document) as { path?: unknown };
    const { message } = invalidOption('document', document, given.error);
    return { path: typeof path === 'string' ? path : '', reason: message.replace(/\.$/u, '') };
  }
  const { path } = given.data;
  try {
    const read = await contentOf(given.data);
    if (typeof read === 'string') return { path, reason: read };
    return read.blocks.length === 0 ? { path, reason: 'contains no text' } : { path, ...read };
  } catch (error) {
    if (packageRequired || !(error instanceof PostChainError)) throw error;
    return { path, reason: error.message.replace(`${describe(path)} `, '') };
  }
}
