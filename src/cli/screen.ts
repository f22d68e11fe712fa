import pc from 'picocolors';
import wrapAnsi from 'wrap-ansi';
import { cutEnd, cutStart, printable } from '../internal/printable.ts';

export const CLEAR_LINE = '\r\u001b[2K';
const NAME_CHARS = 14;
const TIME_CHARS = 8;
/** If fewer characters are left, the text starts on a line of its own. */
const MIN_TEXT_CHARS = 24;
const HANGING_INDENT = 4;

export interface StandardStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export type Colors = ReturnType<typeof pc.createColors>;

export interface Entry {
  readonly name?: string;
  readonly ms?: number;
  readonly text: string;
  readonly tone?: 'plain' | 'bad' | 'aside';
  /** Prefix of the line. */
  readonly mark?: string;
  /** Whether a text that is too long is cut instead of wrapped. */
  readonly cut?: boolean;
}

/** Writes lines and, on a terminal, one status line that is overwritten. */
export interface Screen {
  line(text: string): void;
  /** Writes a line of progress, wrapped to the width of the terminal. Its text may come from an untrusted journal. */
  entry(entry: Entry): void;
  /** Overwrites the status line with the end of a text. Does nothing without a terminal. */
  status(name: string, text: string): void;
  clear(): void;
}

/** Returns the colors for a stream: on a terminal unless NO_COLOR is set, and always with FORCE_COLOR. */
export function colorsFor(out: NodeJS.WriteStream): Colors {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  return pc.createColors(FORCE_COLOR ? FORCE_COLOR !== '0' : out.isTTY === true && !NO_COLOR);
}

/** Returns the maximum line width; infinite without a terminal. */
export function columnsOf(out: NodeJS.WriteStream): number {
  return out.isTTY ? Math.max(20, (out.columns || 80) - 1) : Number.POSITIVE_INFINITY;
}

/** Returns a text whose spaces do not end a line: for a name and its value. */
export const unbroken = (text: string): string => text.replaceAll(' ', NO_BREAK);
const NO_BREAK = '\u00a0';

function wrap(text: string, columns: number): readonly string[] {
  const wrapped = Number.isFinite(columns) ? wrapAnsi(text, columns, { hard: true }) : text;
  return wrapped.replaceAll(NO_BREAK, ' ').split('\n');
}

/** Wraps each line of a text to the width of a terminal. Further lines are indented by four more characters than the first. */
export function wrapLines(text: string, out: NodeJS.WriteStream): string {
  return text
    .split('\n')
    .map((line) => {
      const indent = /^ */u.exec(line)?.[0] ?? '';
      const columns = columnsOf(out) - indent.length;
      const [first = '', ...rest] = wrap(line.slice(indent.length), columns);
      if (rest.length === 0) return `${indent}${first}`;
      const others = wrap(line.slice(indent.length + first.length).trimStart(), columns - HANGING_INDENT);
      return [first, ...others.map((other) => `${' '.repeat(HANGING_INDENT)}${other}`)]
        .map((one) => `${indent}${one}`)
        .join('\n');
    })
    .join('\n');
}

/** Formats a time, in ISO 8601 or in milliseconds since the epoch, as `2026-11-22 02:59` in the local time zone. */
export function localTime(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const [month, day, hours, minutes] = [date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes()].map(
    (number) => String(number).padStart(2, '0'),
  );
  return `${date.getFullYear()}-${month}-${day} ${hours}:${minutes}`;
}

export function createScreen(out: NodeJS.WriteStream): Screen {
  const colors = colorsFor(out);
  const tones = { plain: String, bad: colors.red, aside: colors.dim };
  let hasStatus = false;

  const width = (): number => columnsOf(out);
  const clear = (): void => {
    if (hasStatus) out.write(CLEAR_LINE);
    hasStatus = false;
  };
  const line = (text: string): void => {
    clear();
    out.write(`${text}\n`);
  };

  return {
    clear,
    line,
    entry({ name = '', ms, text: given, tone = 'plain', mark = '', cut = false }) {
      const text = printable(given);
      const time = ms === undefined ? '' : `${Math.round(ms)} ms`;
      const gap = ' '.repeat(Math.max(1, NAME_CHARS + TIME_CHARS - name.length - time.length));
      const head = `${colors.dim(mark)}  ${colors.cyan(name)}${gap}${colors.dim(time)}`;
      const headChars = mark.length + 2 + name.length + gap.length + time.length + 2;
      const isNarrow = width() - headChars < MIN_TEXT_CHARS;
      const indent = isNarrow ? mark.length + HANGING_INDENT : headChars;
      const textChars = Math.max(1, width() - indent);
      const lines = (cut ? [cutEnd(text, textChars)] : wrap(text, textChars)).map((one) => tones[tone](one));
      const [first = '', ...rest] = lines.map((one, at) => (at === 0 ? one : `${' '.repeat(indent)}${one}`));
      if (!isNarrow) return line([`${head}  ${first}`, ...rest].join('\n'));
      if (name === '') return line([`${colors.dim(mark)}${' '.repeat(HANGING_INDENT)}${first}`, ...rest].join('\n'));
      const title = ms === undefined ? `${colors.dim(mark)}  ${colors.cyan(name)}` : head;
      line([title, `${' '.repeat(indent)}${first}`, ...rest].join('\n'));
    },
    status(name, text) {
      if (!out.isTTY) return;
      const textChars = width() - 2 - NAME_CHARS - TIME_CHARS - 2;
      const shown = colors.dim(cutStart(text, textChars));
      out.write(`${CLEAR_LINE}  ${colors.cyan(name.padEnd(NAME_CHARS))}${' '.repeat(TIME_CHARS + 2)}${shown}`);
      hasStatus = true;
    },
  };
}
