import { PostChainError } from '../../machines/contracts/error.ts';
import {
  JOURNAL_VERSION,
  type JournalEntry,
  journalEntrySchema,
  type Redact,
  type RunStart,
} from '../../machines/contracts/journal.ts';
import { fromVersion1, withCallLists } from './older-entries.ts';

/** Loaded on use, because the rest of PostChain also runs in browsers, which have no zlib. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * A journal is stored as lines. A plain line is one entry; a compressed line is a block of entries:
 *
 *     {"seq":0,"atMs":0,"type":"run-start",…,"sum":"01234567"}
 *     {"seq":1,"count":9,"deflate":"…","sum":"89abcdef"}
 *
 * `sum` is the CRC-32 of all lines so far as they are stored, each without its `sum`, so every changed, missing or moved line is detected.
 * `deflate` is the text of the entries in Base64, compressed with zlib and the preceding text as the dictionary. A block with
 * `"restart":true` has no dictionary, so reading can continue there after damage. Each block is one line, so a torn write loses only that
 * block.
 */
export interface LineWriter {
  /** Returns the lines of the next entries, without line feeds. Throws if a value cannot be serialized. */
  lines(entries: readonly JournalEntry[]): readonly string[];
}

/** Parses and verifies lines, in order. `read` and `end` throw `invalid_journal`. */
export interface LineReader {
  /** Returns the entries of the next line, each with its JSON. */
  read(line: string): readonly ReadEntry[];
  /** Checks that the journal has at least one entry. Call it after the last line. */
  end(): void;
  /** Returns a writer that continues after the lines read so far. */
  writer(options: LineOptions): LineWriter;
}

export interface ReadEntry {
  readonly entry: JournalEntry;
  readonly json: string;
}

export interface LineOptions {
  readonly redact?: Redact | undefined;
  /** Whether to write blocks instead of plain lines. */
  readonly isCompressed?: boolean;
}

/** The checksum of the lines so far, and the end of their text, which is the dictionary of the next block. */
interface TextState {
  readonly sum: number;
  readonly window: Uint8Array;
  /** Bytes of text since the last block without a dictionary. */
  readonly sinceRestart: number;
}

const NO_BYTES = new Uint8Array();
const NO_TEXT: TextState = { sum: 0, window: NO_BYTES, sinceRestart: 0 };

/** The size of zlib's window. */
const WINDOW_BYTES = 32_768;

/** After this much text, a block starts without a dictionary. Each such block costs as much space as several others. */
const RESTART_BYTES = 131_072;

/** Protects a reader from a forged block that expands without limit. */
const MAX_BLOCK_BYTES = 268_435_456;

const TAIL = /,"sum":"([0-9a-f]{8})"\}$/u;

