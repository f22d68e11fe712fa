import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { lineLog } from '../line-log.ts';
import type { RunSource, SourceSink } from '../source.ts';
import type { SystemMessage } from './messages.ts';
import type { SystemJournal } from './system-journal.ts';

/** A system that was told of, as something that a page can open. */
export interface ReceivedSystem extends Pick<RunSource, 'info' | 'charts' | 'follow'> {
  readonly entries: readonly JournalEntry[];
}

export interface OpenSystem extends ReceivedSystem {
  readonly journal: SystemJournal;
  take(message: SystemMessage, truncated: boolean): void;
  /** Whether its `info()` is other than when this was asked last: how many messages its sentences count is not looked at. */
  isOther(): boolean;
  close(): void;
}

export function openSystem(runId: string, journal: SystemJournal): OpenSystem {
  const { entries } = journal;
  const log = lineLog(entries);
  const sinks = new Set<SourceSink>();
  let asked = '';

  function grown(): void {
    if (journal.ended) log.end();
    else log.grew();
  }

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
    follow(from, given) {
      const sink: SourceSink = {
        ...given,
        end(problem) {
          sinks.delete(sink);
          given.end(problem);
        },
      };
      sinks.add(sink);
      const stop = log.follow(from, sink);
      return () => {
        sinks.delete(sink);
        stop();
      };
    },
    take(message, truncated) {
      if (journal.take(message, truncated)) for (const sink of sinks) sink.charts(journal.charts());
      grown();
    },
    isOther() {
      const { title, status, startedAt, ended, fidelity } = journal;
      const before = asked;
      asked = JSON.stringify([title, status, startedAt, ended, fidelity.length]);
      return asked !== before;
    },
    close() {
      journal.close();
      grown();
    },
  };
}
