import { PostChainError } from '../../machines/contracts/error.ts';
import {
  JOURNAL_VERSION,
  type JournalEntry,
  journalEntrySchema,
  type Redact,
  type RunStart,
} from '../../machines/contracts/journal.ts';

/** Serializes entries to lines, in order. Each line ends with a checksum over itself and all lines before it. */
export interface LineWriter {
  /** Returns the line of the next entry, without its line feed. Throws if a value cannot be serialized. */
  line(entry: JournalEntry): string;
}

/** Parses and verifies lines, in order. Every method throws `invalid_journal`, with the number of the entry that is wrong. */
export interface LineReader {
  /** Returns the entry of the next line. */
  entry(line: string): JournalEntry;
  /** Returns the JSON of the next entry, without the checksum. */
  json(line: string): string;
  /** Checks that the journal has at least one entry. Call it after the last line. */
  end(): void;
  /** Returns a writer that continues after the lines read so far. */
  writer(redact?: Redact): LineWriter;
}

/** `{"seq":0,…}` becomes `{"seq":0,…,"sum":"01234567"}`. */
const SUM_START = ',"sum":"';
const TAIL = /,"sum":"([0-9a-f]{8})"\}$/u;

/** Returns a writer of a new journal, or of one whose lines so far have the checksum `previousSum`. */
export function lineWriter(redact?: Redact, previousSum = 0): LineWriter {
  let sum = previousSum;
  return {
    line(entry) {
      const text = JSON.stringify(redact ? asRedacted(entry) : entry, redact && redactStrings(redact)).slice(0, -1);
      sum = checksum(text, sum);
      return `${text}${SUM_START}${hex(sum)}"}`;
    },
  };
}

/**
 * Returns an entry as a redacted journal stores it: the start is marked, and streamed text is empty, because a secret may be split
 * across two deltas. The full text follows in the reply, which is redacted as a whole.
 */
export function asRedacted(entry: JournalEntry): JournalEntry {
  if (entry.type === 'run-start') return { ...entry, redacted: true };
  return entry.type === 'text-delta' ? { ...entry, text: '' } : entry;
}

/** Returns a whole journal as the text of a file. */
export function linesOf(journal: readonly JournalEntry[]): string {
  const writer = lineWriter();
  return journal.map((entry) => `${writer.line(entry)}\n`).join('');
}

/** Collects a journal into a list. */
export async function entriesOf(journal: AsyncIterable<JournalEntry>): Promise<readonly JournalEntry[]> {
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

function redactStrings(redact: Redact) {
  return (_: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
}

/** Returns a reader. `place` names the journal in errors. */
export function lineReader(place: string): LineReader {
  let count = 0;
  let sum = 0;
  function read(line: string): { readonly entry: JournalEntry; readonly json: string } {
    const tail = TAIL.exec(line);
    if (tail === null) throw damaged(place, count, jsonOf(line) === undefined ? 'not valid JSON' : 'no checksum');
    const text = line.slice(0, tail.index);
    const expected = checksum(text, sum);
    if (hex(expected) !== tail[1])
      throw damaged(
        place,
        count,
        'checksum mismatch, because this line or an earlier one was changed, moved or removed',
      );
    const json = `${text}}`;
    const entry = validEntry(place, count, jsonOf(json));
    sum = expected;
    count += 1;
    return { entry, json };
  }

  return {
    entry: (line) => read(line).entry,
    json: (line) => read(line).json,
    end() {
      if (count === 0) throw unreadable(place, 'the journal is empty');
    },
    writer: (redact) => lineWriter(redact, sum),
  };
}

function validEntry(place: string, count: number, value: unknown): JournalEntry {
  const { version, seq } = Object(value) as { readonly version?: unknown; readonly seq?: unknown };
  if (count === 0 && version !== undefined && version !== JOURNAL_VERSION)
    throw damaged(
      place,
      0,
      `format version ${String(version)} is not supported; this PostChain reads version ${JOURNAL_VERSION}`,
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

/** CRC-32 of the UTF-8 text, continued from the checksum of the lines before. */
function checksum(text: string, before: number): number {
  return process.getBuiltinModule('node:zlib').crc32(text, before);
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
