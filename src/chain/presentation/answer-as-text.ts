import wrapAnsi from 'wrap-ansi';
import { type Citation, explanationOf, type FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { count, oneLine, printable, printableJson } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';

/** Functions that style parts of the text, for example with terminal colors. An omitted part stays plain. */
export interface TextStyle {
  readonly heading?: (text: string) => string;
  readonly aside?: (text: string) => string;
  readonly warning?: (text: string) => string;
}

export interface TextOptions {
  /** The width at which lines break between words, at least 20. By default lines do not break. */
  readonly columns?: number;
  readonly style?: TextStyle;
}

const MIN_COLUMNS = 20;
const INDENT = '  ';

/**
 * Returns the final answer as plain text: its confidence, why it is degraded, the text, its value, sources and notes. It ends with a line
 * break. Control characters other than line breaks and tabs are removed, except those that `style` adds.
 */
export function answerAsText(answer: FinalAnswer, options: TextOptions = {}): string {
  requireKnownOptions('answerAsText', options, 'columns style');
  const { columns = Infinity, style = {} } = options;
  const { heading = String, aside = String, warning = String } = style;
  const wrap = wrapperFor(columns);
  const degradation = degradationOf(answer);
  const notes = notesOf(answer);
  const sources = answer.sources.map((source) => `${INDENT}${locationOf(source)}`);
  const parts = [
    wrap(`${heading('Answer')} ${aside(`(${factsOf(answer).join(' · ')})`)}`),
    degradation === null ? '' : wrap(`${warning(degradation.title)}${degradation.details}`),
    wrap(printable(answer.answerText).trimEnd()),
    answer.value === undefined ? '' : `${heading('Value')}\n${valueJson(answer)}`,
    sources.length === 0 ? '' : [heading('Sources'), ...sources].join('\n'),
    notes === '' ? '' : `${heading('Notes')}\n${wrap(notes, INDENT)}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** Returns the value as indented JSON; escaped, so that it can be printed. */
export const valueJson = ({ value }: FinalAnswer): string => printableJson(JSON.stringify(value, null, 2));

type Wrap = (text: string, indent?: string) => string;

/** Table rows and fenced code stay as they are. */
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

/** A longer line is not wrapped, because measuring it takes more than linear time. */
const MAX_LINE_CHARS = 20_000;

/** The resulting lines keep the indentation. */
function wrapLine(line: string, columns: number): string {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  if (line.length > MAX_LINE_CHARS || indent.length > columns / 2) return line;
  return wrapAnsi(line.slice(indent.length), columns - indent.length).replace(/^/gm, indent);
}

export interface JsonOptions {
  /** Whether to indent by two spaces. Default: one line. */
  readonly pretty?: boolean;
}

/**
 * Returns the final answer as JSON with a line break at the end. Keys are sorted, so that two answers can be compared as text. Control
 * characters are escaped, so that it can be printed; `JSON.parse` restores the answer.
 */
export function answerAsJson(answer: FinalAnswer, options: JsonOptions = {}): string {
  requireKnownOptions('answerAsJson', options, 'pretty');
  return `${printableJson(JSON.stringify(answer, withSortedKeys, options.pretty ? 2 : 0))}\n`;
}

function withSortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

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

function costOf({ metadata }: FinalAnswer): string | null {
  if (metadata.cost === null) return null;
  const { amount, currency } = metadata.cost;
  // A short run costs a fraction of a cent.
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: amount < 1 ? 6 : 2 };
  return `${amount.toLocaleString('en-US', digits)} ${oneLine(currency)}`;
}

/** Why an answer is degraded. `details` continues the line after the title. */
export interface Degradation {
  readonly title: string;
  readonly details: string;
}

/** An explanation that the answer's text already has is not repeated. */
export function degradationOf({ answerText, reasons, metadata: { missingFields } }: FinalAnswer): Degradation | null {
  const [first] = reasons;
  if (first === undefined) return null;
  const title = `Degraded (${first.code.replaceAll('_', ' ')})`;
  const why = oneLine(explanationOf({ reasons }));
  const missing = missingFields.length === 0 ? '' : ` No result from: ${missingFields.map(oneLine).join(', ')}.`;
  return { title, details: `${isIn(answerText, why) ? '.' : `: ${why}`}${missing}` };
}

/** Returns the notes on one line, without what the answer's text or the explanation of its degradation already has; may be empty. */
export function notesOf({ answerText, notes, reasons }: FinalAnswer): string {
  const [all, explained] = [oneLine(notes), oneLine(explanationOf({ reasons }))];
  const own = all.endsWith(explained) ? all.slice(0, all.length - explained.length).trimEnd() : all;
  return isIn(answerText, own) ? '' : own;
}

function isIn(text: string, line: string): boolean {
  return line === '' || oneLine(text).includes(line);
}

/** Returns a source as `path:line` or `path:from-to`, or as its path if it has no lines; on one line. */
export function locationOf({ path, startLine, endLine = 0 }: Citation): string {
  const lines = startLine === undefined ? '' : `:${startLine}${endLine > startLine ? `-${endLine}` : ''}`;
  return `${printable(path).replace(/[\n\t\u2028\u2029]/g, ' ')}${lines}`;
}
