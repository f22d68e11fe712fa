import pc from 'picocolors';
import { cutEnd, cutStart } from '../internal/printable.ts';

const CLEAR_LINE = '\r\u001b[2K';
const NAME_CHARS = 14;
const TIME_CHARS = 8;

export type Colors = ReturnType<typeof pc.createColors>;

/** One line of progress: a name, how long it took, and a text, each in its column. */
export interface Entry {
  readonly name?: string;
  readonly ms?: number;
  readonly text: string;
  readonly tone?: 'plain' | 'bad' | 'aside';
  /** Stands in front of it. */
  readonly mark?: string;
}

/** A place to write lines, and, on a terminal, one line that is written over. On a terminal, an entry is cut to its width. */
export interface Screen {
  line(text: string): void;
  entry(entry: Entry): void;
  /** Shows a passing text below the lines, of a long one the newest end; nothing where there is no terminal. */
  status(name: string, text: string): void;
  clear(): void;
}

/** Colours for one stream: none where it is no terminal or NO_COLOR is set, always with FORCE_COLOR. */
export function colorsFor(out: NodeJS.WriteStream): Colors {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  return pc.createColors(FORCE_COLOR ? FORCE_COLOR !== '0' : out.isTTY === true && !NO_COLOR);
}

/** How wide lines may be: without bound where there is no terminal. */
export function columnsOf(out: NodeJS.WriteStream): number {
  return out.isTTY ? Math.max(20, (out.columns || 80) - 1) : Number.POSITIVE_INFINITY;
}

export function createScreen(out: NodeJS.WriteStream): Screen {
  const colors = colorsFor(out);
  const tones = { plain: String, bad: colors.red, aside: colors.dim };
  let showing = false;

  const width = (): number => columnsOf(out);
  const clear = (): void => {
    if (showing) out.write(CLEAR_LINE);
    showing = false;
  };
  const line = (text: string): void => {
    clear();
    out.write(`${text}\n`);
  };

  return {
    clear,
    line,
    entry({ name = '', ms, text, tone = 'plain', mark = '' }) {
      const time = (ms === undefined ? '' : `${Math.round(ms)} ms`).padStart(TIME_CHARS);
      const room = width() - mark.length - 2 - NAME_CHARS - TIME_CHARS - 2;
      line(
        `${colors.dim(mark)}  ${colors.cyan(name.padEnd(NAME_CHARS))}${colors.dim(time)}  ${tones[tone](cutEnd(text, room))}`,
      );
    },
    status(name, text) {
      if (!out.isTTY) return;
      const room = width() - 2 - NAME_CHARS - TIME_CHARS - 2;
      const shown = colors.dim(cutStart(text, room));
      out.write(`${CLEAR_LINE}  ${colors.cyan(name.padEnd(NAME_CHARS))}${' '.repeat(TIME_CHARS + 2)}${shown}`);
      showing = true;
    },
  };
}
