import { PostChainError } from '../../../machines/contracts/error.ts';
import { parseJson } from '../../internal/json-text.ts';
import { durableFormat } from '../durable-format.ts';
import type { DurableEntry } from '../entries.ts';
import { decodeBase85, encodeBase85 } from './base85.ts';
import type { Redact } from './journal-store.ts';

/** Loaded on use, because durable machines also run in browsers, which have no zlib. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * A journal is stored as lines. A plain line is one entry; the others are blocks of entries:
 *
 *     {"seq":0,"atMs":0,"type":"start",…,"sum":"01234567"}
 *     {"seq":1,"count":2,"entries":[…],"sum":"456789ab"}
 *     {"seq":3,"count":9,"attributes":{…},"deflate":"…","sum":"89abcdef"}
 *
 * `sum` is the CRC-32 of all lines so far as they are stored, each without its `sum`, so every changed, missing or moved line is detected.
 * `deflate` is the text of the entries, compressed (raw DEFLATE, with the text of the preceding `deflate` blocks and plain lines as the
 * dictionary) and written in base 85. A block with `"alone":true` has no dictionary, so that it can be read without the lines before it; the
 * dictionaries of later blocks begin after it. `attributes` are those after the block, so that lists need to read only the last line. Each block
 * is one line, so a torn write loses only that block.
 */
export interface LineWriter {
  /** The last attributes in their stored form. */
  readonly attributes: unknown;
  /** Returns the lines of the next entries, without line feeds. Throws if a value cannot be serialized. */
  lines(entries: readonly DurableEntry[]): readonly string[];
}

/** Verifies lines, in order, and parses their entries. All methods throw `invalid_journal`. */
export interface LineReader {
  /** Returns the entries of the next line. */
  read(line: string): readonly ReadEntry[];
  /** Checks that the journal has at least one entry. Call it after the last line. */
  end(): void;
  /** Returns a writer that continues after the lines read so far. */
  writer(options: LineOptions): LineWriter;
}

interface ReadEntry {
  /** Its JSON in the stored form. */
  readonly json: string;
  /** Parses and validates it, which takes longer than reading. Throws `invalid_journal`. */
  readonly entry: () => DurableEntry;
}

export interface LineOptions {
  readonly redact?: Redact | undefined;
  /** Whether to write one entry per line, for people and version control, instead of compressed blocks. */
  readonly isPlain?: boolean;
}

/** The checksum of the lines so far, and the end of their text, which is the dictionary of the next block. */
interface TextState {
  readonly sum: number;
  readonly attributes?: unknown;
  readonly window: Uint8Array;
}

const NO_TEXT: TextState = { sum: 0, window: new Uint8Array() };

/** The end of a text that grows. Adding to it does not copy it each time. */
class TextEnd {
  readonly #keeps: number;
  #bytes: Buffer = Buffer.alloc(0);
  #end = 0;

  /** `keeps`: how many bytes are needed at most. */
  constructor(keeps: number, text: Uint8Array = NO_TEXT.window) {
    this.#keeps = keeps;
    this.add(text);
  }

  last(count = this.#keeps): Buffer {
    return this.#bytes.subarray(Math.max(0, this.#end - count), this.#end);
  }

