import { PostChainError } from '../../machines/contracts/error.ts';
import { JOURNAL_VERSION, type JournalEntry, journalEntrySchema } from '../../machines/contracts/journal-entry.ts';
import type { Redact } from '../../machines/contracts/journal-store.ts';

/** Writes entries as lines, in order; each ends with a checksum over itself and all lines before it. */
export interface LineWriter {
  /** The line of the next entry, without its line feed. Throws where a value of it cannot be written. */
  line(entry: JournalEntry): string;
}

export interface LineReader {
  /** The entry of the next line. Throws `invalid_journal`, which names the entry. */
  entry(line: string): JournalEntry;
  /** The same as the JSON that stands in the line: an entry alone, without its checksum. */
  json(line: string): string;
  /** Entries so far. */
  readonly count: number;
  /** There are no more lines. Throws `invalid_journal` where there was none. */
  end(): void;
  /** A writer that goes on after them. */
  writer(redact?: Redact): LineWriter;
}

/** `{"seq":0,…}` becomes `{"seq":0,…,"sum":"01234567"}`. */
const SUM_START = ',"sum":"';
const TAIL = /,"sum":"([0-9a-f]{8})"\}$/u;

export function lineWriter(redact?: Redact, before = 0): LineWriter {
  let sum = before;
  return {
    line(entry) {
      const text = JSON.stringify(redact ? asRedacted(entry) : entry, redact && redacting(redact)).slice(0, -1);
      sum = checksum(text, sum);
      return `${text}${SUM_START}${hex(sum)}"}`;
    },
  };
}

/** As a journal that was redacted has it. What is to be hidden may be cut in two by the pieces of a reply: its whole text follows. */
export function asRedacted(entry: JournalEntry): JournalEntry {
  if (entry.type === 'run-start') return { ...entry, redacted: true };
  return entry.type === 'text-delta' ? { ...entry, text: '' } : entry;
}

/** A whole journal as the text of a file. */
export function linesOf(journal: readonly JournalEntry[]): string {
  const writer = lineWriter();
  return journal.map((entry) => `${writer.line(entry)}\n`).join('');
}

function redacting(redact: Redact) {
  return (_: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
}

/** `place` is what errors call the journal. */
export function lineReader(place: string): LineReader {
  let count = 0;
  let sum = 0;
  function take(line: string): { readonly entry: JournalEntry; readonly json: string } {
    const tail = TAIL.exec(line);
    if (tail === null) throw damaged(place, count, jsonOf(line) === undefined ? 'it is no JSON' : 'it has no checksum');
    const text = line.slice(0, tail.index);
    const due = checksum(text, sum);
    if (hex(due) !== tail[1])
      throw damaged(place, count, 'its checksum does not fit: it was changed, or stands in another place');
    const json = `${text}}`;
    const entry = readEntry(place, count, jsonOf(json));
    sum = due;
    count += 1;
    return { entry, json };
  }

  return {
    get count() {
      return count;
    },
    entry: (line) => take(line).entry,
    json: (line) => take(line).json,
    end() {
      if (count === 0) throw unreadable(place, 'no run begins in it');
    },
    writer: (redact) => lineWriter(redact, sum),
  };
}

function readEntry(place: string, count: number, value: unknown): JournalEntry {
  const { version, seq } = Object(value) as { readonly version?: unknown; readonly seq?: unknown };
  if (count === 0 && version !== undefined && version !== JOURNAL_VERSION)
    throw damaged(place, 0, `it is of version ${String(version)}, and this PostChain reads version ${JOURNAL_VERSION}`);
  const read = parsed(place, count, value);
  if (!read.success) throw damaged(place, count, `it is no entry of a journal (${whatIsWrong(read.error.issues)})`);
  if (seq !== count) throw damaged(place, count, `entry ${String(seq)} stands in its place`);
  if ((count === 0) !== (read.data.type === 'run-start'))
    throw damaged(place, count, count === 0 ? 'no run begins with it' : 'another run begins in the middle of one');
  return value as JournalEntry;
}

/** What is nested too deep for the stack is no entry either. */
function parsed(place: string, count: number, value: unknown) {
  try {
    return journalEntrySchema.safeParse(value);
  } catch {
    throw damaged(place, count, 'it is nested too deep');
  }
}

function whatIsWrong([issue]: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): string {
  return `${issue?.path.join('.') || 'it'}: ${issue?.message}`;
}

/** CRC-32 of the UTF-8 text, over the checksum of what came before. */
function checksum(text: string, before: number): number {
  return process.getBuiltinModule('node:zlib').crc32(text, before);
}

const hex = (sum: number): string => sum.toString(16).padStart(8, '0');

/** Undefined for what is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function damaged(place: string, seq: number, why: string): PostChainError {
  return unreadable(place, `entry ${seq} cannot be read: ${why}`);
}

export function unreadable(place: string, why: string, cause?: unknown): PostChainError {
  const message = `${place}: ${why}; wanted the journal of a run, as "postchain run" writes it.`;
  return new PostChainError('invalid_journal', message, { cause });
}
