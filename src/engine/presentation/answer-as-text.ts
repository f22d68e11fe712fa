import wrapAnsi from 'wrap-ansi';
import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { count, oneLine, printable, printableJson } from '../../internal/printable.ts';

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

export interface JsonOptions {
  /** Over several lines, indented by two; one line by default. */
  readonly pretty?: boolean;
}

/**
 * The whole final answer as JSON, with a line end after it. Keys stand in the order of the alphabet, so that two answers can be compared
 * as text; control characters are escaped, so that it can be printed, and `JSON.parse` gives the answer back.
 */
export function answerAsJson(answer: FinalAnswer, { pretty = false }: JsonOptions = {}): string {
  return `${printableJson(JSON.stringify(answer, withSortedKeys, pretty ? 2 : 0))}\n`;
}

function withSortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How sure an answer is, where it stands, and what it took, in words; each renderer puts the same ones beside the text [Y10]. */
export function factsOf(answer: FinalAnswer): readonly string[] {
  const { cycles, usage } = answer.metadata;
  const cost = costOf(answer);
  return [
    `confidence ${answer.confidence.toFixed(2)}`,
    answer.status,
    count(cycles, 'cycle'),
    count(usage.modelCalls, 'model call'),
    ...(cost === null ? [] : [`cost ${cost}`]),
  ];
}

/** What the run cost, in words; null where the price of a model that was called is not known. */
function costOf({ metadata }: FinalAnswer): string | null {
  if (metadata.cost === null) return null;
  const { amount, currency } = metadata.cost;
  // What is less than one of the currency is told to the sixth place: a short run costs a fraction of a cent.
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: amount < 1 ? 6 : 2 };
  return `${amount.toLocaleString('en-US', digits)} ${oneLine(currency)}`;
}

/** What an answer falls short of: a title, and what there is to say of it on one line, beginning as it follows the title. */
export interface Shortfall {
  readonly title: string;
  readonly says: string;
}

/** Null for an answer that is not degraded. What the answer itself says is not said again. */
export function shortfallOf({ answerText, metadata }: FinalAnswer): Shortfall | null {
  const { degraded, reason, explanation, missingFields } = metadata;
  if (!degraded) return null;
  const title = reason === null ? 'Degraded' : `Degraded (${reason.replaceAll('_', ' ')})`;
  const why = oneLine(explanation);
  const missing = missingFields.length === 0 ? '' : ` Missing: ${missingFields.map(oneLine).join(', ')}.`;
  return { title, says: `${isIn(answerText, why) ? '.' : `: ${why}`}${missing}` };
}

/** The notes on one line, without what the answer or its shortfall says already; empty where nothing is left. */
export function notesOf({ answerText, notes, metadata: { degraded, explanation } }: FinalAnswer): string {
  const [all, said] = [oneLine(notes), oneLine(explanation)];
  const own = degraded && all.endsWith(said) ? all.slice(0, all.length - said.length).trimEnd() : all;
  return isIn(answerText, own) ? '' : own;
}

function isIn(text: string, line: string): boolean {
  return line === '' || oneLine(text).includes(line);
}

/** A source as `path:line` or `path:from-to`; what breaks a line within a path is a space. */
export function placeOf({ path, startLine, endLine }: Citation): string {
  const lines = endLine > startLine ? `${startLine}-${endLine}` : `${startLine}`;
  return `${printable(path).replace(/[\n\t\u2028\u2029]/g, ' ')}:${lines}`;
}
