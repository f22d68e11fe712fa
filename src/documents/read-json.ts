import { clipped } from '../../machines/text/clip.ts';
import type { Steps } from '../internal/async.ts';
import { parseJson } from '../internal/json-text.ts';
import type { Block } from './document.ts';
import { blockOf, type Line } from './lines.ts';

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+|\n/g;
const TOKENS_PER_STEP = 2_000;

/** A value with its key, if any, and the line where it starts. */
interface Value {
  readonly key: string | null;
  readonly line: number;
  /** The text of a string, number or literal; null for an object or array. */
  readonly text: string | null;
  readonly isArray: boolean;
  readonly children: Value[];
  /** The number of values in it, and how deep they are nested. */
  size: number;
  depth: number;
}

/**
 * Returns the blocks of JSON text with `\n` line endings, in steps of 2,000 tokens: one block per record, with a line "key: value" per
 * value and the keys above as the heading path. Small objects and arrays are indented within their record; the heading path of larger
 * ones has the name of their record. The text may also have a JSON value per line, or several one after another; up to 20 invalid
 * lines are read as strings if more lines are valid. Throws a SyntaxError for any other text.
 */
export function* readJson(given: string): Steps<Block[]> {
  const text = validJson(given);
  const root = open(null, 1, true);
  const stack = [root];
  let [line, tokens, key]: [number, number, string | null] = [1, 0, null];
  for (const [token] of text.matchAll(TOKEN)) {
    const inside = stack.at(-1) ?? root;
    if (token === '\n') line += 1;
    else if (token === '}' || token === ']') close(stack.pop() ?? root, stack.at(-1) ?? root);
    else if (token === '{' || token === '[') {
      const value = open(key, line, token === '[');
      inside.children.push(value);
      stack.push(value);
      key = null;
    } else if (token !== ',' && token !== ':') {
      const plain = token.startsWith('"') ? String(JSON.parse(token)) : token;
      if (!inside.isArray && key === null) key = plain;
      else {
        inside.children.push({ ...open(key, line, false), text: plain });
        key = null;
      }
    }
    tokens += 1;
    if (tokens % TOKENS_PER_STEP === 0) yield;
  }
  return yield* blocksOf(root.children.length === 1 ? (root.children[0] ?? root) : root);
}

const MAX_INVALID_LINES = 20;

/** Returns a text that is one JSON value, has one per line, or several one after another, with its invalid lines as strings. */
function validJson(given: string): string {
  try {
    JSON.parse(given);
    return given;
  } catch (error) {
    // Some tools put this character between values, others nothing.
    const text = given.replaceAll('\u001E', '');
    if (isJson(`[${text.replace(/\}\s*(?=\{)/g, '},')}]`)) return text;
    const lines: string[] = [];
    let [values, invalid] = [0, 0];
    for (const line of text.split('\n')) {
      const isValue = line.trim() !== '' && isJson(line);
      if (isValue) values += 1;
      else if (line.trim() !== '') invalid += 1;
      if (invalid > MAX_INVALID_LINES) throw error;
      lines.push(isValue || line.trim() === '' ? line : JSON.stringify(line));
    }
    if (values <= invalid) throw error;
    return lines.join('\n');
  }
}

const isJson = (text: string): boolean => parseJson(text) !== undefined;

const open = (key: string | null, line: number, isArray: boolean): Value => ({
  key,
  line,
  text: null,
  isArray,
  children: [],
  size: 0,
  depth: 0,
});

function close(value: Value, around: Value): void {
  value.size += value.children.length;
  around.size += value.size;
  around.depth = Math.max(around.depth, value.depth + 1);
}

const MAX_INLINE_SIZE = 20;
const MAX_INLINE_DEPTH = 3;
/** The heading path has this many keys: the innermost. */
const MAX_PATH = 12;

/** Whether a value is shown within its record: it is small, and has no records of its own. */
const isInline = (value: Value): boolean =>
  value.text !== null || (value.size <= MAX_INLINE_SIZE && value.depth <= MAX_INLINE_DEPTH && !hasRecords(value));
const hasRecords = ({ isArray, children }: Value): boolean =>
  children.some((child) => child.text === null && (isArray || hasRecords(child)));

