import type { Document } from '../documents/document.ts';

/** A line of a document that holds text; `number` counts from 1, by the file. */
export interface DocumentLine {
  readonly number: number;
  readonly text: string;
}

/** A document by its path as it is shown, and its lines in order; lines without text are none. */
export interface LinedDocument {
  readonly path: string;
  readonly lines: readonly DocumentLine[];
}

/** The lines of the blocks, as the file numbers them; what stands in one line of the file is one line here. Linear. */
export function linesOf({ path, blocks }: Document): LinedDocument {
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
export function pathMeant(paths: readonly string[], given: string): string | null {
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
