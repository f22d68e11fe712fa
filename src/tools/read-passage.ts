import { z } from 'zod';
import { oneLine } from '../../machines/text/clip.ts';
import type { Document } from '../documents/document.ts';
import { type Capability, defineCapability } from './capability.ts';
import { listed, quoted } from './quoted.ts';

const MAX_LINES = 200;
const MAX_CHARS = 20_000;
const MAX_PATHS = 20;

const args = z.object({
  path: z.string().describe('The file, as search_documents gives it.'),
  startLine: z.int().optional().describe('The first line, from 1; 1 where it is left out.'),
  endLine: z.int().optional().describe(`The last line; at most ${MAX_LINES} lines are given at a time.`),
});

/**
 * Lets a model read a document around what a search found: its lines with their numbers, at most 200 and 20,000 characters at a time.
 * Only the documents given are there to read, no file. An unknown path, and a first line beyond the end, are failures that say what
 * there is; a range the wrong way round is turned.
 */
export function readPassage(documents: readonly Document[]): Capability {
  const paths = [...new Set(documents.map(({ path }) => path))];
  const read = new Map<string, LinedDocument>();
  const documentAt = (path: string): LinedDocument | undefined => {
    const document = read.get(path) ?? documents.filter((one) => one.path === path).map(linesOf)[0];
    if (document !== undefined) read.set(path, document);
    return document;
  };
  return defineCapability({
    name: 'read_passage',
    description: `Gives the text of a document from one line to another, at most ${MAX_LINES} lines at a time.`,
    arguments: args,
    execute: ({ path, startLine, endLine }) => {
      const document = documentAt(pathMeant(paths, path) ?? '');
      if (document === undefined)
        throw new Error(`there is no document ${quoted(path)}; there are: ${listed(paths, MAX_PATHS)}`);
      return passageText(document, startLine, endLine);
    },
  });
}

function passageText({ path, lines }: LinedDocument, startLine = 1, endLine = startLine + MAX_LINES - 1): string {
  const lastLine = lines.at(-1)?.number ?? 0;
  const [from, to] = [Math.max(1, startLine), Math.max(1, endLine)];
  const start = Math.min(from, to);
  if (start > lastLine) throw new Error(`${oneLine(path, 200)} ends at line ${lastLine}; got line ${start}`);
  const wanted = Math.min(Math.max(from, to), start + MAX_LINES - 1, lastLine);
  const { texts, next } = fitting(lines.filter(({ number }) => number >= start && number <= wanted));
  const end = next === null ? wanted : next - 1;
  const more = end < lastLine ? `; it goes on at line ${end + 1}` : '';
  const head = `${path}, lines ${start}-${end} of ${lastLine}${more}`;
  return [head, ...(texts.length === 0 ? ['These lines hold no text.'] : texts)].join('\n');
}

/** As many of the lines as there is room for, the first in any case, cut where it is too long; and the first that is left out. */
function fitting(lines: readonly DocumentLine[]): { readonly texts: readonly string[]; readonly next: number | null } {
  const texts: string[] = [];
  let room = MAX_CHARS;
  for (const { number, text } of lines) {
    const numbered = `${number}: ${text}`;
    if (numbered.length > room && texts.length > 0) return { texts, next: number };
    texts.push(numbered.length > room ? `${numbered.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')}… (cut)` : numbered);
    room -= numbered.length;
  }
  return { texts, next: null };
}

/** A line of a document that holds text; `number` counts from 1, by the file. */
interface DocumentLine {
  readonly number: number;
  readonly text: string;
}

/** A document by its path as it is shown, and its lines in order; lines without text are none. */
interface LinedDocument {
  readonly path: string;
  readonly lines: readonly DocumentLine[];
}

/** The lines of the blocks, as the file numbers them; what stands in one line of the file is one line here. Linear. */
function linesOf({ path, blocks }: Document): LinedDocument {
  const texts = new Map<number, string[]>();
  for (const block of blocks) {
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
 * The path that was meant: as it is written, without what models put around it (`./`, backslashes, the lines of a passage behind it),
 * or by its end, where only one path ends so. Null where there is none.
 */
function pathMeant(paths: readonly string[], given: string): string | null {
  if (paths.includes(given)) return given;
  const wanted = plain(given.trim().replace(/(?::\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)$/u, ''));
  const same = paths.find((path) => plain(path) === wanted);
  if (same !== undefined || wanted === '') return same ?? null;
  const [only, ...others] = paths.filter((path) => plain(path).endsWith(`/${wanted}`));
  return only !== undefined && others.length === 0 ? only : null;
}

/** With forward slashes, and without what changes nothing. */
function plain(path: string): string {
  const names: string[] = [];
  for (const name of path.replaceAll('\\', '/').split('/')) {
    if (name === '..' && names.length > 0 && names.at(-1) !== '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names.join('/');
}
