import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { count, oneLine, printable } from '../../internal/printable.ts';

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
