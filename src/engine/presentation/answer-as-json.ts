import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { printableJson } from '../../internal/printable.ts';

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
