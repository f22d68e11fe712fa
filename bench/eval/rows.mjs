import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The rows of a data set: JSON lines of the file whose name up to its first dot is the set's, so that another split of the same form
 * can be given. Null where there is none. Throws for a file with a line that is no JSON.
 *
 * @param {string} folder
 * @param {string} name
 * @returns {{ file: string, rows: readonly any[] } | null}
 */
export function readRows(folder, name) {
  if (!existsSync(folder)) return null;
  const file = readdirSync(folder)
    .toSorted()
    .find((entry) => entry.split('.')[0] === name && entry.endsWith('.jsonl'));
  if (file === undefined) return null;
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  const rows = lines.flatMap((line, at) => (line.trim() === '' ? [] : [rowOf(line, `${file}:${at + 1}`)]));
  return { file, rows };
}

/**
 * @param {string} line
 * @param {string} where
 */
function rowOf(line, where) {
  try {
    return JSON.parse(line);
  } catch {
    throw new TypeError(`${where} is no JSON`);
  }
}
