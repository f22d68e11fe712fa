import type { EmittedEvent } from '../contracts/events.ts';
import type { JournalEntry } from '../contracts/journal.ts';

export type ApprovalAsked = Extract<EmittedEvent, { type: 'approval-asked' }>;

/** Returns the questions for approval that wait after one more entry. */
export function foldApprovals(pending: readonly ApprovalAsked[], entry: JournalEntry): readonly ApprovalAsked[] {
  switch (entry.type) {
    case 'approval-asked':
      return [...pending, entry];
    case 'approval-resolved':
      return pending.filter(({ questionId }) => questionId !== entry.questionId);
    // A loop that is aborted answers none.
    case 'capability-stop':
    case 'run-end':
      return pending.length === 0 ? pending : [];
    default:
      return pending;
  }
}

/** Returns the questions for approval that a run waits for, at the end of these entries: each with its id, its digest and the call. */
export function pendingApprovals(entries: readonly JournalEntry[]): readonly ApprovalAsked[] {
  return entries.reduce(foldApprovals, []);
}
