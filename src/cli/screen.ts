import pc from 'picocolors';
import wrapAnsi from 'wrap-ansi';
import { cutEnd, cutStart } from '../internal/printable.ts';

const CLEAR_LINE = '\r\u001b[2K';
const NAME_CHARS = 14;
const TIME_CHARS = 8;
/** On a narrower terminal, the text overflows. */
const MIN_TEXT_CHARS = 20;

export interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export type Colors = ReturnType<typeof pc.createColors>;

/** One line of progress in columns: name, duration and text. */
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
  /** Writes a line of progress, wrapped to the width of the terminal. */
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
    entry({ name = '', ms, text, tone = 'plain', mark = '', cut = false }) {
      const time = (ms === undefined ? '' : `${Math.round(ms)} ms`).padStart(TIME_CHARS);
      const indent = mark.length + 2 + NAME_CHARS + TIME_CHARS + 2;
      const textChars = Math.max(MIN_TEXT_CHARS, width() - indent);
      const lines =
        cut || textChars === Infinity
          ? [cutEnd(text, textChars)]
          : wrapAnsi(text, textChars, { hard: true }).split('\n');
      const shown = lines.map((one) => tones[tone](one)).join(`\n${' '.repeat(indent)}`);
      line(`${colors.dim(mark)}  ${colors.cyan(name.padEnd(NAME_CHARS))}${colors.dim(time)}  ${shown}`);
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