function* blocksOf(root: Value): Steps<Block[]> {
  if (root.text !== null)
    return blockOf(
      root.text.split('\n').map((text) => ({ text, line: root.line })),
      [],
      'list',
    );
  const blocks: Block[] = [];
  const open: { value: Value; path: readonly string[] }[] = [{ value: asRecords(root, []), path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    const isWhole = (child: Value): boolean => isInline(child) && (child.text !== null || !value.isArray);
    const own = value.children.filter(isWhole);
    const below = value.isArray ? path : [...path, ...nameOf(own, path.length > 0)];
    const lines = own.flatMap((child) => linesOf(child, 0));
    const isLong = lines.reduce((sum, line) => sum + line.text.length, 0) > LONG_RECORD_CHARS;
    blocks.push(...blockOf(lines, isLong ? below : path, 'list'));
    for (const [at, child] of [...value.children.entries()].reverse())
      if (!isWhole(child))
        open.push({
          value: asRecords(child, value.children),
          path: [...below, child.key ?? `${at + 1}`].slice(-MAX_PATH),
        });
    yield;
  }
  return blocks;
}

const HEADER_KEY = /col|header|field|key|name|label|axes/i;
const isRow = ({ isArray, children }: Value): boolean =>
  isArray && children.length > 1 && children.every(({ text }) => text !== null);

/** Returns a list of lists as a list of records, if a list beside it, or its first list, names the columns. */
function asRecords(table: Value, beside: readonly Value[]): Value {
  const [first, ...others] = table.children;
  if (!table.isArray || first === undefined || !table.children.every(isRow)) return table;
  const isHeader = ({ children }: Value): boolean =>
    table.children.every((row) => row.children.length === children.length) &&
    new Set(children.map(({ text }) => text)).size === children.length &&
    children.every(({ text }) => /^[^\p{N}]*\p{L}[^\p{N}]*$/u.test(text ?? ''));
  // Words may be names or values. They are names if the values below them are of another kind.
  const isData = (at: number): boolean => others.every(({ children }) => DATA.test(children[at]?.text ?? ''));
  const isNamed = others.length > 0 && first.children.some((_, at) => isData(at));
  const lists = beside.filter((list) => isRow(list) && HEADER_KEY.test(list.key ?? ''));
  const header = [...lists, ...(isNamed ? [first] : [])].find(isHeader);
  if (header === undefined) return table;
  const rows = table.children.filter((row) => row !== header);
  const record = (row: Value): Value => ({
    ...row,
    isArray: false,
    children: row.children.map((cell, at) => ({ ...cell, key: header.children[at]?.text ?? null })),
  });
  return { ...table, children: rows.map(record) };
}

const DATA = /\p{N}|^(?:true|false|null)$/u;

const MAX_NAME_CHARS = 80;
/** "firstName: Ada, lastName: Lovelace" */
const MAX_NAMES = 2;
/** The parts of a longer record have its name as a heading. */
const LONG_RECORD_CHARS = 1_000;

const NAME = /name|title|label/i;

/** Returns what names a record with these values: names in it, names in its parts, or, if `always`, its first value; each with its key. */
function nameOf(values: readonly Value[], always: boolean): string[] {
  const named = (some: readonly Value[]) => some.filter(({ key, text }) => text !== null && NAME.test(key ?? ''));
  const lists = [values, ...values.map(({ children }) => children)];
  const names = lists.map(named).find((some) => some.length > 0) ?? [];
  const first = always ? values.find(({ text }) => text !== null) : undefined;
  const chosen = names.length > 0 || first === undefined ? names.slice(0, MAX_NAMES) : [first];
  const text = chosen.map((one) => `${one.key}: ${one.text}`).join(', ');
  return text === '' ? [] : [clipped(text.replace(/\s+/g, ' '), MAX_NAME_CHARS)];
}

function linesOf({ key, text, line, children }: Value, depth: number): Line[] {
  const before = `${'  '.repeat(depth)}- ${key === null ? '' : `${key}:`}`;
  const space = key === null ? '' : ' ';
  const [first = '', ...rest] = (text ?? '').split(/\r?\n/);
  return [
    { text: before + space + first, line },
    ...rest.map((more) => ({ text: `${'  '.repeat(depth + 1)}${more}`, line })),
    ...children.flatMap((child) => linesOf(child, depth + 1)),
  ];
}
