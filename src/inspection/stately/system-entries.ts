import type { JournalEntry, RuntimeEvent, StateChange } from '../../../machines/contracts/journal.ts';

/** What is told of a system: facts of a journal, for events and states of any program. */
export type SystemEvent =
  | Extract<RuntimeEvent, { type: 'transition' | 'run-stopped' }>
  /** An event that an actor was sent; the names of who got it and who sent it, where those are known. */
  | {
      readonly type: 'delivery';
      readonly event: { readonly type: string };
      readonly actor: string;
      readonly sender: string | null;
    }
  | { readonly type: 'state'; readonly changes: StateChange[] }
  /** The contexts of the actors, by their names. */
  | { readonly type: 'keyframe'; readonly state: Readonly<Record<string, unknown>> };

/**
 * The journal of a system. The types of a journal's entries know the events and the state of a chain only; whoever reads a system takes
 * both as JSON of any shape, so this is the one place where the types are put aside.
 */
export function createSystemEntries(limit: number, maxChars: number) {
  const entries: JournalEntry[] = [];
  let chars = 0;
  return {
    entries: entries as readonly JournalEntry[],
    /** False where the journal is full. */
    append(fact: SystemEvent, atMs: number): boolean {
      if (entries.length >= limit || chars > maxChars) return false;
      // A keyframe shares what it holds with the changes before it.
      if (fact.type !== 'keyframe') chars += JSON.stringify(fact).length;
      entries.push({ ...fact, seq: entries.length, atMs } as unknown as JournalEntry);
      return true;
    },
  };
}
