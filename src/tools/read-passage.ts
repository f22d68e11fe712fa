import * as z from 'zod/mini';
import { clippedLine } from '../../machines/text/clip.ts';
import type { ParsedDocument } from '../documents/document.ts';
import { zodJsonSchema } from '../internal/zod-json-schema.ts';
import { type Capability, defineCapability } from './capability.ts';
import { listed, quoted } from './error-text.ts';

const MAX_LINES = 200;
const MAX_CHARS = 20_000;
const MAX_PATHS = 20;

const args = z.object({
  path: z.string().check(z.describe('The file, as returned by search_documents.')),
  startLine: z.optional(z.int()).check(z.describe('The first line, counted from 1. Default: 1.')),
  endLine: z.optional(z.int()).check(z.describe(`The last line. At most ${MAX_LINES} lines are returned at a time.`)),
});

/**
 * Returns a capability that lets the model read a document around a search result: numbered lines, at most 200 and 20,000 characters
 * at a time. It reads the given documents only, never a file. An unknown path, or a first line beyond the end, fails with what is
 * available. A reversed range is swapped.
 */
export function readPassage(documents: readonly (ParsedDocument | TextDocument)[]): Capability {
  const paths = [...new Set(documents.map(({ path }) => path))];
  const read = new Map<string, LinedDocument>();
  const documentAt = (path: string): LinedDocument | undefined => {
    const document = read.get(path) ?? documents.filter((one) => one.path === path).map(withLines)[0];
    if (document !== undefined) read.set(path, document);
    return document;
  };
  return defineCapability({
    name: 'read_passage',
    description: `Returns a range of lines of a document, at most ${MAX_LINES} lines at a time.`,
    arguments: args,
    jsonSchema: zodJsonSchema(args),
    execute: ({ path, startLine, endLine }) => {
      const document = documentAt(resolvePath(paths, path) ?? '');
      if (document === undefined)
        throw new Error(`unknown document ${quoted(path)}; expected one of: ${listed(paths, MAX_PATHS)}`);
      return passageText(document, startLine, endLine);
    },
  });
}

function passageText({ path, lines }: LinedDocument, startLine = 1, endLine = startLine + MAX_LINES - 1): string {
  const lastLine = lines.at(-1)?.number ?? 0;
  const [from, to] = [Math.max(1, startLine), Math.max(1, endLine)];
  const start = Math.min(from, to);
  if (start > lastLine)
    throw new Error(`${clippedLine(path, 200)} ends at line ${lastLine}; received startLine ${start}`);
  const last = Math.min(Math.max(from, to), start + MAX_LINES - 1, lastLine);
  const { texts, next } = fitting(lines.filter(({ number }) => number >= start && number <= last));
  const end = next === null ? last : next - 1;
  const more = end < lastLine ? `; continues at line ${end + 1}` : '';
  const head = `${path}, lines ${start}-${end} of ${lastLine}${more}`;
  return [head, ...(texts.length === 0 ? ['These lines have no text.'] : texts)].join('\n');
}

/**
 * Returns as many lines as the character limit allows, and the number of the first omitted line or null. The first line is always
 * included; it is cut if it is too long.
 */
function fitting(lines: readonly DocumentLine[]): { readonly texts: readonly string[]; readonly next: number | null } {
  const texts: string[] = [];
  let remaining = MAX_CHARS;
  for (const { number, text } of lines) {
    const line = `${number}: ${text}`;
    if (line.length > remaining && texts.length > 0) return { texts, next: number };
    texts.push(line.length > remaining ? `${line.slice(0, remaining).replace(/[\uD800-\uDBFF]$/, '')}… (cut)` : line);
    remaining -= line.length;
  }
  return { texts, next: null };
}

/** A line with text; `number` is its line in the file, counted from 1. */
interface DocumentLine {
  readonly number: number;
  readonly text: string;
}

interface LinedDocument {
  readonly path: string;
  readonly lines: readonly DocumentLine[];
}

/** A document that was not read into blocks. */
interface TextDocument {
  readonly path: string;
  readonly text: string;
}

/** Several blocks may come from one line of the file. */
function withLines(document: ParsedDocument | TextDocument): LinedDocument {
  const { path } = document;
  if ('text' in document) {
    const lines = document.text.split(/\r\n?|\n/u).map((text, at) => ({ number: at + 1, text }));
    return { path, lines: lines.filter(({ text }) => text.trim() !== '') };
  }
  const texts = new Map<number, string[]>();
  for (const block of document.blocks) {
    for (const [at, text] of block.text.split('\n').entries()) {
      const number = block.lines[at] ?? block.endLine;
      const known = texts.get(number);
      if (known === undefined) texts.set(number, [text]);
      else known.push(text);
    }
  }
  const lines = [...texts].map(([number, inLine]) => ({ number, text: inLine.join('\n') }));
  return { path, lines: lines.sort((left, right) => left.number - right.number) };
}

/**
 * Returns the path that the model means, or null: the exact path, the path without what models often add (`./`, backslashes, line
 * numbers), or the only path that ends this way.
 */
function resolvePath(paths: readonly string[], given: string): string | null {
  if (paths.includes(given)) return given;
  const normalized = normalizePath(given.trim().replace(/(?::\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)$/u, ''));
  const same = paths.find((path) => normalizePath(path) === normalized);
  if (same !== undefined || normalized === '') return same ?? null;
  const [only, ...others] = paths.filter((path) => normalizePath(path).endsWith(`/${normalized}`));
  return only !== undefined && others.length === 0 ? only : null;
}

/** Uses forward slashes and resolves `.` and `..`. */
function normalizePath(path: string): string {
  const names: string[] = [];
  for (const name of path.replaceAll('\\', '/').split('/')) {
    if (name === '..' && names.length > 0 && names.at(-1) !== '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names.join('/');
}
