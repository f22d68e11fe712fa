import pc from 'picocolors';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { oneLine, printable } from './printable.ts';

/** The final answer for people [Y10]: the text, how sure it is, where it stands, and what is missing. */
export function answerText({ answerText: text, confidence, status, sources, notes, metadata }: FinalAnswer): string {
  const { cycles, usage } = metadata;
  const facts = [
    `confidence ${confidence.toFixed(2)}`,
    status,
    count(cycles, 'cycle'),
    count(usage.modelCalls, 'model call'),
  ].join(' · ');
  const parts = [`${pc.bold('Answer')} ${pc.dim(`(${facts})`)}`, printable(text)];
  if (sources.length > 0) {
    const lines = sources.map(
      ({ path, startLine, endLine }) => `  ${printable(path)}:${startLine}${endLine > startLine ? `-${endLine}` : ''}`,
    );
    parts.push([pc.bold('Sources'), ...lines].join('\n'));
  }
  if (notes !== '') parts.push(`${pc.bold('Notes')}\n  ${oneLine(notes)}`);
  return `${parts.join('\n\n')}\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
