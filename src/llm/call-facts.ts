import { type JournalEvent, journalEntrySchema } from '../../machines/contracts/journal.ts';

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
