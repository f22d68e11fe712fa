import type { Decision } from '../../../machines/contracts/decision.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { count, oneLine } from '../../internal/printable.ts';

const CALLS: Readonly<Record<Task, string>> = {
  action: 'Reading the request',
  experience: 'Reading what is known',
  intention: 'Clarifying the goal',
  observation: 'Noting what matters',
  understanding: 'Reviewing the context',
  yield: 'Answering',
  continuation: 'Choosing the next step',
  summary: 'Summarizing long messages',
  synthesis: 'Writing the final answer',
  value: 'Filling in the requested format',
};

/** Returns a line of progress for a person who waits for the answer; null if the entry has none. */
export function progressLine(entry: JournalEntry): string | null {
  switch (entry.type) {
    case 'attempt-start':
      if (entry.attempt > 1) return 'Trying again';
      return entry.phases?.includes('yield') ? CALLS.yield : (CALLS[entry.task as Task] ?? null);
    case 'retrieval':
      return `Searching the documents: ${entry.failure === null ? count(entry.passages, 'passage') : 'failed'}`;
    case 'capability-start':
      return `Running ${oneLine(entry.capability)}`;
    case 'approval-asked':
      return `Waiting for ${entry.isClientTool ? 'the client to run' : 'approval of'} ${oneLine(entry.capability)}`;
    case 'consent-asked':
      return 'Waiting for consent';
    case 'direction-asked':
      return 'Waiting for a direction';
    case 'decision':
      return `Cycle ${entry.decision.cycle}: ${reasonOf(entry.decision)}`;
    default:
      return null;
  }
}

/** A decision to complete ends with the values it compared, which `show --all` and the inspector print. */
export function reasonOf({ complete, rationale }: Decision): string {
  return oneLine(complete ? rationale.replace(/ \([^()]*\)$/u, '') : rationale);
}
