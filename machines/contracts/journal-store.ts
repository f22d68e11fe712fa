import type { JournalEntry } from './journal-entry.ts';

/** Receives every text before it is written; returns what is written instead. */
export type Redact = (text: string) => string;

/** Writes the journal of one run, an entry at a time, in order: what was written is there though the process is killed next. */
export interface JournalWriter {
  /** Why nothing more is written, say a full disk; null while all is well. A journal that fails does not stop its run. */
  readonly failure: string | null;
  write(entry: JournalEntry): void;
  /** Nobody writes it any more. */
  close(): void;
}

/** A journal to go on with: what is whole of it, and a writer for what comes next. */
export interface OpenedJournal {
  readonly entries: readonly JournalEntry[];
  readonly writer: JournalWriter;
}

/** How a run stands: how it ended, or whether a process has it under way; `interrupted` can be resumed. */
export type RunStatus = 'completed' | 'degraded' | 'cancelled' | 'running' | 'interrupted' | 'damaged';

/** A run of a store, as lists show it. */
export interface RunSummary {
  readonly runId: string;
  readonly request: string;
  /** When it began, a fork as a fork; ISO 8601, empty where the journal cannot be read. */
  readonly startedAt: string;
  /** The run that it is a fork of, and the entry; null for one that began by itself. */
  readonly forkedFrom: { readonly runId: string; readonly seq: number } | null;
  readonly status: RunStatus;
}

export interface JournalStoreOptions {
  /**
   * Sees every text of an entry before it is written, and gives what is written in its place; the same text must always give the same. The pieces
   * of a reply are left out, since what is to be hidden may be cut in two by them; its whole text is shown. A run that was begun without it is
   * not opened with it.
   * Where it throws, nothing more is written.
   */
  readonly redact?: Redact;
}

/**
 * Keeps the journals of runs. A journal has one writer at a time: one that another process writes is not opened. Every method throws or
 * rejects with `invalid_journal` where a journal is damaged, in use, there already or not there.
 */
export interface JournalStore {
  /** Begins the journal of a run. */
  create(runId: string): JournalWriter;
  /** The entries of a run, in order. A torn last line, as a kill leaves it, is left out. */
  read(runId: string): AsyncIterable<JournalEntry>;
  /** To go on with a run; a torn last line is dropped. */
  open(runId: string): Promise<OpenedJournal>;
  /** The newest first. */
  list(): Promise<readonly RunSummary[]>;
}
