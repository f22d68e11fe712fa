import wrapAnsi from 'wrap-ansi';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { count, oneLine, printable } from './printable.ts';
import type { Colors } from './screen.ts';

export interface Page {
  readonly colors: Colors;
  /** Where lines break between words; infinite where they are left as they are. */
  readonly columns: number;
}

/** The final answer for people [Y10]: the text, how sure it is, where it stands, and what is missing. */
export function answerText(answer: FinalAnswer, { colors, columns }: Page): string {
  const { confidence, status, sources, notes, metadata } = answer;
  const { cycles, usage } = metadata;
  const facts = [
    `confidence ${confidence.toFixed(2)}`,
    status,
    count(cycles, 'cycle'),
    count(usage.modelCalls, 'model call'),
  ].join(' · ');
  const parts = [
    `${colors.bold('Answer')} ${colors.dim(`(${facts})`)}`,
    wrapped(printable(answer.answerText), columns),
  ];
  if (sources.length > 0) {
    const lines = sources.map(
      ({ path, startLine, endLine }) => `  ${printable(path)}:${startLine}${endLine > startLine ? `-${endLine}` : ''}`,
    );
    parts.push([colors.bold('Sources'), ...lines].join('\n'));
  }
  // What the answer itself says is not said again.
  if (notes !== '' && !answer.answerText.includes(notes))
    parts.push(`${colors.bold('Notes')}\n${wrapped(`  ${oneLine(notes)}`, columns)}`);
  return `${parts.join('\n\n')}\n`;
}

/** Breaks lines between words; rows of tables and fenced code stay as they are. */
function wrapped(text: string, columns: number): string {
  if (!Number.isFinite(columns)) return text;
  let fenced = false;
  const lines = text.split('\n').map((line) => {
    if (line.trimStart().startsWith('```')) fenced = !fenced;
    return fenced || line.startsWith('|') ? line : wrapAnsi(line, columns, { trim: false });
  });
  return lines.join('\n');
}
