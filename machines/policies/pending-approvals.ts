import type { EmittedEvent } from '../contracts/events.ts';
import type { JournalEntry } from '../contracts/journal.ts';

/** Whether a call did not run because a person denied it, or nobody answered in time. */
export const wasDenied = (code: string | null | undefined): boolean =>
  code === 'denied' || code === 'approval_timed_out';

export type ApprovalAsked = Extract<EmittedEvent, { type: 'approval-asked' }>;

/** Returns the approval questions that are open after one more entry. */
export function foldApprovals(pending: readonly ApprovalAsked[], entry: JournalEntry): readonly ApprovalAsked[] {
  switch (entry.type) {
    case 'approval-asked':
      return [...pending, entry];
    case 'approval-resolved':
      return pending.filter(({ questionId }) => questionId !== entry.questionId);
    // An aborted loop leaves its questions unanswered.
    case 'capability-stop':
    case 'run-end':
      return pending.length === 0 ? pending : [];
    default:
      return pending;
  }
}

/** Returns the approval questions that are open at the end of these entries, each with its id, its digest and the call. */
export function pendingApprovals(entries: readonly JournalEntry[]): readonly ApprovalAsked[] {
  return entries.reduce(foldApprovals, []);
}
