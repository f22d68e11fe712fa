import { type JournalEvent, journalEntrySchema } from '../../machines/contracts/journal.ts';
import { addUsage, NO_USAGE } from '../../machines/policies/usage.ts';
import type { DurableEntry } from '../durable/entries.ts';

/** What PostChain's attempts and tool loops emit and note about their calls, in any machine. */
const CALL_FACTS = [
  'attempt-start',
  'attempt-end',
  'attempt-retry',
  'model-status',
  'prompt',
  'text-delta',
  'capability-start',
  'capability-end',
  'capability-stop',
  'continuation',
] as const satisfies readonly JournalEvent['type'][];

export type CallFact = Extract<JournalEvent, { type: (typeof CALL_FACTS)[number] }>;

const CALL_FACT_TYPES: ReadonlySet<unknown> = new Set(CALL_FACTS);

export const isCallFact = (fact: { readonly type: string }): fact is CallFact => CALL_FACT_TYPES.has(fact.type);

/** Returns an emitted event or a note as a fact about a call; null if it is none, for example because it has other members. */
export function callFact(payload: unknown): CallFact | null {
  if (!isCallFact(Object(payload) as { readonly type: string })) return null;
  const { success } = journalEntrySchema.safeParse({ ...Object(payload), seq: 0, atMs: 0 });
  return success ? (payload as CallFact) : null;
}

/** Returns the model calls of a machine and its children. A call that the chart aborted has no tokens; one that the budget refused does not count. */
export const usageIn = (entries: readonly DurableEntry[]) =>
  entries.reduce((sum, entry) => {
    const fact = entry.type === 'emitted' ? callFact(entry.event) : null;
    if (fact?.type === 'attempt-start') return addUsage(sum, { ...NO_USAGE, modelCalls: 1 });
    if (fact?.type !== 'attempt-end') return sum;
    const { failure, usage, cost = null } = fact;
    const isRefused = failure?.code === 'budget_exhausted';
    return addUsage(sum, isRefused ? { ...NO_USAGE, modelCalls: -1 } : { ...usage, modelCalls: 0, cost });
  }, NO_USAGE);