/** In an entry, `seq` is followed by `atMs`. */
const BLOCK_START = /^\{"seq":\d+,"count":/u;

interface Block {
  readonly deflate: string;
  readonly restart?: true;
}

/** Returns the block that a line holds; null for a plain line. */
function blockIn(line: string): Block | null {
  const value = jsonOf(line);
  return typeof (value as Partial<Block> | undefined)?.deflate === 'string' ? (value as Block) : null;
}

/** Returns the state after a line with the checksum `sum` and the given text. */
function advanced({ window, sinceRestart }: TextState, sum: number, text: Buffer, isRestart: boolean): TextState {
  return {
    sum,
    window: text.length >= WINDOW_BYTES ? text.subarray(-WINDOW_BYTES) : lastOf(window, text),
    sinceRestart: isRestart ? text.length : sinceRestart + text.length,
  };
}

const lastOf = (window: Uint8Array, text: Buffer): Uint8Array => Buffer.concat([window, text]).subarray(-WINDOW_BYTES);

/** Returns a writer of a new journal, or one that continues after `from`. */
export function lineWriter({ redact, isCompressed = false }: LineOptions = {}, from: TextState = NO_TEXT): LineWriter {
  let state = from;
  const jsonOfEntry = (entry: JournalEntry): string =>
    JSON.stringify(redact ? asRedacted(entry) : entry, redact && redactStrings(redact));

  /** Returns a line with its checksum. `start` is the line up to it. */
  function line(start: string, text: Buffer, isRestart: boolean): string {
    state = advanced(state, zlib().crc32(start, state.sum), text, isRestart);
    return `${start},"sum":"${hex(state.sum)}"}`;
  }

  function plainLine(entry: JournalEntry): string {
    const start = jsonOfEntry(entry).slice(0, -1);
    return line(start, Buffer.from(start), false);
  }

  function block(entries: readonly JournalEntry[]): string {
    const text = Buffer.from(`${entries.map(jsonOfEntry).join('\n')}\n`);
    // The first and last blocks can be read alone, because `list()` reads only those lines.
    const isRestart = state.sinceRestart + text.length > RESTART_BYTES || isStartOrEnd(entries);
    const dictionary = isRestart || state.window.length === 0 ? undefined : state.window;
    const deflated = zlib().deflateSync(text, dictionary ? { dictionary } : {});
    const restart = isRestart ? '"restart":true,' : '';
    const count = `"seq":${entries[0]?.seq ?? 0},"count":${entries.length}`;
    return line(`{${count},${restart}"deflate":"${deflated.toString('base64')}"`, text, isRestart);
  }

  return {
    lines: (entries) => (isCompressed ? blocksOf(entries).map(block) : entries.map(plainLine)),
  };
}

/** Attachments are in blocks of their own, so that a list of runs, which reads their first entries, does not read them. */
function blocksOf(entries: readonly JournalEntry[]): readonly (readonly JournalEntry[])[] {
  const blocks: JournalEntry[][] = [];
  for (const entry of entries) {
    const last = blocks.at(-1);
    if (last !== undefined && entry.type !== 'attachment' && last[0]?.type !== 'attachment') last.push(entry);
    else blocks.push([entry]);
  }
  return blocks;
}

function isStartOrEnd(entries: readonly JournalEntry[]): boolean {
  return entries[0]?.type === 'run-start' || entries.at(-1)?.type === 'run-end';
}

/**
 * Returns an entry as a redacted journal stores it. The start is marked. Attachments have no bytes. Streamed text is empty, because a
 * secret may be split across two deltas; the whole text follows in the reply, which is redacted.
 */
export function asRedacted(entry: JournalEntry): JournalEntry {
  if (entry.type === 'run-start') return { ...entry, redacted: true };
  return entry.type === 'text-delta' ? { ...entry, text: '' } : withoutBytes(entry);
}

/** Returns an entry without the bytes of an attachment, as it is shown, exported and redacted. */
export function withoutBytes(entry: JournalEntry): JournalEntry {
  return entry.type === 'attachment' ? { ...entry, data: '' } : entry;
}

/** Returns a `JSON.stringify` replacer that redacts every string value. */
export function redactStrings(redact: Redact) {
  return (_: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
}

/** Returns a whole journal as the text of a file with one entry per line. */
export function linesOf(journal: readonly JournalEntry[]): string {
  return lineWriter()
    .lines(journal)
    .map((line) => `${line}\n`)
    .join('');
}

/** Collects a journal into a list. */
export async function entriesOf(
  journal: AsyncIterable<JournalEntry> | Iterable<JournalEntry>,
): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of journal) entries.push(entry);
  return entries;
}

/** Returns the first entry of a journal. Throws `invalid_journal` if it is not `run-start`. */
export function runStartOf([start]: readonly JournalEntry[]): RunStart {
  if (start?.type === 'run-start') return start;
  throw new PostChainError(
    'invalid_journal',
    `A journal must begin with "run-start"; received ${start === undefined ? 'an empty journal' : `"${start.type}"`}`,
  );
}

