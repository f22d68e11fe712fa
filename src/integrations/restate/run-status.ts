import type { EmittedEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';

import type { Phase } from '../../../machines/contracts/phase.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';

type Question = Extract<EmittedEvent, { type: 'consent-asked' | 'direction-asked' }>;

/** Where a run stands: a fold of its journal. */
export interface RunStatus {
  readonly runId: string;
  readonly status: 'running' | FinalAnswer['status'];
  /** The last that began; null before the first. */
  readonly phase: Phase | null;
  readonly cycle: number;
  /** What the run asks, and waits to be told; null where it waits for nobody. */
  readonly asks: Question | null;
  /** How many entries the journal has. */
  readonly entries: number;
}

export function newStatus(runId: string): RunStatus {
  return { runId, status: 'running', phase: null, cycle: 0, asks: null, entries: 0 };
}

export function foldStatus(status: RunStatus, entry: JournalEntry): RunStatus {
  return { ...status, ...changes(entry), entries: entry.seq + 1 };
}

function changes(entry: JournalEntry): Partial<RunStatus> {
  switch (entry.type) {
    case 'phase-start':
      return { phase: entry.phase, cycle: entry.cycle, asks: null };
    case 'consent-asked':
    case 'direction-asked':
      return { asks: entry };
    case 'consent-resolved':
    case 'decision':
      return { asks: null };
    case 'run-end':
      return { status: entry.status, asks: null };
    default:
      return {};
  }
}
