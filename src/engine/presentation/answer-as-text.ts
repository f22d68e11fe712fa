import wrapAnsi from 'wrap-ansi';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { printable } from '../../internal/printable.ts';
import { factsOf, notesOf, placeOf, shortfallOf } from './facts.ts';

/** How parts of the text are marked, with colours of a terminal say; what is left out is plain. */
export interface TextStyle {
  readonly heading?: (text: string) => string;
  readonly aside?: (text: string) => string;
  readonly warning?: (text: string) => string;
}

export interface TextOptions {
  /** Where lines break between words, at least 20; left out, lines stay as they are. */
  readonly columns?: number;
  readonly style?: TextStyle;
}

const MIN_COLUMNS = 20;
const INDENT = '  ';

/**
 * The final answer as plain text [Y10]: how sure it is, what it falls short of, the text, its sources and notes. It ends with a line end,
 * and holds no control character but line ends and tabs, whatever a model or a document said; only `style` can add some.
 */
export function answerAsText(answer: FinalAnswer, { columns = Infinity, style = {} }: TextOptions = {}): string {
  const { heading = String, aside = String, warning = String } = style;
  const wrap = wrapperFor(columns);
  const shortfall = shortfallOf(answer);
  const notes = notesOf(answer);
  const sources = answer.sources.map((source) => `${INDENT}${placeOf(source)}`);
  const parts = [
    wrap(`${heading('Answer')} ${aside(`(${factsOf(answer).join(' · ')})`)}`),
    shortfall === null ? '' : wrap(`${warning(shortfall.title)}${shortfall.says}`),
    wrap(printable(answer.answerText).trimEnd()),
    sources.length === 0 ? '' : [heading('Sources'), ...sources].join('\n'),
    notes === '' ? '' : `${heading('Notes')}\n${wrap(notes, INDENT)}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

type Wrap = (text: string, indent?: string) => string;

/** Breaks lines between words; rows of tables and fenced code stay as they are. */
function wrapperFor(columns: number): Wrap {
  const width = Number.isFinite(columns) ? Math.max(MIN_COLUMNS, columns) : null;
  return (text, indent = '') => {
    let fenced = false;
    const lines = text.split('\n').map((line) => {
      if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
      return width === null || fenced || line.startsWith('|') ? line : wrapLine(line, width - indent.length);
    });
    return lines.join('\n').replace(/^(?=.)/gm, indent);
  };
}

/** Measuring a word costs more than its length: what nobody writes as one line is left to the terminal. */
const MAX_LINE_CHARS = 20_000;

/** The lines that one becomes stand as far in as it did. */
function wrapLine(line: string, columns: number): string {
  const lead = /^\s*/.exec(line)?.[0] ?? '';
  if (line.length > MAX_LINE_CHARS || lead.length > columns / 2) return line;
  return wrapAnsi(line.slice(lead.length), columns - lead.length).replace(/^/gm, lead);
}