/** Returns a reader. `place` names the journal in errors. */
export function lineReader(place: string): LineReader {
  let count = 0;
  let version = JOURNAL_VERSION as number;
  let state = NO_TEXT;

  function readEntry(json: string): ReadEntry {
    const value = jsonOf(json);
    if (count === 0) version = Number((value as { version?: unknown } | undefined)?.version ?? JOURNAL_VERSION);
    const current = withCallLists(version === 1 ? fromVersion1(value) : value);
    const entry = validEntry(place, count, current);
    count += 1;
    return { entry, json: current === value ? json : JSON.stringify(entry) };
  }

  return {
    read(line) {
      const tail = TAIL.exec(line);
      if (tail === null) throw damaged(place, count, jsonOf(line) === undefined ? 'not valid JSON' : 'no checksum');
      const start = line.slice(0, tail.index);
      const sum = zlib().crc32(start, state.sum);
      if (hex(sum) !== tail[1])
        throw damaged(
          place,
          count,
          'checksum mismatch, because this line or an earlier one was changed, moved or removed',
        );
      const block = BLOCK_START.test(line) ? blockIn(line) : null;
      const isRestart = block?.restart === true;
      const text = block === null ? Buffer.from(start) : inflated(block, isRestart ? null : state.window);
      if (text === null) throw damaged(place, count, 'the compressed block is damaged');
      state = advanced(state, sum, text, isRestart);
      return (block === null ? [`${start}}`] : entryTexts(text)).map(readEntry);
    },
    end() {
      if (count === 0) throw unreadable(place, 'the journal is empty');
    },
    writer: (options) => lineWriter(options, state),
  };
}

/** Returns the text of a block; null if it is damaged. The dictionary is null for a block that needs none. */
function inflated({ deflate }: Block, dictionary: Uint8Array | null): Buffer | null {
  try {
    return zlib().inflateSync(Buffer.from(deflate, 'base64'), {
      maxOutputLength: MAX_BLOCK_BYTES,
      ...(dictionary !== null && dictionary.length > 0 && { dictionary }),
    });
  } catch {
    return null;
  }
}

/** Splits the text of a block. JSON contains no line feeds. */
const entryTexts = (text: Buffer): readonly string[] => text.toString('utf8').split('\n').slice(0, -1);

/**
 * Returns the unverified entries of a line that can be read alone: a plain line, or a block without a dictionary. Empty for any other line;
 * null if the line is damaged. `from` and `to` choose entries of a block as in `Array.slice`.
 */
export function entriesInLine(line: string, from = 0, to?: number): readonly unknown[] | null {
  const block = BLOCK_START.test(line) ? blockIn(line) : null;
  if (block === null) {
    const value = jsonOf(line);
    return value === undefined ? null : [value];
  }
  if (block.restart !== true) return [];
  const text = inflated(block, null);
  return text === null ? null : entryTexts(text).slice(from, to).map(jsonOf);
}

function validEntry(place: string, count: number, value: unknown): JournalEntry {
  const { version, seq } = Object(value) as { readonly version?: unknown; readonly seq?: unknown };
  if (count === 0 && version !== undefined && version !== JOURNAL_VERSION && version !== 1)
    throw damaged(
      place,
      0,
      `format version ${String(version)} is not supported; this PostChain reads versions 1 and ${JOURNAL_VERSION}`,
    );
  const read = parseEntry(place, count, value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw damaged(place, count, `not a journal entry (${issue?.path.join('.') || 'value'}: ${issue?.message})`);
  }
  if (seq !== count) throw damaged(place, count, `expected seq ${count}; received ${String(seq)}`);
  if ((count === 0) !== (read.data.type === 'run-start'))
    throw damaged(
      place,
      count,
      count === 0 ? `expected "run-start"; received "${read.data.type}"` : 'a second "run-start" in one journal',
    );
  return value as JournalEntry;
}

function parseEntry(place: string, count: number, value: unknown) {
  try {
    return journalEntrySchema.safeParse(value);
  } catch {
    // The schema is recursive: deeply nested input overflows the stack.
    throw damaged(place, count, 'nested too deeply');
  }
}

const hex = (sum: number): string => sum.toString(16).padStart(8, '0');

/** Parses JSON; returns undefined if the text is not valid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function damaged(place: string, seq: number, why: string): PostChainError {
  return unreadable(place, `cannot read entry ${seq}: ${why}`);
}

export function unreadable(place: string, why: string, cause?: unknown): PostChainError {
  const message = `${place}: ${why}; expected the journal of a run, as "postchain run" writes it`;
  return new PostChainError('invalid_journal', message, { cause });
}
