import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the rows of a data set: the JSON lines of the file whose name up to its first dot is `name`, so that other splits can be used.
 * Returns null if there is no such file. Throws for a line that is not valid JSON.
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
    throw new TypeError(`${where} is not valid JSON`);
  }
}
