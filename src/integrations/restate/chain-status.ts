import type { EmittedEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { type ApprovalAsked, foldApprovals } from '../../../machines/policies/questions.ts';

type PendingQuestion = Extract<EmittedEvent, { type: 'consent-asked' | 'direction-asked' }>;

/** The status of a run, folded from its journal. */
export interface WorkflowStatus {
  readonly runId: string;
  readonly status: 'running' | FinalAnswer['status'];
  /** The latest phase; null before the first. */
  readonly phase: Phase | null;
  readonly cycle: number;
  /** The consent or direction question that the run waits for; null if there is none. */
  readonly asks: PendingQuestion | null;
  /** The calls that wait for approval. */
  readonly approvals: readonly ApprovalAsked[];
  /** The number of journal entries. */
  readonly entries: number;
}

export function initialStatus(runId: string): WorkflowStatus {
  return { runId, status: 'running', phase: null, cycle: 0, asks: null, approvals: [], entries: 0 };
}

export function foldStatus(status: WorkflowStatus, entry: JournalEntry): WorkflowStatus {
  return { ...status, ...changes(entry), approvals: foldApprovals(status.approvals, entry), entries: entry.seq + 1 };
}

function changes(entry: JournalEntry): Partial<WorkflowStatus> {
  switch (entry.type) {
    case 'phase-start':
      return { phase: entry.phase, cycle: entry.cycle, asks: null };
    case 'consent-asked':
    case 'direction-asked':
      return { asks: entry };
    case 'consent-resolved':
    case 'decision':
      return { asks: null };
    case 'end':
      return { status: entry.summary.status, asks: null };
    default:
      return {};
  }
}