  add(text: Uint8Array): void {
    const added = text.subarray(-this.#keeps);
    if (this.#end + added.length > this.#bytes.length) {
      const kept = this.last(this.#keeps - added.length);
      // Twice as large as needed, so that it is copied only once per that many bytes of text.
      const next = Buffer.allocUnsafeSlow(Math.min(2 * this.#keeps, 2 * (kept.length + added.length)));
      this.#end = kept.copy(next);
      this.#bytes = next;
    }
    this.#bytes.set(added, this.#end);
    this.#end += added.length;
  }

  clear(): void {
    this.#end = 0;
  }
}

/** A shorter text is not compressed: that would take longer than the rest of the step. */
const MIN_DEFLATED_CHARS = 512;

/** The size of zlib's window. */
const WINDOW_BYTES = 32_768;

/**
 * The end of the window that a writer uses. A step waits for its compression, so it must be fast: level 9 with the whole window takes twice
 * as long or more, and saves a sixth of the bytes. Most of the time for a short text is spent on reading the dictionary.
 */
const MAX_DICTIONARY_BYTES = 12_288;
const dictionaryBytes = (text: Buffer): number => Math.min(MAX_DICTIONARY_BYTES, Math.max(1_024, text.length * 4));

/** The smallest window, as a power of two, that holds that many bytes: zlib clears the memory of the window for each block. */
const windowBits = (bytes: number): number => Math.min(15, Math.max(9, Math.ceil(Math.log2(bytes + 1))));

/** Protects a reader from a forged block that expands without limit. Cloudflare Workers allow no more. */
const MAX_BLOCK_BYTES = 134_217_728;

/** The past of a fork is written at once, so a text longer than this is split into blocks. */
const BLOCK_CHARS = 16_777_216;

const TAIL = /,"sum":"([0-9a-f]{8})"\}$/u;

/** In an entry, `seq` is followed by `atMs`. */
const BLOCK_START = /^\{"seq":\d+,"count":/u;

interface Block {
  readonly entries?: readonly unknown[];
  readonly deflate?: string;
  readonly alone?: true;
  readonly attributes?: unknown;
}

/** Returns the block that a line holds; null for a plain line. */
function blockIn(line: string): Block | null {
  const value = BLOCK_START.test(line) ? (parseJson(line) as Block | undefined) : undefined;
  return typeof value?.deflate === 'string' || Array.isArray(value?.entries) ? value : null;
}

/** The entries of a block, each with its JSON. */
interface Unwritten {
  readonly entries: DurableEntry[];
  readonly texts: string[];
  chars: number;
  attributes: unknown;
}

/** Returns a writer of a new journal, or one that continues after `state`. */
export function lineWriter({ redact, isPlain = false }: LineOptions, state: TextState = NO_TEXT): LineWriter {
  let { sum, attributes } = state;
  const window = new TextEnd(MAX_DICTIONARY_BYTES, state.window);

  function jsonOfEntry(entry: DurableEntry): string {
    const stored = redact ? durableFormat.redact(entry, redact) : entry;
    attributes = durableFormat.attributesIn(stored) ?? attributes;
    return JSON.stringify(stored);
  }

  /** Returns a line with its checksum. `start` is the line up to it. */
  function line(start: string): string {
    sum = zlib().crc32(start, sum);
    return `${start},"sum":"${hex(sum)}"}`;
  }

  const isReadAlone = (entry: DurableEntry): boolean =>
    durableFormat.isEnd(entry) || durableFormat.isReadAlone(entry) || durableFormat.isKeyframe(entry);

  function block({ entries, texts, chars, attributes: known }: Unwritten): string {
    const about = known === undefined ? '' : `,"attributes":${JSON.stringify(known)}`;
    const start = (isAlone: boolean): string =>
      `{"seq":${entries[0]?.seq ?? 0},"count":${entries.length}${isAlone ? ALONE : ''}${about}`;
    // Notes are many, and no step waits for them.
    const isShort = chars < MIN_DEFLATED_CHARS && !entries.every((entry) => durableFormat.isNote(entry));
    const isAlone = entries.some(isReadAlone);
    if (isAlone) window.clear();
    if (isShort) return line(`${start(isAlone)},"entries":[${texts.join(',')}]`);
    const text = Buffer.from(`${texts.join('\n')}\n`);
    if (text.length > MAX_BLOCK_BYTES) throw new Error(`entry ${entries[0]?.seq} is larger than 128 MB`);
    const dictionary = window.last(dictionaryBytes(text));
    const deflated = zlib().deflateRawSync(text, {
      level: 3,
      memLevel: 6,
      windowBits: windowBits(text.length + dictionary.length),
      ...(dictionary.length > 0 && { dictionary }),
    });
    window.add(text);
    return line(`${start(dictionary.length === 0)},"deflate":"${encodeBase85(deflated)}"`);
  }

  function blocksOf(all: readonly DurableEntry[]): readonly Unwritten[] {
    const blocks: Unwritten[] = [];
    for (const entry of all) {
      const text = jsonOfEntry(entry);
      let last = blocks.at(-1);
      // Lists read the first line: what follows in the first step may be large, such as files.
      const startsBlock = entry.seq === 1 || durableFormat.isKeyframe(entry);
      if (last === undefined || startsBlock || last.chars + text.length > BLOCK_CHARS) {
        last = { entries: [], texts: [], chars: 0, attributes };
        blocks.push(last);
      }
      last.entries.push(entry);
      last.texts.push(text);
      last.chars += text.length;
      last.attributes = attributes;
    }
    return blocks;
  }

  return {
    get attributes() {
      return attributes;
    },
    lines: (entries) =>
      isPlain ? entries.map((entry) => line(jsonOfEntry(entry).slice(0, -1))) : blocksOf(entries).map(block),
  };
}

/** Returns a whole journal as the text of a file with one entry per line. */
export function journalText(journal: readonly DurableEntry[]): string {
  const lines = lineWriter({ isPlain: true }).lines(journal);
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns a reader. `place` names the journal in errors. With `startsLate`, the first line need not be that of the journal. */
export function lineReader(place: string, { startsLate = false } = {}): LineReader {
  let count = 0;
  let isLate = startsLate;
  let sum = 0;
  let attributes: unknown;
  const window = new TextEnd(WINDOW_BYTES);
  const damaged = (why: string): PostChainError => damagedAt(place, count, why);

  /** `value` is the parsed `json`. The one that is not stored is derived from the other when it is needed. */
  function readEntry(json: string | null, value?: unknown): ReadEntry {
    const seq = count;
    count += 1;
    return {
      get json() {
        return json ?? JSON.stringify(value);
      },
      entry: () => parsedEntry(place, json === null ? value : parseJson(json), seq),
    };
  }

  return {
    read(line) {
      const tail = TAIL.exec(line);
      if (tail === null) throw damaged(parseJson(line) === undefined ? 'not valid JSON' : 'no checksum');
      const start = line.slice(0, tail.index);
      if (isLate) count = Number(/^\{"seq":(\d+)/u.exec(line)?.[1]);
      // The checksum of the lines before this one is unknown.
      const next = isLate ? Number.parseInt(tail[1] as string, 16) : zlib().crc32(start, sum);
      isLate = false;
      if (hex(next) !== tail[1])
        throw damaged('checksum mismatch, because this line or an earlier one was changed, moved or removed');
      const block = blockIn(line);
      attributes = block?.attributes;
      if (block?.alone === true) window.clear();
      if (block?.entries !== undefined) {
        sum = next;
        return block.entries.map((value) => readEntry(null, value));
      }
      const text = block === null ? Buffer.from(start) : inflated(block, window.last());
      if (text === null) throw damaged('the compressed block is damaged');
      sum = next;
      window.add(text);
      return (block === null ? [`${start}}`] : entryTexts(text)).map((json) => readEntry(json));
    },
    end() {
      if (count === 0) throw unreadable(place, 'the journal is empty');
    },
    writer: (options) => lineWriter(options, { sum, window: window.last(), attributes }),
  };
}

/** Returns the entry with a number from its parsed JSON. Throws `invalid_journal`. */
export function parsedEntry(place: string, value: unknown, seq: number): DurableEntry {
  let entry: DurableEntry;
  try {
    entry = durableFormat.parse(value);
  } catch (error) {
    throw damagedAt(place, seq, error instanceof Error ? error.message : String(error));
  }
  if (entry.seq !== seq) throw damagedAt(place, seq, `expected seq ${seq}; received ${String(entry.seq)}`);
  return entry;
}

export const damagedAt = (place: string, seq: number, why: string): PostChainError =>
  unreadable(place, `cannot read entry ${seq}: ${why}`);

/** Returns the text of a block; null if it is damaged. */
function inflated({ deflate = '' }: Block, window: Uint8Array): Buffer | null {
  const bytes = decodeBase85(deflate);
  try {
    if (bytes === null) return null;
    return zlib().inflateRawSync(bytes, { maxOutputLength: MAX_BLOCK_BYTES, dictionary: window });
  } catch {
    return null;
  }
}

/** Splits the text of a block. JSON contains no line feeds. */
const entryTexts = (text: Buffer): readonly string[] => text.toString('utf8').split('\n').slice(0, -1);

/**
 * Returns the unverified entries of a line that can be read alone. Empty for any other line; null if the line is damaged. `from` and `to`
 * choose entries of a block as in `Array.slice`.
 */
export function entriesInLine(line: string, from = 0, to?: number): readonly unknown[] | null {
  const block = blockIn(line);
  if (block === null) {
    const value = parseJson(line);
    return value === undefined ? null : [value];
  }
  if (block.entries !== undefined) return block.entries.slice(from, to);
  if (block.alone !== true) return [];
  const text = inflated(block, NO_TEXT.window);
  return text === null ? null : entryTexts(text).slice(from, to).map(parseJson);
}

/** Returns the attributes after a block, unverified; undefined for none. */
export const attributesInLine = (line: string): unknown =>
  HAS_ATTRIBUTES.test(line) ? blockIn(line)?.attributes : undefined;

/** Returns the number of the last entry in a line; -1 if the line has none. */
export function lastSeqIn(line: string): number {
  const [, seq, count = '1'] = /^\{"seq":(\d+)(?:,"count":(\d+))?/u.exec(line) ?? [];
  return seq === undefined ? -1 : Number(seq) + Number(count) - 1;
}

const ALONE = ',"alone":true';
const HAS_ATTRIBUTES = new RegExp(`^\\{"seq":\\d+,"count":\\d+(?:${ALONE})?,"attributes":`, 'u');
const ALONE_START = new RegExp(`^\\{"seq":\\d+,"count":\\d+${ALONE},`, 'u');

/** Whether a line holds a keyframe, so that the journal can be read from there. */
export function hasKeyframe(line: string): boolean {
  if (!ALONE_START.test(line)) return false;
  return (entriesInLine(line) ?? []).some((entry) => durableFormat.isKeyframe(entry as DurableEntry));
}

const hex = (sum: number): string => sum.toString(16).padStart(8, '0');

export function unreadable(place: string, why: string, cause?: unknown): PostChainError {
  return new PostChainError('invalid_journal', `${place}: ${why}; expected a journal of PostChain`, { cause });
}
