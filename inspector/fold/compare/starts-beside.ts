import type { RunStart } from '../../../machines/contracts/journal-entry.ts';
import { type FieldBeside, fieldsBeside } from './fields-beside.ts';

/** What runs were started with otherwise: the question, limits, thresholds, models, prompts, … Null for what is no run of PostChain. */
export function startsBeside(starts: readonly (RunStart | null)[]): readonly FieldBeside[] {
  return fieldsBeside(starts.map((start) => (start === null ? null : essence(start))));
}

/** Without what is another in every run, and without the words of earlier messages. */
function essence({ messages, forkedFrom: _, ...start }: RunStart): unknown {
  const own: Record<string, unknown> = { ...start, messages: messages.length };
  for (const name of ['runId', 'startedAt', 'startedAtMs', 'seq', 'atMs', 'sum', 'type', 'states', 'redacted'])
    delete own[name];
  return own;
}
