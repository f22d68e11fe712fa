import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { InspectedRun, RunCharts } from '../wire.ts';
import type { SystemMessage } from './messages.ts';
import type { SystemJournal } from './system-journal.ts';

/** What follows a system: what is there at once, then what comes. Nothing of it may throw. */
interface SystemSink {
  charts(charts: RunCharts): void;
  entries(from: number, entries: readonly JournalEntry[]): void;
  end(problem: string | null): void;
}

/** A system that was told of, as something that the server can show. */
export interface ReceivedSystem {
  info(): InspectedRun;
  charts(): RunCharts;
  readonly entries: readonly JournalEntry[];
  /** Entries from this number on, those to come among them; gives what ends it. */
  follow(from: number, sink: SystemSink): () => void;
}

export interface OpenSystem extends ReceivedSystem {
  readonly journal: SystemJournal;
  /** Whether its `info()` is other than it was. */
  take(message: SystemMessage, truncated: boolean): boolean;
  close(): void;
}

export function openSystem(runId: string, journal: SystemJournal): OpenSystem {
  const sinks = new Set<SystemSink>();
  const { entries } = journal;
  let told = '';
  const grown = (from: number): void => {
    if (entries.length > from) for (const sink of sinks) sink.entries(from, entries.slice(from));
    if (!journal.ended) return;
    for (const sink of sinks) sink.end(null);
    sinks.clear();
  };
  return {
    journal,
    entries,
    charts: journal.charts,
    info: () => ({
      runId,
      kind: 'system',
      title: journal.title,
      startedAt: journal.startedAt,
      status: journal.status,
      live: !journal.ended,
      fidelity: journal.fidelity,
    }),
    follow(from, sink) {
      sink.charts(journal.charts());
      if (entries.length > from) sink.entries(from, entries.slice(from));
      if (journal.ended) sink.end(null);
      else sinks.add(sink);
      return () => void sinks.delete(sink);
    },
    take(message, truncated) {
      const from = entries.length;
      const grew = journal.take(message, truncated);
      if (grew) for (const sink of sinks) sink.charts(journal.charts());
      grown(from);
      const { title, status, startedAt, ended } = journal;
      const now = JSON.stringify([title, status, startedAt, ended]);
      const changed = grew || now !== told;
      told = now;
      return changed;
    },
    close() {
      const from = entries.length;
      journal.close();
      grown(from);
    },
  };
}
